"""Witnesses on a bounded domain: losses on the interval [-D/2, D/2] whose runs are clamped monotone walks."""

from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from lastiterate.proofs_checks.witnesses.record import Assumed, Lower, Setting, Witness
from lastiterate.proofs_checks.witnesses.walk import walk_divergence

__all__ = ["CLAMPED_LINEAR", "CLAMPED_QUADRATIC", "SIGN_DRIFT"]

Array = NDArray[np.float64]

MAX_STEPS = 400
"""Longer walks are left to other settings: each step costs a product with the transition matrix."""


def _gap(setting: Setting, norm: float) -> float:
    """Distance that one step puts between the runs, 2 eta norm / n, rounded down."""
    return nextafter(2 * setting["eta"] * norm / setting["n"] * (1 - 1e-15), 0.0)


def _usable(setting: Setting) -> bool:
    return setting["D"] < inf and setting["T"] <= MAX_STEPS


def _clamped_linear(setting: Setting, assumed: Assumed) -> Lower | None:  # noqa: ARG001
    if not _usable(setting):
        return None
    return walk_divergence(
        lambda x: x,
        _gap(setting, setting["K"]),
        setting["sigma"],
        setting["D"],
        int(setting["T"]),
        setting["alpha"],
    )


def _clamped_quadratic(setting: Setting, assumed: Assumed) -> Lower | None:  # noqa: ARG001
    """Shared gradients m x; the replaced one is m x -+ v, where v = K - m D/2 keeps every norm at most K."""
    tilt = setting["K"] - setting["m"] * setting["D"] / 2
    c = 1 - setting["eta"] * setting["m"]
    if not _usable(setting) or tilt <= 1e-9 * setting["K"] or c < 0 or setting["m"] > setting["L"]:
        return None
    return walk_divergence(
        lambda x: c * x,
        _gap(setting, tilt * (1 - 1e-6)),
        setting["sigma"],
        setting["D"],
        int(setting["T"]),
        setting["alpha"],
    )


def _sign_drift(setting: Setting, assumed: Assumed) -> Lower | None:
    """Shared gradients -sign(x) min(L' |x|^lam, K); the replaced one is -K or +K.

    sign(x) |x|^lam is (2^(1-lam), lam)-Hoelder, so L' = L 2^(lam-1); with no assumption the gradient jumps.
    """
    if not _usable(setting):
        return None
    share = setting["eta"] * (setting["n"] - 1) / setting["n"] * (1 - 1e-13)
    norm = setting["K"]
    if assumed is Assumed.CLIPPED:

        def push(x: Array) -> Array:
            return np.sign(x) * norm

    else:
        order = setting["lam"] if assumed is Assumed.HOLDER else 1.0
        constant = setting["L"] * 2 ** (order - 1)

        def push(x: Array) -> Array:
            return np.sign(x) * np.minimum(constant * np.abs(x) ** order, norm)

    return walk_divergence(
        lambda x: x + share * push(x),
        _gap(setting, norm),
        setting["sigma"],
        setting["D"],
        int(setting["T"]),
        setting["alpha"],
    )


CLAMPED_LINEAR = Witness(
    name="clamped_linear",
    run="the replaced sample has the constant gradient -K or +K, all others have gradient zero; projected",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH, Assumed.CONVEX}),
    bounded=True,
    maps=False,
    lower=_clamped_linear,
)

CLAMPED_QUADRATIC = Witness(
    name="clamped_quadratic",
    run="every sample has gradient m x, the replaced one m x -+ (K - m D/2), so that none is ever clipped",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.SMOOTH, Assumed.CONVEX, Assumed.STRONGLY_CONVEX}),
    bounded=True,
    maps=False,
    lower=_clamped_quadratic,
)

SIGN_DRIFT = Witness(
    name="sign_drift",
    run="shared samples push away from the middle as hard as the assumption and clipping allow: runs that have "
    "drifted to opposite ends are pushed further apart; the replaced sample has gradient -K or +K",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH}),
    bounded=True,
    maps=False,
    lower=_sign_drift,
)
