"""Exactly solvable runs on the line and on an interval, with full batches and with one sample more.

Full batches. Without projection, the two runs apply x -> c x + v and x -> c x + v' with |v - v'| = s, and add
N(0, sigma^2). The last iterates are Gaussians of equal variance with means at distance gap, so both
directions of the Renyi divergence are alpha gap^2 / (2 variance). On [-D/2, D/2] the runs are clamped walks
(`lastiterate.numeric.lower.walk`).

One added sample, the adjacency of Liang et al. and of the page on D2P2-SGD. P is the law with the added
sample, which pushes the iterate up. Batches of b samples (a number in the setting) are drawn without
replacement: with probability b/(n + 1) a batch has the added sample in place of another, which moves the
update by 2 eta K/b if all others have gradient -K. Alternatively, each sample is drawn with probability b/n,
and the sum is divided by b.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite, sqrt

from flint import arb

from lastiterate.numeric.losses.assumptions import Clipped, Holder
from lastiterate.numeric.lower.gradients import steepest_push
from lastiterate.numeric.lower.line import affine_law, binomial_mixture, mixture_masses
from lastiterate.numeric.lower.masses import Masses, renyi_below
from lastiterate.numeric.lower.walk import Update, Walk, WalkStep, last_masses
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.proofs_checks.attacks.record import (
    JUST_BELOW,
    LOSSES,
    Assumed,
    BothDirections,
    ExactRun,
    Setting,
)

_LOSSES = frozenset(LOSSES)
_LONGEST_FULL, _LONGEST_ADDED = 400, 60
"""Largest numbers of steps of a walk; each step costs a product with the kernel."""


@lru_cache(maxsize=4096)
def _on_the_line(order: float, steps: int, rate: Fraction, move: float, noise: float) -> BothDirections | None:
    """Lower bounds for Gaussian mixtures over the number of draws of the sample, at noise^2 per step."""
    up, base = (binomial_mixture([(steps, rate, z)], noise * sqrt(steps)) for z in (move, 0.0))
    pairs = (up, base), (base, up)
    try:
        return BothDirections(*(renyi_below(order, *mixture_masses(order, *pair)) for pair in pairs))
    except ArithmeticError:  # the laws are too distant for floats
        return None


@lru_cache(maxsize=4096)
def _on_an_interval(
    order: float, steps: int, diameter: float, cycle: tuple[WalkStep, ...], other: tuple[WalkStep, ...] = ()
) -> BothDirections | None:
    first = last_masses(Walk(steps, diameter, cycle))
    if first is not None and not other:
        value = renyi_below(order, first, Masses(first.low[::-1], first.high[::-1]))
        return BothDirections(value, value)
    second = last_masses(Walk(steps, diameter, other)) if other else None
    if first is None or second is None:
        return None
    return BothDirections(
        *(renyi_below(order, *pair) * JUST_BELOW for pair in ((first, second), (second, first)))
    )


def _affine(setting: Setting, curvature: float) -> BothDirections:
    """Lower bounds for the maps x -> (1 - eta curvature) x +- s/2."""
    with precision():
        eta = exact(setting["eta"])
        s = 2 * eta * exact(setting["K"]) / exact(setting["n"])
        factor: arb = 1 - eta * exact(curvature)
        gap, variance = affine_law(factor, int(setting["T"]), s, exact(setting["sigma"]))
        value = lower(exact(setting["alpha"]) * gap**2 / (2 * variance))
    return BothDirections(value, value)


def _quadratic(setting: Setting, _assumed: Assumed) -> BothDirections | None:
    """Attain gap^2 / variance = s^2 (1 + c)(1 - c^T) / (sigma^2 (1 - c)(1 + c^T)), c = 1 - eta m < 1."""
    with precision():
        stable = 1 - exact(setting["eta"]) * exact(setting["m"]) >= 0
    return _affine(setting, setting["m"]) if stable and setting["m"] <= setting["L"] else None


def _clamped(
    setting: Setting, norm: float, slope: float, push: float = 0.0, reach: float = inf
) -> BothDirections | None:
    """Lower bounds if the replaced sample moves gradients by +-norm; odd maps make both directions equal."""
    if setting["T"] > _LONGEST_FULL:
        return None
    drift = setting["eta"] * norm / setting["n"] * JUST_BELOW
    step = WalkStep.known(Update.pushed(slope, drift, setting["D"] / 2, push, reach), setting["sigma"])
    return _on_an_interval(setting["alpha"], int(setting["T"]), setting["D"], (step,))


def _clamped_quadratic(setting: Setting, _assumed: Assumed) -> BothDirections | None:
    """Bounds for shared gradients m x and a replaced gradient m x -+ v; v = K - m D/2 keeps norms at most K."""
    tilt = setting["K"] - setting["m"] * setting["D"] / 2
    c = 1 - setting["eta"] * setting["m"]
    if tilt <= 1e-9 * setting["K"] or c < 0 or setting["m"] > setting["L"]:
        return None
    return _clamped(setting, tilt * (1 - 1e-6), c)


def _sign_drift(setting: Setting, assumed: Assumed) -> BothDirections | None:
    """Bounds for shared gradients -clip(kappa x, -K, K) with the largest kappa, and a replaced gradient +-K."""
    order = setting["lam"] if assumed is Assumed.HOLDER else 1.0
    assumption = Clipped() if assumed is Assumed.CLIPPED else Holder(setting["L"], order)
    kappa = steepest_push(assumption, run_of(setting))
    if kappa == 0:
        return None
    share = setting["eta"] * (setting["n"] - 1) / setting["n"] * JUST_BELOW
    return _clamped(setting, setting["K"], 1.0, share * setting["K"], setting["K"] / kappa)


def _added_losses(batches: str, setting: Setting) -> Iterator[BothDirections | None]:
    n, b, T, order = int(setting["n"]), int(setting["b"]), int(setting["T"]), setting["alpha"]
    pull, half, drawn = setting["eta"] * setting["K"], setting["D"] / 2, batches == "drawn"
    rate, r = Fraction(b, n if drawn else n + 1), pull / b * JUST_BELOW
    if not isfinite(half):
        yield _on_the_line(order, T, rate, r if drawn else 2 * r, setting["sigma"])
    elif T <= _LONGEST_ADDED:
        if drawn:  # all others are 0
            pairs = [(Update.affine(1.0, 0.0, half), Update.affine(1.0, r, half))]
        else:  # all others are -K, or clip(L x, -K, K) uphill
            push, reach = pull * JUST_BELOW, setting["K"] / setting["L"] if setting["L"] else inf
            steep = Update.pushed(1.0, r, half, push * ((b - 1) / b), reach)
            pairs = [
                (Update.affine(1.0, -pull, half), Update.affine(1.0, -pull + 2 * r, half)),
                (Update.pushed(1.0, 0.0, half, push, reach), steep),
            ]
        for plain, met in pairs:
            steps = (
                WalkStep(setting["sigma"], ((1.0, plain),), ((1.0, one),), float(rate)) for one in (met, plain)
            )
            yield _on_an_interval(order, T, setting["D"], *((step,) for step in steps))


def _added(batches: str, *, second: bool) -> ExactRun:
    def solve(setting: Setting, _assumed: Assumed) -> BothDirections | None:
        found = [one for one in _added_losses(batches, setting) if one is not None]
        if not found:
            return None
        forward = 0.0 if second else max(one.forward for one in found)
        return BothDirections(forward, max(one.backward for one in found))

    size = "batches of b samples" if batches == "fixed" else "every sample drawn with probability b/n"
    name, words = f"added_{batches}", f"one sample more, which pushes up; {size}"
    if second:
        name, words = f"{name}_second", f"{words}; the larger data set second"
    return ExactRun(name, words, frozenset({Assumed.CLIPPED, Assumed.SMOOTH}), solve)


_ANY = frozenset({Assumed.SENSITIVITY, Assumed.CLIPPED, Assumed.HOLDER, Assumed.SMOOTH})
_CURVED = frozenset({Assumed.SENSITIVITY, Assumed.SMOOTH, Assumed.CONVEX, Assumed.STRONGLY_CONVEX})
_CONSTANT = "the replaced sample has the constant gradient -K or +K, all others have gradient zero; "
_CURVATURE = "every sample has curvature {}, the replaced one is tilted by -K or +K: x -> c x +- s/2, c = {}"
_DRIFT = (
    "shared samples push away from the middle as hard as the assumption and clipping allow: runs that have drifted to "
    "opposite ends are pushed further apart; the replaced sample has gradient -K or +K"
)
_TILTED = "every sample has gradient m x, the replaced one m x -+ (K - m D/2), so that none is ever clipped"

EXACT_RUNS = (
    # This run attains composition: gap T s, variance T sigma^2.
    ExactRun(
        "linear",
        f"{_CONSTANT}no projection",
        _ANY | {Assumed.CONVEX},
        lambda at, _: _affine(at, 0.0),
        bounded=False,
    ),
    ExactRun("quadratic", _CURVATURE.format("m", "1 - eta m"), _CURVED, _quadratic, bounded=False, maps=True),
    ExactRun(
        "expanding",
        _CURVATURE.format("-L", "1 + eta L"),
        frozenset(
            {Assumed.SENSITIVITY}
        ),  # not clipped, so it meets only bounds that use the sensitivity of one step
        lambda setting, _: _affine(setting, -setting["L"]),
        bounded=False,
        maps=True,
    ),
    ExactRun(
        "clamped_linear",
        f"{_CONSTANT}projected",
        _ANY | {Assumed.CONVEX},
        lambda setting, _: _clamped(setting, setting["K"], 1.0),
        bounded=True,
    ),
    ExactRun("clamped_quadratic", _TILTED, _CURVED | {Assumed.CLIPPED}, _clamped_quadratic, bounded=True),
    ExactRun("sign_drift", _DRIFT, _ANY, _sign_drift, bounded=True),
    *(_added(batches, second=second) for batches in ("fixed", "drawn") for second in (False, True)),
)
