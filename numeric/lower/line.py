"""Runs on the whole line whose last iterate is Gaussian, or a mixture of Gaussians over how often a sample was met.

Constant gradients: every step that meets the sample moves one run by its part of the shift and the other by its own,
and the noise adds up to variance sum sigma_t^2. With fixed batches the count is fixed and both laws are Gaussian of
one variance; with independent batches it is binomial.
"""

import numpy as np
from flint import arb

from lastiterate.numeric.divergences import Mixture, renyi_mixtures
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.lower.binomial_law import BinomialLaw
from lastiterate.numeric.lower.masses import Masses
from lastiterate.numeric.rounding import exact, precision

__all__ = ["affine_law", "gaussian_epsilon_below", "geometric", "mixture_masses", "one_step_below"]

_CELLS = 4000
_LOOK = 300
_MEMORY = 1_000_000
"""Most entries of a table of cells and components."""
_ZOOMS = 5
_DEEP = 45.0
"""Cells whose part of the sum is below e^-45 of the largest are merged into the outermost two."""


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


def mixture_masses(
    order: float | None, first: BinomialLaw, second: BinomialLaw, offsets: tuple[float, float] = (0.0, 0.0)
) -> tuple[Masses, Masses]:
    """Masses of two mixtures on cells where the divergence of the first from the second is made.

    Args:
        order: of the divergence that is wanted; None for a hockey stick.
        first: the numerator; its iterate is moved by offsets[0], a length.
        second: the denominator, moved by offsets[1].
        offsets: lengths.
    """
    far = max(abs(law.steps * law.move + offset) for law, offset in zip((first, second), offsets, strict=True))
    alpha = 2.0 if order is None else order
    reach = (alpha + 1) * far + 14 * first.std
    left, right = -reach, reach
    for _ in range(_ZOOMS):
        x = np.linspace(left, right, _LOOK)
        above, below = first.log_density(x - offsets[0]), second.log_density(x - offsets[1])
        height = above if order is None else alpha * above - (alpha - 1) * below
        kept = np.flatnonzero(height > height.max() - _DEEP)
        if not len(kept):
            raise ArithmeticError("the laws are too far apart for floats")
        left, right = float(x[max(kept[0] - 1, 0)]), float(x[min(kept[-1] + 1, len(x) - 1)])
    counts = max(len(law.components[0]) for law in (first, second))
    edges = np.linspace(left, right, max(_LOOK, min(_CELLS, _MEMORY // counts)))
    return Masses.between(*first.masses(edges - offsets[0])), Masses.between(*second.masses(edges - offsets[1]))
