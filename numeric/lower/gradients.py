"""Piecewise linear gradients on an interval, and exact checks of whether they satisfy an assumption.

In more dimensions they are gradients along the first coordinate.
"""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite, nextafter

import numpy as np

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    ClippedConvex,
    Convex,
    Minimum,
    Modulus,
    StronglyConvex,
)
from lastiterate.numeric.run import NoisySGD

Gradient = tuple[tuple[float, float], ...]
"""Pairs (x, g(x)), ordered by x; g is linear in between, and two pairs with the same x are a jump."""

_ROUNDING = 2.0**-50
_SAFE = 1e-13
"""Fraction of a modulus reserved for the rounding error of its value."""
_STEEPEST = 1 - 1e-12
"""Factor that slightly reduces a slope computed in floats."""


def drawn_gradient(value: object) -> Gradient:
    """Return the gradient that a value describes, or raise an `InputError`."""
    try:
        found = tuple((float(x), float(g)) for x, g in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        found = ()
    if len(found) < 2 or not all(isfinite(x) and isfinite(g) for x, g in found):
        raise InputError(
            f"A gradient needs at least two pairs of finite numbers (place, gradient), got {echo(value, 80)}; "
            "write ((-0.5, 1.0), (0.5, 1.0)) for a constant gradient."
        )
    return found


def affine_gradient(half: float, slope: float, tilt: float) -> Gradient:
    """The gradient ``slope x + tilt`` on [-half, half]."""
    return ((-half, tilt - slope * half), (half, tilt + slope * half))


def largest_gradient(gradient: Gradient) -> float:
    """Largest absolute value of a gradient."""
    return max(abs(value) for _, value in gradient)


def admits_gradient(assumption: Assumption, gradient: Gradient) -> bool:
    """Tell whether a loss on the line with this gradient satisfies the assumption, except for the clip norm.

    A loss of one coordinate in more dimensions then satisfies the assumption, too.
    """
    if isinstance(assumption, Minimum):
        return all(admits_gradient(part, gradient) for part in assumption.parts)
    if isinstance(assumption, Convex | ClippedConvex):
        return _slopes_within(gradient, 0.0, assumption.L)
    if isinstance(assumption, StronglyConvex):
        return _slopes_within(gradient, assumption.m, assumption.L)
    if isinstance(assumption, Blocks):
        return any(admits_gradient(part, gradient) for part in assumption.parts)
    return isinstance(assumption, Modulus) and _changes_within(gradient, assumption)


def _slopes_within(gradient: Gradient, least: float, most: float) -> bool:
    slack, exact = _slack(gradient), [(Fraction(x), Fraction(g)) for x, g in gradient]
    return all(
        Fraction(least) * (y - x) - slack <= h - g
        and (most == inf or h - g <= Fraction(most) * (y - x) + slack)
        for (x, g), (y, h) in pairwise(exact)
    )


def _slack(gradient: Gradient) -> Fraction:
    """Rounding allowance for a difference of values, below the rounding error of an update."""
    return Fraction(largest_gradient(gradient)) * Fraction(_ROUNDING)


def _changes_within(gradient: Gradient, modulus: Modulus) -> bool:
    """Tell whether |g(x) - g(y)| <= omega(|x - y|) for all x, y.

    It suffices to check distances between breakpoints, and the knots of omega, with both limits of g at a
    jump.
    """
    exact = [(Fraction(x), Fraction(g)) for x, g in gradient]
    places, slack = [x for x, _ in exact], _slack(gradient)
    ends = {abs(y - x) for x in places for y in places} | {Fraction(z) for z in modulus.knots}
    for z in ends:
        changes = (
            abs(h - g)
            for x, g in exact
            for y in (x - z, x + z)
            if places[0] <= y <= places[-1]
            for h in _limits(exact, places, y)
        )
        if not _at_most(max(changes, default=Fraction(0)) - slack, modulus, z):
            return False
    return True


def _limits(exact: list[tuple[Fraction, Fraction]], places: list[Fraction], y: Fraction) -> list[Fraction]:
    first, last = bisect_left(places, y), bisect_right(places, y)
    if first < last:
        return [exact[first][1], exact[last - 1][1]]
    (x, g), (w, h) = exact[first - 1], exact[first]
    return [g + (h - g) * (y - x) / (w - x)]


def _at_most(change: Fraction, modulus: Modulus, z: Fraction) -> bool:
    """Tell whether the change is at most omega(z), or, for z = 0, at most the limit of omega from above."""
    near = max(float(z), 5e-324)
    near = nextafter(near, 0.0) if Fraction(near) > z > 0 else near
    value = float(modulus.value(np.array([near]))[0])
    return change <= 0 or value == inf or change <= Fraction(value) * (1 - Fraction(_SAFE))


def least_curvature(assumption: Assumption) -> float:
    """Curvature that every loss must have: m under strong convexity, else 0."""
    if isinstance(assumption, Minimum):
        return max(least_curvature(part) for part in assumption.parts)
    return assumption.m if isinstance(assumption, StronglyConvex) else 0.0


def admits_curvature(assumption: Assumption, curvature: float, diameter: float) -> bool:
    """Tell whether gradients ``curvature x + tilt`` satisfy the assumption on a domain of this diameter."""
    if isinstance(assumption, Minimum):
        return all(admits_curvature(part, curvature, diameter) for part in assumption.parts)
    if isinstance(assumption, StronglyConvex):
        return assumption.m <= curvature <= assumption.L
    if isinstance(assumption, Convex | ClippedConvex):
        return 0 <= curvature <= assumption.L
    if curvature == 0:
        return True
    return isinstance(assumption, Modulus) and _below(assumption, curvature, diameter, inf)


def steepest_push(assumption: Assumption, run: NoisySGD) -> float:
    """Largest slope kappa found such that -clip(kappa x, -K, K) satisfies the assumption; inf for a jump, 0 if none."""
    if isinstance(assumption, Minimum):
        return min(steepest_push(part, run) for part in assumption.parts)
    if isinstance(assumption, Blocks):  # in one block
        return max(steepest_push(part, run) for part in assumption.parts)
    if not isinstance(assumption, Modulus):
        return 0.0
    distance, cap = run.diameter, 2 * run.clip_norm
    if np.all(assumption.value(np.array([1e-300])) >= cap):
        return inf
    # The steepest line to the cap: kappa z <= omega(z) up to z = 2 K / kappa.
    best = 0.0
    for scale in np.geomspace(1e-9, 1.0, 200).tolist():
        reach = scale * (distance if isfinite(distance) else 1e6 * run.noise_std_at(0))
        if _below(assumption, cap / reach, distance, cap):
            best = max(best, cap / reach * _STEEPEST)
    whole = float(assumption.value(np.array([distance]))[0]) / distance if isfinite(distance) else 0.0
    if 0 < whole < inf and _below(assumption, whole * _STEEPEST, distance, cap):
        best = max(best, whole * _STEEPEST)
    return best


def _below(modulus: Modulus, slope: float, distance: float, cap: float) -> bool:
    """Tell whether min(slope z, cap) <= omega(z) for 0 < z <= distance, up to rounding.

    omega is concave between its knots and may jump up just after a knot, so the ends of the pieces suffice.
    """
    end = min(distance, cap / slope)
    ends = np.array([z for z in (*modulus.knots, end) if 0 < z <= end])
    after = np.nextafter(np.array([0.0, *ends[:-1]]), inf)
    points = np.concatenate([ends, after])
    return bool(np.all(slope * points <= modulus.value(points)))
