"""Costs of the orders of shuffled batches in one number: the greatest, or log mean exp (kappa x) / kappa."""

from dataclasses import dataclass
from math import inf

import numpy as np

from lastiterate.numeric.arrays import Array

_EPS = float(np.finfo(float).eps)


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
