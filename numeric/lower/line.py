"""Runs on the whole line whose last iterate is Gaussian, or a mixture of Gaussians over how often a sample was met.

Constant gradients: every step that meets the sample moves one run by its part of the shift and the other by its own,
and the noise adds up to variance sum sigma_t^2. With fixed batches the count is fixed and both laws are Gaussian of
one variance; with independent batches it is binomial.
"""

from math import ceil, inf, log, sqrt

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from lastiterate.numeric.balls import exact, lower, precision
from lastiterate.numeric.divergences import Mixture, renyi_mixtures
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.lower.masses import ROUNDING, Masses

__all__ = ["affine_law", "counts", "gaussian_epsilon_below", "geometric", "mixture_masses", "one_step_below"]

Array = NDArray[np.float64]

_CELLS = 3000
_ZOOMS = 6
_DEEP = 45.0
"""Cells whose part of the sum is below e^-45 of the largest are left out."""
_MOST_COUNTS = 4000
_WEIGHTS = 1e-12
"""Error of the logarithm of a weight."""


def affine_law(c: arb, steps: int, s: arb, sigma: arb) -> tuple[arb, arb]:
    """Gap of the means and common variance after ``steps`` updates x -> c x +- s/2 + N(0, sigma^2).

    Gap s (1 + c + ... + c^(T-1)), variance sigma^2 (1 + c^2 + ... + c^(2T-2)); lengths and squared lengths.

    >>> gap, variance = affine_law(arb(1), 3, arb(2), arb(1))
    >>> gap == 6 and variance == 3
    True
    """
    return s * geometric(c, steps), sigma**2 * geometric(c * c, steps)


def geometric(ratio: arb, terms: int) -> arb:
    """1 + ratio + ... + ratio^(terms - 1), without the cancellation of the closed form near ratio 1."""
    total, block, power = arb(0), arb(1), ratio
    placed = arb(1)
    while terms:
        if terms & 1:
            total += placed * block
            placed *= power
        block *= 1 + power
        power *= power
        terms >>= 1
    return total


def gaussian_epsilon_below(mu: arb, delta: float) -> float:
    """An epsilon, rounded down, for which N(mu, 1) and N(0, 1) are not (epsilon, delta)-apart; 0 where all are."""

    def exceeds(epsilon: float) -> bool:
        return bool(gaussian_profile(mu, exact(epsilon)) > exact(delta))

    with precision():
        if not exceeds(0.0):
            return 0.0
        low, high = 0.0, 1.0
        while exceeds(high):
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if exceeds(middle) else (low, middle)
        return low


def one_step_below(order: float, rate: float, first: float, second: float, noise: float) -> float:
    """D_order of (1-q) N(0) + q N(first) from (1-q) N(0) + q N(second), rounded down; q a lower bound of the rate.

    It rises with q: the integral of the power is convex in q (both laws are affine in it), and least at 0.
    """
    try:
        return renyi_mixtures(Mixture(rate, 0.0, first), Mixture(rate, 0.0, second), noise, alpha=order).lower
    except (ArithmeticError, ValueError):  # too near, or too far apart, for the quadrature
        return 0.0


def counts(steps: int, batch: int, size: int) -> tuple[NDArray[np.int64], Array, float]:
    """The likeliest counts of a binomial law of rate batch / size, their log weights, and the weight of all others."""
    rate = batch / size
    mean, spread = steps * rate, sqrt(steps * rate * (1 - rate))
    low = max(0, int(mean - 14 * spread - 60))
    high = min(steps, ceil(mean + 14 * spread + 60), low + _MOST_COUNTS)
    k = np.arange(low, high + 1)
    with precision():
        q = arb(batch) / size
        odds = q / (1 - q)
        weight = arb(1)
        if low:
            weight = (arb(steps + 1).lgamma() - arb(low + 1).lgamma() - arb(steps - low + 1).lgamma()).exp()
        weight *= q**low * (1 - q) ** (steps - low)
        logs, total = [], arb(0)
        for count in k.tolist():
            logs.append(float(weight.log()) if weight > 0 else -inf)
            total += weight
            weight *= odds * (steps - count) / (count + 1)
        rest = max(0.0, -lower(total - 1)) if high - low < steps else 0.0
    return k, np.array(logs), rest


def mixture_masses(
    order: float | None, k: NDArray[np.int64], weights: Array, rest: float, moves: tuple[float, float], width: float
) -> tuple[Masses, Masses]:
    """Masses of the mixtures of N(k move, width^2) for the two moves, on cells where the first counts most.

    Args:
        order: of the divergence that is wanted; None for a hockey stick.
        k: counts, shape (j,).
        weights: log weights, shape (j,).
        rest: weight that is left out.
        moves: length by which a step that meets the sample moves the first and the second law.
        width: standard deviation, a length.
    """
    far = (max(map(abs, moves)) * float(k[-1])) / width
    alpha = 2.0 if order is None else order
    left, right = -(alpha + 1) * far - 14, (alpha + 1) * far + 14
    laws = [k * move / width for move in moves]
    for _ in range(_ZOOMS):
        x = np.linspace(left, right, 400)
        shape = [logsumexp(weights - (x[:, None] - law) ** 2 / 2, axis=1) for law in laws]
        height = alpha * shape[0] - (alpha - 1) * shape[1] if order is not None else shape[0]
        kept = np.flatnonzero(height > height.max() - _DEEP)
        left, right = x[max(kept[0] - 1, 0)], x[min(kept[-1] + 1, len(x) - 1)]
    edges = np.linspace(left, right, _CELLS + 1)
    return _masses(edges, laws[0], weights, rest), _masses(edges, laws[1], weights, rest)


def _masses(edges: Array, means: Array, weights: Array, rest: float) -> Masses:
    """Masses of a mixture of N(mean, 1) between the edges; the weight that is left out may be anywhere."""
    low, high = np.full(len(edges) - 1, -inf), np.full(len(edges) - 1, -inf)
    if not means.any():  # one Gaussian, whatever the count
        means, weights, rest = means[:1], np.zeros(1), 0.0
    for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
        inside, error = _normal_cells(edges - mean)
        low = np.logaddexp(low, weight - _WEIGHTS + inside - error)
        high = np.logaddexp(high, weight + _WEIGHTS + inside + error)
    slack = ROUNDING * len(means) * (1 + np.where(np.isfinite(low), np.abs(low), 0.0))
    most = np.logaddexp(high + slack, log(rest)) if rest else high + slack
    return Masses(low - slack, most)


def _normal_cells(z: Array) -> tuple[Array, Array]:
    """log(Phi(z_i+1) - Phi(z_i)) and its error, from the tail on whose side the cell lies."""
    flip = z[:-1] + z[1:] > 0
    near = np.where(flip, -z[:-1], z[1:])
    far = np.where(flip, -z[1:], z[:-1])
    top, low = log_ndtr(near), log_ndtr(far)
    gap = np.maximum(top - low, 1e-300)
    inside = top + np.log(-np.expm1(-gap))
    error = 1e-13 + 4e-15 * (np.abs(top) + np.abs(low)) / -np.expm1(-gap)
    return inside, error
