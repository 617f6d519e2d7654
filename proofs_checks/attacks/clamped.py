"""Attacks on a bounded domain: losses on the interval [-D/2, D/2] whose runs are clamped walks.

Their last iterates are known by certified propagation of the density (`lastiterate.numeric.lower.walk`).
"""

from functools import lru_cache
from math import inf

from lastiterate.numeric.losses.assumptions import Clipped, Holder
from lastiterate.numeric.lower.losses import steepest_push
from lastiterate.numeric.lower.masses import Masses, renyi_below
from lastiterate.numeric.lower.walk import Update, Walk, last_masses
from lastiterate.numeric.published.record import run_of
from lastiterate.proofs_checks.attacks.record import Assumed, Attack, BothDirections, Setting

__all__ = ["CLAMPED_LINEAR", "CLAMPED_QUADRATIC", "SIGN_DRIFT"]

MAX_STEPS = 400
"""Longer walks are left to other settings: each step costs a product with the kernel."""

_JUST_BELOW = 1 - 1e-13


def _attack(
    setting: Setting, norm: float, slope: float, push: float = 0.0, reach: float = inf
) -> BothDirections | None:
    """Both orders for gradients that the replaced sample moves by +-norm; the maps are odd, so the orders agree."""
    if not setting["D"] < inf or setting["T"] > MAX_STEPS:
        return None
    drift = setting["eta"] * norm / setting["n"] * _JUST_BELOW
    walk = Walk(
        int(setting["T"]), setting["sigma"], setting["D"], Update(slope, 0.0), Update(slope, drift, push, reach)
    )
    value = _divergence(walk, setting["alpha"])
    return None if value is None else BothDirections(value, value)


@lru_cache(maxsize=8192)
def _divergence(walk: Walk, order: float) -> float | None:
    """Of the walk from its mirror image."""
    law = last_masses(walk)
    return None if law is None else renyi_below(order, law, Masses(law.low[::-1], law.high[::-1]))


def _clamped_linear(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    return _attack(setting, setting["K"], 1.0)


def _clamped_quadratic(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    """Shared gradients m x; the replaced one is m x -+ v, where v = K - m D/2 keeps every norm at most K."""
    tilt = setting["K"] - setting["m"] * setting["D"] / 2
    c = 1 - setting["eta"] * setting["m"]
    if tilt <= 1e-9 * setting["K"] or c < 0 or setting["m"] > setting["L"]:
        return None
    return _attack(setting, tilt * (1 - 1e-6), c)


def _sign_drift(setting: Setting, assumed: Assumed) -> BothDirections | None:
    """Shared gradients -clip(kappa x, -K, K), as steep as the assumption allows; the replaced one is -K or +K."""
    if not setting["D"] < inf:
        return None
    order = setting["lam"] if assumed is Assumed.HOLDER else 1.0
    assumption = Clipped() if assumed is Assumed.CLIPPED else Holder(setting["L"], order)
    kappa = steepest_push(assumption, run_of(setting))
    if kappa == 0:
        return None
    share = setting["eta"] * (setting["n"] - 1) / setting["n"] * _JUST_BELOW
    return _attack(setting, setting["K"], 1.0, share * setting["K"], setting["K"] / kappa)


CLAMPED_LINEAR = Attack(
    name="clamped_linear",
    run="the replaced sample has the constant gradient -K or +K, all others have gradient zero; projected",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH, Assumed.CONVEX}),
    bounded=True,
    maps=False,
    lower=_clamped_linear,
)

CLAMPED_QUADRATIC = Attack(
    name="clamped_quadratic",
    run="every sample has gradient m x, the replaced one m x -+ (K - m D/2), so that none is ever clipped",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.SMOOTH, Assumed.CONVEX, Assumed.STRONGLY_CONVEX}),
    bounded=True,
    maps=False,
    lower=_clamped_quadratic,
)

SIGN_DRIFT = Attack(
    name="sign_drift",
    run="shared samples push away from the middle as hard as the assumption and clipping allow: runs that have "
    "drifted to opposite ends are pushed further apart; the replaced sample has gradient -K or +K",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH}),
    bounded=True,
    maps=False,
    lower=_sign_drift,
)
