"""Runs that meet an assumption and whose last iterate is known: the losses behind a lower bound.

All are on the line, or on the interval [-D/2, D/2]: as the first coordinate of a box they are runs in any dimension.
Every shared sample has the gradient ``curvature x + tilt`` or an outward push, and the one that differs goes as far the
other way as the clip norm leaves. The functions say which of them meet an assumption.
"""

from math import inf, isfinite

import numpy as np

from lastiterate.numeric.losses.assumptions import Assumption, Blocks, Convex, Minimum, Modulus, StronglyConvex
from lastiterate.numeric.run import NoisySGD

_SAFE = 1 - 1e-12


def least_curvature(assumption: Assumption) -> float:
    """The curvature that every loss must have: m under strong convexity, else 0."""
    if isinstance(assumption, Minimum):
        return max(least_curvature(part) for part in assumption.parts)
    return assumption.m if isinstance(assumption, StronglyConvex) else 0.0


def admits_curvature(assumption: Assumption, curvature: float, diameter: float) -> bool:
    """Tell whether gradients ``curvature x + constant`` meet the assumption on a domain of this diameter."""
    if isinstance(assumption, Minimum):
        return all(admits_curvature(part, curvature, diameter) for part in assumption.parts)
    if isinstance(assumption, StronglyConvex):
        return assumption.m <= curvature <= assumption.L
    if isinstance(assumption, Convex):
        return 0 <= curvature <= assumption.L
    if curvature == 0:
        return True
    return isinstance(assumption, Modulus) and _below(assumption, curvature, diameter, inf)


def steepest_push(assumption: Assumption, run: NoisySGD) -> float:
    """A slope kappa for which the gradient -clip(kappa x, -K, K) meets the assumption; inf for a jump, 0 for none."""
    if isinstance(assumption, Minimum):
        return min(steepest_push(part, run) for part in assumption.parts)
    if isinstance(assumption, Blocks):  # in one block
        return max(steepest_push(part, run) for part in assumption.parts)
    if not isinstance(assumption, Modulus):
        return 0.0
    distance, cap = run.diameter, 2 * run.clip_norm
    if np.all(assumption.value(np.array([1e-300])) >= cap):
        return inf
    # The steepest line to the cap: kappa z <= omega(z) up to z = 2 K / kappa, tried from above.
    best = 0.0
    for scale in np.geomspace(1e-9, 1.0, 200).tolist():
        reach = scale * (distance if isfinite(distance) else 1e6 * run.noise_std_at(0))
        if _below(assumption, cap / reach, distance, cap):
            best = max(best, cap / reach * _SAFE)
    whole = float(assumption.value(np.array([distance]))[0]) / distance if isfinite(distance) else 0.0
    if 0 < whole < inf and _below(assumption, whole * _SAFE, distance, cap):
        best = max(best, whole * _SAFE)
    return best


def _below(modulus: Modulus, slope: float, distance: float, cap: float) -> bool:
    """Tell whether min(slope z, cap) <= omega(z) for 0 < z <= distance, up to rounding.

    Omega is concave between its knots, where it may jump up just after one: a line is below it there if it is below
    at both ends.
    """
    end = min(distance, cap / slope)
    ends = np.array([z for z in (*modulus.knots, end) if 0 < z <= end])
    after = np.nextafter(np.array([0.0, *ends[:-1]]), inf)
    points = np.concatenate([ends, after])
    return bool(np.all(slope * points <= modulus.value(points)))
