"""Runs on the whole line whose last iterate is Gaussian, or a mixture of Gaussians over how often a sample was met.

The sample that differs has a constant gradient, all others have gradient zero, and there is no projection: W_T - W_0 =
k move + N(0, T sigma^2), |move| = eta K / b, where k steps meet the sample; k ~ Binomial(T, q) where batches hold it
with chance q, independently. A mass of the numerator is rounded down, one of the denominator up; components left out
are lost to the numerator and are added to every cell of the denominator. scipy's ``ndtr`` is taken to be within 1e-12
of the normal tail, relatively, in its lower half; its argument is moved outwards by its own rounding.

Source: docs/proofs/lower_bounds.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, sqrt
from typing import ClassVar

import numpy as np
from flint import arb
from scipy.special import gammaln, logsumexp, ndtr, ndtri, xlog1py, xlogy

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences import Mixture, renyi_mixtures
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.lower.masses import Masses
from lastiterate.numeric.rounding import exact, geometric_sum, lower, precision, upper

_CELLS = 4000
_LOOK = 300
_MEMORY = 1_000_000
"""Most entries of a table of cells and components."""
_ZOOMS = 5
_DEEP = 45.0
"""Cells whose part of the sum is below e^-45 of the largest are merged into the outermost two."""
_TAIL = 1e-12
_UNIT = 2.0**-52
_LEAST = 1e-300
_MOST = 4096


@dataclass(frozen=True, eq=False)
class BinomialLaw:
    """k move + N(0, steps noise^2), k ~ Binomial(steps, rate).

    Attributes:
        steps: T.
        rate: chance q that a batch holds the sample, exactly.
        move: what one participation adds to the iterate, a length of any sign; 0 where the sample does nothing.
        noise: standard deviation of the noise of one step, a length.
    """

    steps: int
    rate: Fraction
    move: float
    noise: float
    ulps: ClassVar[float] = 4.0
    """Error of a standardised place, in units of the last place of what it is made of."""

    @property
    def std(self) -> float:
        """Standard deviation of a component, a length, to float precision."""
        return self.noise * sqrt(self.steps)

    @cached_property
    def components(self) -> tuple[Array, Array, Array, float]:
        """Counts k that are kept, their weights rounded down and up, and the mass of all others rounded up."""
        if self.move == 0 or self.rate == 0:
            return np.zeros(1), np.ones(1), np.ones(1), 0.0
        centre = round(self.steps * self.rate)
        first = max(0, min(centre - _MOST // 2, self.steps - _MOST))
        last = min(self.steps, first + _MOST)
        with precision():
            q = arb(self.rate.numerator) / self.rate.denominator
            weight = arb(self.steps).bin(first) * q**first * (1 - q) ** (self.steps - first)
            weights = [weight]
            for k in range(first, last):
                if self.rate == 1:
                    weight = arb(k + 1 == self.steps)
                else:
                    weight = weight * (self.steps - k) / (k + 1) * q / (1 - q)
                weights.append(weight)
            missing = max(0.0, upper(1 - sum(weights, arb(0)))) if last - first < self.steps else 0.0
            low, high = ([end(w) for w in weights] for end in (lower, upper))
        return np.arange(first, last + 1, dtype=float), np.maximum(low, 0.0), np.array(high), missing

    def masses(self, edges: Array) -> tuple[Array, Array]:
        """Masses of the cells below, between and above the edges, rounded down and up; shapes (edges + 1,)."""
        counts, low_weight, high_weight, missing = self.components
        centre = counts * self.move
        z = (edges[:, None] - centre[None, :]) / self.std
        blur = self.ulps * _UNIT * (np.abs(z) + (np.abs(edges)[:, None] + np.abs(centre)[None, :]) / self.std)
        ends = [  # mass to the left of each edge, then to the right
            (ndtr(sign * z - blur) * (1 - _TAIL), ndtr(sign * z + blur) * (1 + _TAIL) + _LEAST) for sign in (1, -1)
        ]
        (left_low, left_high), (right_low, right_high) = ends
        from_left = left_high[1:] < right_high[:-1]
        low = np.where(from_left, left_low[1:] - left_high[:-1], right_low[:-1] - right_high[1:])
        high = np.where(from_left, left_high[1:] - left_low[:-1], right_high[:-1] - right_low[1:])
        low = np.concatenate([left_low[:1], np.maximum(low, 0.0), right_low[-1:]])
        high = np.concatenate([left_high[:1], high, right_high[-1:]])
        slack = 4 * _UNIT * len(counts)
        return low @ low_weight * (1 - slack), (high @ high_weight) * (1 + slack) + missing + _LEAST

    def log_density(self, x: Array) -> Array:
        """Natural logarithm of the density at x, in floats; where to put cells, no more."""
        counts, _, weight, _ = self.components
        z = (x[:, None] - self.move * counts[None, :]) / self.std
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(np.log(weight) - z**2 / 2, axis=1))


@dataclass(frozen=True)
class MixedLaw(BinomialLaw):
    """Base of mixtures whose components are others than binomial ones; ``noise`` is that of all steps together."""

    ulps: ClassVar[float] = 32.0

    @property
    def std(self) -> float:
        return self.noise


def affine_law(c: arb, steps: int, s: arb, sigma: arb) -> tuple[arb, arb]:
    """Gap of the means and common variance after ``steps`` updates x -> c x +- s/2 + N(0, sigma^2).

    Gap s (1 + c + ... + c^(T-1)), variance sigma^2 (1 + c^2 + ... + c^(2T-2)); lengths and squared lengths.

    >>> gap, variance = affine_law(arb(1), 3, arb(2), arb(1))
    >>> gap == 6 and variance == 3
    True
    """
    return s * (1 + geometric_sum(c, steps - 1)), sigma**2 * (1 + geometric_sum(c * c, steps - 1))


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


def component_below(order: float | None, delta: float | None, law: BinomialLaw, offset: float) -> float:
    """Divergence of a mixture, moved by ``offset``, from N(0, its variance), rounded down, by one component alone.

    The mixture is at least w times its k-th component N, w its weight. So at order alpha the divergence is at least
    that of N and alpha / (alpha - 1) log w, and a hockey stick w times that of N at e^epsilon / w.

    Args:
        order: of the Renyi divergence, or
        delta: of the hockey stick whose epsilon is wanted.
        law: the numerator.
        offset: a length.
    """
    q, k = float(law.rate), np.unique(np.linspace(0, law.steps, _LOOK).round())
    about = gammaln(law.steps + 1) - gammaln(k + 1) - gammaln(law.steps - k + 1)
    about, mu = about + xlogy(k, q) + xlog1py(law.steps - k, -q), np.abs(k * law.move + offset) / law.std
    if order is not None:
        value = order * mu**2 / 2 + order / (order - 1) * about
    else:
        value = about + mu**2 / 2 - mu * ndtri(np.exp(np.minimum(log(delta or 1) - about, -1e-9)))
    best = int(k[value.argmax()])
    steps, rate = arb(law.steps), arb(law.rate.numerator) / law.rate.denominator
    log_weight = (steps + 1).lgamma() - (arb(best) + 1).lgamma() - (steps - best + 1).lgamma() + best * rate.log()
    log_weight += (steps - best) * (1 - rate).log() if best < law.steps else 0
    squared = (best * exact(law.move) + exact(offset)) ** 2 / (steps * exact(law.noise) ** 2)
    if order is not None:
        alpha = exact(order)
        return max(0.0, lower(alpha * squared / 2 + alpha / (alpha - 1) * log_weight))
    left = exact(delta or 0) * (-log_weight).exp()
    if not left < 1:
        return 0.0
    return max(0.0, lower(exact(gaussian_epsilon_below(squared.sqrt(), upper(left))) + log_weight))


def mixture_masses(
    order: float | None, first: BinomialLaw, second: BinomialLaw, offsets: tuple[float, float] = (0.0, 0.0)
) -> tuple[Masses, Masses]:
    """Masses of two mixtures on cells where the divergence of the first from the second is made.

    The iterates of each are moved by its offset, a length; an order of None stands for a hockey stick.
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
