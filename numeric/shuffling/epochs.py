"""Epochs of shuffled batches: what an update makes of a distance, and the costs of all orders in one number."""

from dataclasses import dataclass
from math import inf

import numpy as np

from lastiterate.numeric.arrays import Array

_EPS = float(np.finfo(float).eps)
_UP = 1 + 1e-11


@dataclass(frozen=True)
class Orders:
    """Choices of a bound that pools all orders, which its certificate needs.

    Attributes:
        kappa: alpha (alpha - 1) / 2 for the mean over orders, None for the worst order.
        cost: the pooled cost, rounded up.
        cells: of the table of costs, where there is one.
    """

    kappa: float | None
    cost: float
    cells: int


def pool(values: Array, kappa: float | None, weights: Array | None = None) -> Array:
    """The greatest of the rows, or log mean exp (kappa x) / kappa of them; rounded up.

    Args:
        values: shape (k, ...), costs of k cases, at least 0.
        kappa: above 0, or None for the greatest.
        weights: shape (k,), the chances of the cases; None for equal ones.
    """
    top = values.max(axis=0)
    if kappa is None:
        return np.asarray(top)
    count = len(values)
    chance = np.full(count, 1 / count) if weights is None else weights
    with np.errstate(invalid="ignore"):
        below = np.where(np.isfinite(values), kappa * (values - top), -inf)
    column = chance.reshape(-1, *([1] * (values.ndim - 1)))
    # Of 1 - q and q, q = 1 - mean of exp: the one that is not close to 0 is what floats know well.
    q = -np.sum(column * np.expm1(below), axis=0)
    far = np.sum(column * np.exp(below), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(q < 0.5, np.log1p(-np.minimum(q, 0.75)), np.log(far))
        slack = 8 * (count + 64) * _EPS * np.minimum(q, 1.0)
        mean = top + (part + slack) / kappa
    return np.asarray(np.where(np.isfinite(top), np.minimum(mean + 4e-16 * top, top), top))


@dataclass(frozen=True)
class PowerDrift:
    """g(z) = z + min(weight z^order, cap), 0 < order <= 1, distances in units of the noise."""

    weight: float
    order: float
    cap: float = inf

    def value(self, x: Array) -> Array:
        """g(x), elementwise."""
        return np.asarray(x + np.minimum(self.weight * x**self.order, self.cap))

    def inverse(self, y: Array) -> Array:
        """h(y), rounded down: g(h(y)) <= y."""
        if self.weight == inf:
            x = np.zeros_like(y)
        elif self.order == 1 or self.weight == 0:
            x = y / (1 + self.weight * (self.order == 1))
        else:  # Newton's method on a concave function, from below
            with np.errstate(over="ignore"):  # then y / 2 is the smaller
                x = np.minimum(y / 2, (y / (2 * self.weight)) ** (1 / self.order))
                x = np.maximum(x, y - self.weight * y**self.order)
            for _ in range(60):
                step = (y - x - self.weight * x**self.order) / (1 + self._steepness(x))
                x = x + np.where(x > 0, step, 0.0)
                if np.all(step <= 1e-15 * x):
                    break
        x = x * max(1 - 2e-14 / self.order, 0.0)
        if self.weight < inf:
            x = np.where(self.value(x) * (1 + 1e-14) <= y, x, 0.0)
        return np.asarray(np.maximum(x, (y - self.cap) * (1 - 1e-15)))

    def slope(self, x: Array) -> Array:
        """g'(x) where x > 0; 1 at 0, where a path has nothing left to hide."""
        if self.weight == inf:
            return np.ones_like(x)
        free = (x > 0) & (self.weight * x**self.order < self.cap)
        return np.where(free, 1 + self._steepness(x), 1.0)

    def _steepness(self, x: Array) -> Array:
        safe = np.where(x > 0, x, 1.0)
        with np.errstate(over="ignore"):  # as steep as it gets
            return np.asarray(self.weight * self.order * safe ** (self.order - 1))


@dataclass(frozen=True)
class Epochs:
    """A shuffled run: ``steps`` updates, ``batches`` an epoch, sensitivity s and diameter in units of the noise."""

    steps: int
    batches: int
    s: float
    diameter: float

    def composition(self, kappa: float | None) -> float:
        """Cost of hiding each participation by itself; the last epoch may end before it."""
        whole, rest = divmod(self.steps, self.batches)
        one = self.s**2
        if not rest:
            return whole * one * _UP
        shares = np.array([1 - rest / self.batches, rest / self.batches])
        return (whole * one + float(pool(np.array([[0.0], [one]]), kappa, shares)[0])) * _UP
