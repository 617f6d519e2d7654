"""A random walk clamped to an interval, bounded by a Markov chain on a grid.

The walk is X <- clip(phi(X) + drift + N(0, sigma^2)) on [-D/2, D/2], X_0 = 0, with phi odd and nondecreasing.
Rounding the state up to a grid point after every step gives a chain that is pathwise at least the walk,
because every step is monotone in the state; so the chain bounds P(X_T >= x) from above. The last step is not
rounded: its probability is integrated over the chain's state before it.

Floating point: everything is a sum of products of nonnegative numbers, so errors stay relative, deep tails
included. A Gaussian tail (scipy's ``ndtr``) is taken to be within `TAIL` of the exact one, relatively, in its
lower half; cells are differences of tails on the side where the tail is small, and are enlarged by that error.
A step's sum of GRID terms adds GRID units in the last place; the result is enlarged by `SUMS` times the steps.
The mean of each step is moved up by 1e-13 of its size.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from lastiterate.proofs_checks.witnesses.record import Lower

__all__ = ["two_point_divergence", "upper_tail", "walk_divergence"]

Array = NDArray[np.float64]

GRID = 128
TAIL = 1e-12
SUMS = 4 * GRID * 2.3e-16
LEAST = 1e-290
"""Added to every probability, against underflow."""


def _cells(mean: Array, grid: Array, sigma: float) -> Array:
    """Transition probabilities of the chain that rounds up, enlarged; shape (states, grid)."""
    z = (grid[None, :] - mean[:, None]) / sigma
    below, above = ndtr(z), ndtr(-z)
    left = np.concatenate([below[:, :1], np.diff(below[:, :-1], axis=1), above[:, -2:-1]], axis=1)
    right = np.concatenate([below[:, :1], -np.diff(above[:, :-1], axis=1), above[:, -2:-1]], axis=1)
    near = np.concatenate([below[:, :1], below[:, 1:-1], above[:, -2:-1]], axis=1)
    far = np.concatenate([below[:, :1], above[:, :-2], above[:, -2:-1]], axis=1)
    from_left = near < far
    return np.where(from_left, left + 2 * TAIL * near, right + 2 * TAIL * far) + LEAST


def upper_tail(
    phi: Callable[[Array], Array],
    drift: float,
    sigma: float,
    diameter: float,
    steps: int,
    thresholds: Array,
) -> Array:
    """Certified upper bounds of P(phi(X_{T-1}) + drift + noise >= x), the last step before it is clamped.

    Args:
        phi: odd nondecreasing map of lengths, elementwise, with relative error below 1e-13.
        drift: length added in every step.
        sigma: standard deviation of the noise, a length.
        diameter: D of the interval [-D/2, D/2], a length.
        steps: T >= 1.
        thresholds: values of x, shape (k,), lengths.

    Returns:
        Shape (k,); may exceed 1 by the rounding slack.

    >>> bound = upper_tail(lambda x: x, 0.0, 1.0, 4.0, 3, np.array([0.0]))
    >>> bool(0.5 <= bound[0] < 0.55)
    True
    """
    grid = np.linspace(-diameter / 2, diameter / 2, GRID + 1)

    def mean(state: Array) -> Array:
        moved = phi(state)
        return moved + drift + 1e-13 * (np.abs(moved) + abs(drift) + diameter)

    states, weight = np.zeros(1), np.ones(1)
    if steps > 1:
        weight = _cells(mean(states), grid, sigma)[0]
        states = grid
        kernel = _cells(mean(grid), grid, sigma)
        for _ in range(steps - 2):
            weight = weight @ kernel
    tail = ndtr((mean(states)[None, :] - thresholds[:, None]) / sigma) * (1 + TAIL) + LEAST
    bounds: Array = (tail @ weight) * (1 + SUMS * (steps + 1))
    return bounds


def two_point_divergence(alpha: float, p_rest: Array, q: Array) -> Array:
    """D_alpha of the two-point laws (1 - p_rest, p_rest) || (q, 1 - q), elementwise, rounded down.

    Takes the two small probabilities, so that neither is lost beside 1. Both in (0, 1).

    >>> float(two_point_divergence(2.0, np.array([0.5]), np.array([0.5]))[0]) <= 0
    True
    """
    first = alpha * np.log1p(-p_rest) - (alpha - 1) * np.log(q)
    second = alpha * np.log(p_rest) - (alpha - 1) * np.log1p(-q)
    size = np.abs(first) + np.abs(second) + alpha
    found: Array = (np.logaddexp(first, second) - 1e-13 * size) / (alpha - 1)
    return found


def walk_divergence(
    phi: Callable[[Array], Array], gap: float, sigma: float, diameter: float, steps: int, alpha: float
) -> Lower:
    """Lower bounds of both divergences between the walks that drift by +gap/2 (P) and by -gap/2 (Q).

    By data processing: the divergence is at least that of the event {X_T >= x}, for the best x tried. P's
    walk is the mirror image of Q's, so one bound u of Q's upper tail gives q <= u(x) and 1 - p <= u(-x); the
    two-point divergence falls as p and q approach each other, so it is evaluated at those ends.
    """
    thresholds = np.linspace(-diameter / 2, diameter / 2, 33)
    q = upper_tail(phi, -gap / 2, sigma, diameter, steps, thresholds)
    p_rest = q[::-1]
    apart = p_rest + q < 1 - 1e-9
    if not apart.any():
        return Lower(0.0, 0.0)
    p_rest, q = p_rest[apart], q[apart]
    forward = two_point_divergence(alpha, p_rest, q)
    backward = two_point_divergence(alpha, q, p_rest)
    return Lower(max(0.0, float(forward.max())), max(0.0, float(backward.max())))
