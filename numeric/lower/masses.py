"""Lower bounds on divergences from the masses of two laws on finitely many cells.

The divergence between two laws is at least the divergence between their masses on disjoint cells (data
processing). If a mass is only known to lie in an interval, the value that gives the smallest divergence is
used. Logarithms preserve deep tails; `ROUNDING` times the size of a logarithm covers floating-point errors.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from flint import arb
from scipy.special import logsumexp

from lastiterate.numeric.accounting.conversion import gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, lower

ROUNDING = 4e-15


@dataclass(frozen=True, eq=False)
class Masses:
    """Enclosures of the masses of disjoint cells: natural logarithms of both ends, shape (cells,), -inf for 0."""

    low: Array
    high: Array

    @classmethod
    def between(cls, low: Array, high: Array) -> "Masses":
        """Enclosures from bounds on the masses; negative lower bounds become 0."""
        with np.errstate(divide="ignore"):
            return cls(np.log(np.maximum(low, 0.0)), np.log(high))


def renyi_below(order: float, first: Masses, second: Masses) -> float:
    """A lower bound on D_order(first || second), at least 0.

    With masses p and q, this is the maximum of log(sum p^order q^(1 - order)) / (order - 1) and the
    Kullback-Leibler divergence. The latter does not lose accuracy as the order tends to 1.

    >>> coins = [Masses.between(np.array([p, 1 - p]), np.array([p, 1 - p])) for p in (0.75, 0.5)]
    >>> round(renyi_below(2.0, *coins), 6)  # log(2 (9/16 + 1/16))
    0.223144
    """
    kept = np.isfinite(first.low)
    if not kept.any():
        return 0.0
    up, down = order * first.low[kept], (order - 1) * second.high[kept]
    total = float(np.asarray(logsumexp(up - down - ROUNDING * (np.abs(up) + np.abs(down) + 1))))
    return max(0.0, (total - ROUNDING * (abs(total) + len(up))) / (order - 1), _kullback_leibler(first, second))


def _kullback_leibler(first: Masses, second: Masses) -> float:
    """Lower bound on the sum of p log(p / q); 0 if more than 1e-3 of the first law's mass is missing."""
    p_low, p_high, q = np.exp(first.low), np.exp(first.high), np.exp(second.high)
    missing = 1 - float(p_low.sum())
    if missing > 1e-3 or not np.all(q > 0):
        return 0.0
    # p log(p / q) decreases up to p = q / e and then increases; for the missing mass of p, q is at most 1.
    least = np.clip(q / np.e, p_low, p_high)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(least > 0, least * (np.log(least) - second.high), 0.0)
    rest = missing * log(missing) if missing > 0 else 0.0
    return float(terms.sum() + rest - ROUNDING * (np.abs(terms).sum() + len(terms) * 1e-2))


def epsilon_below(delta: float, first: Masses, second: Masses) -> float:
    """Epsilon, rounded down, for which a set S of cells has first(S) > e^epsilon second(S) + delta; 0 if none.

    >>> first = Masses.between(np.array([0.75]), np.array([0.75]))
    >>> second = Masses.between(np.array([0.25]), np.array([0.25]))
    >>> round(epsilon_below(0.25, first, second), 6)  # log(2)
    0.693147
    """
    kept = np.isfinite(first.low)
    p, ratio = np.exp(first.low[kept]), first.low[kept] - second.high[kept]
    size = np.abs(first.low[kept]) + np.abs(second.high[kept])

    def fails(epsilon: float) -> bool:
        gain = ratio - epsilon - ROUNDING * (size + epsilon + 1)
        inside = gain > 0
        return float(np.sum(p[inside] * -np.expm1(-gain[inside]))) * (1 - 1e-12) > delta

    if not kept.any() or not fails(0.0):
        return 0.0
    low, high = 0.0, float(ratio.max()) + 1e-9
    for _ in range(60):
        if not low < (middle := (low + high) / 2) < high:
            break
        low, high = (middle, high) if fails(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Target:
    """Quantity to bound from below: a Renyi divergence at ``order``, or epsilon at ``delta``; one of these is None."""

    order: float | None
    delta: float | None

    def gaussian(self, squared: arb) -> float:
        """Value for N(mu, 1) and N(0, 1) with mu^2 = ``squared``, rounded down."""
        if self.order is not None:
            return lower(exact(self.order) * squared / 2)
        return gdp_epsilon_below(max(lower(squared.sqrt()), 0.0), float(self.delta or 0))

    def of_masses(self, first: Masses, second: Masses) -> float:
        """Larger value of the two directions, rounded down, for laws with these masses."""
        pairs = ((first, second), (second, first))
        if self.order is not None:
            return max(renyi_below(self.order, *pair) for pair in pairs)
        return max(epsilon_below(float(self.delta or 0), *pair) for pair in pairs)
