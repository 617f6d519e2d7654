"""Attacks with full batches, without projection and on an interval.

Without projection both runs apply x -> c x + v or x -> c x + v' with |v - v'| = s, and add N(0, sigma^2). The last
iterates are Gaussians of equal variance, so both directions of the Renyi divergence are alpha gap^2 / (2 variance). On
the interval [-D/2, D/2] runs are clamped walks, whose laws are known by certified propagation of the density
(`lastiterate.numeric.lower.course`).
"""

from functools import lru_cache
from math import inf

from flint import arb

from lastiterate.numeric.losses.assumptions import Clipped, Holder
from lastiterate.numeric.lower.course import Course, course_masses
from lastiterate.numeric.lower.grid import Update
from lastiterate.numeric.lower.line import affine_law
from lastiterate.numeric.lower.losses import steepest_push
from lastiterate.numeric.lower.masses import Masses, renyi_below
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.proofs_checks.attacks.record import JUST_BELOW, Assumed, Attack, BothDirections, Setting

MAX_STEPS = 400
"""Longer walks are left to other settings: each step costs a product with the kernel."""


def _affine(setting: Setting, curvature: float) -> BothDirections:
    """Both orders for the maps x -> (1 - eta curvature) x +- s/2."""
    with precision():
        eta = exact(setting["eta"])
        s = 2 * eta * exact(setting["K"]) / exact(setting["n"])
        factor: arb = 1 - eta * exact(curvature)
        gap, variance = affine_law(factor, int(setting["T"]), s, exact(setting["sigma"]))
        value = lower(exact(setting["alpha"]) * gap**2 / (2 * variance))
    return BothDirections(value, value)


def _linear(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    """Attain composition: gap T s, variance T sigma^2."""
    return _affine(setting, 0.0)


def _quadratic(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    """Attain s^2 (1 + c)(1 - c^T) / ((1 - c)(1 + c^T)) where c < 1."""
    with precision():
        if not 1 - exact(setting["eta"]) * exact(setting["m"]) >= 0 or not setting["m"] <= setting["L"]:
            return None
    return _affine(setting, setting["m"])


def _expanding(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    """Concave quadratics. Unclipped, so they meet only bounds that use the sensitivity of one step."""
    return _affine(setting, -setting["L"])


def _clamped(
    setting: Setting, norm: float, slope: float, push: float = 0.0, reach: float = inf
) -> BothDirections | None:
    """Both orders for gradients that the replaced sample moves by +-norm; the maps are odd, so the orders agree."""
    if setting["T"] > MAX_STEPS:
        return None
    drift = setting["eta"] * norm / setting["n"] * JUST_BELOW
    update = Update.pushed(slope, drift, setting["D"] / 2, push, reach)
    walk = Course(int(setting["T"]), ((update, setting["sigma"]),), setting["D"])
    value = _divergence(walk, setting["alpha"])
    return None if value is None else BothDirections(value, value)


@lru_cache(maxsize=8192)
def _divergence(walk: Course, order: float) -> float | None:
    """Of the walk from its mirror image."""
    law = course_masses(walk)
    return None if law is None else renyi_below(order, law, Masses(law.low[::-1], law.high[::-1]))


def _clamped_linear(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    return _clamped(setting, setting["K"], 1.0)


def _clamped_quadratic(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    """Shared gradients m x; the replaced one is m x -+ v, where v = K - m D/2 keeps every norm at most K."""
    tilt = setting["K"] - setting["m"] * setting["D"] / 2
    c = 1 - setting["eta"] * setting["m"]
    if tilt <= 1e-9 * setting["K"] or c < 0 or setting["m"] > setting["L"]:
        return None
    return _clamped(setting, tilt * (1 - 1e-6), c)


def _sign_drift(setting: Setting, assumed: Assumed) -> BothDirections | None:
    """Shared gradients -clip(kappa x, -K, K), as steep as the assumption allows; the replaced one is -K or +K."""
    order = setting["lam"] if assumed is Assumed.HOLDER else 1.0
    assumption = Clipped() if assumed is Assumed.CLIPPED else Holder(setting["L"], order)
    kappa = steepest_push(assumption, run_of(setting))
    if kappa == 0:
        return None
    share = setting["eta"] * (setting["n"] - 1) / setting["n"] * JUST_BELOW
    return _clamped(setting, setting["K"], 1.0, share * setting["K"], setting["K"] / kappa)


_ANY = frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH})
_CURVED = frozenset({Assumed.SENSITIVITY, Assumed.SMOOTH, Assumed.CONVEX, Assumed.STRONGLY_CONVEX})
_CONSTANT = "the replaced sample has the constant gradient -K or +K, all others have gradient zero; "

FULL = (
    Attack("linear", f"{_CONSTANT}no projection", _ANY | {Assumed.CONVEX}, bounded=False, maps=False, solve=_linear),
    Attack(
        "quadratic",
        "every sample has curvature m, the replaced one is tilted by -K or +K: x -> c x +- s/2, c = 1 - eta m",
        _CURVED,
        bounded=False,
        maps=True,
        solve=_quadratic,
    ),
    Attack(
        "expanding",
        "every sample has curvature -L, the replaced one is tilted by -K or +K: x -> c x +- s/2, c = 1 + eta L",
        frozenset({Assumed.SENSITIVITY}),
        bounded=False,
        maps=True,
        solve=_expanding,
    ),
    Attack(
        "clamped_linear",
        f"{_CONSTANT}projected",
        _ANY | {Assumed.CONVEX},
        bounded=True,
        maps=False,
        solve=_clamped_linear,
    ),
    Attack(
        "clamped_quadratic",
        "every sample has gradient m x, the replaced one m x -+ (K - m D/2), so that none is ever clipped",
        _CURVED | {Assumed.CLIPPED},
        bounded=True,
        maps=False,
        solve=_clamped_quadratic,
    ),
    Attack(
        "sign_drift",
        "shared samples push away from the middle as hard as the assumption and clipping allow: runs that have "
        "drifted to opposite ends are pushed further apart; the replaced sample has gradient -K or +K",
        _ANY,
        bounded=True,
        maps=False,
        solve=_sign_drift,
    ),
)
"""The attacks in full batches."""
