"""Last iterates of linear losses under random batches: their laws, and their divergences from below.

Setting      The sample that differs has a constant gradient, every other sample has gradient zero, and there is no
             projection. If a batch holds the sample with chance q, independently in every step, then after T steps
             W_T - W_0 = k move + N(0, T sigma^2), k ~ Binomial(T, q), |move| = eta K / b. That is batches drawn without
             replacement, and Poisson batches with the normaliser b.
Direction    A divergence is at least that of the masses of finitely many cells (data processing). A mass of the
             numerator is rounded down, one of the denominator up; components left out are lost to the numerator and
             are added to every cell of the denominator.
Floats       scipy's ``ndtr`` is taken to be within 1e-12 of the normal tail, relatively, in its lower half. Its
             argument is moved outwards by its own rounding; weights are balls.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from lastiterate.numeric.rounding import lower, precision, upper

__all__ = ["BinomialLaw"]

Array = NDArray[np.float64]

_TAIL = 1e-12
_UNIT = 2.0**-52
_LEAST = 1e-300
_MOST = 4096
_CELLS = 384


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
        blur = 4 * _UNIT * (np.abs(z) + (np.abs(edges)[:, None] + np.abs(centre)[None, :]) / self.std)
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
