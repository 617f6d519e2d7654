"""Attacks with Gaussian laws: affine update maps on an unbounded domain.

Both runs apply x -> c x + v or x -> c x + v' with |v - v'| = s, and add N(0, sigma^2). The last iterates are
Gaussians of equal variance, so both directions of the Renyi divergence are alpha gap^2 / (2 variance).
"""

from math import inf

from flint import arb

from lastiterate.numeric.lower.line import affine_law
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.proofs_checks.attacks.record import Assumed, Attack, BothDirections, Setting

__all__ = ["EXPANDING", "LINEAR", "QUADRATIC"]


def _sensitivity(setting: Setting) -> arb:
    return 2 * exact(setting["eta"]) * exact(setting["K"]) / exact(setting["n"])


def _both(setting: Setting, c: arb) -> BothDirections:
    gap, variance = affine_law(c, int(setting["T"]), _sensitivity(setting), exact(setting["sigma"]))
    value = lower(exact(setting["alpha"]) * gap**2 / (2 * variance))
    return BothDirections(value, value)


def _linear(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    if setting["D"] != inf:
        return None
    with precision():
        return _both(setting, arb(1))


def _quadratic(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    with precision():
        c = 1 - exact(setting["eta"]) * exact(setting["m"])
        if setting["D"] != inf or not c >= 0 or not setting["m"] <= setting["L"]:
            return None
        return _both(setting, c)


def _expanding(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
    if setting["D"] != inf:
        return None
    with precision():
        return _both(setting, 1 + exact(setting["eta"]) * exact(setting["L"]))


LINEAR = Attack(
    name="linear",
    run="the replaced sample has the constant gradient -K or +K, all others have gradient zero; no projection",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH, Assumed.CONVEX}),
    bounded=False,
    maps=False,
    lower=_linear,
)
"""Attains composition: gap T s, variance T sigma^2."""

QUADRATIC = Attack(
    name="quadratic",
    run="every sample has curvature m, the replaced one is tilted by -K or +K: x -> c x +- s/2, c = 1 - eta m",
    meets=frozenset({Assumed.SENSITIVITY, Assumed.SMOOTH, Assumed.CONVEX, Assumed.STRONGLY_CONVEX}),
    bounded=False,
    maps=True,
    lower=_quadratic,
)
"""Attains s^2 (1 + c)(1 - c^T) / ((1 - c)(1 + c^T)) where c < 1."""

EXPANDING = Attack(
    name="expanding",
    run="every sample has curvature -L, the replaced one is tilted by -K or +K: x -> c x +- s/2, c = 1 + eta L",
    meets=frozenset({Assumed.SENSITIVITY}),
    bounded=False,
    maps=True,
    lower=_expanding,
)
"""Concave quadratics. Unclipped, so they meet only bounds that use the sensitivity of one step."""
