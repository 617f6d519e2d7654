"""Rates of wrong answers of a test: upper confidence limits, and what epsilon and mu they need at least.

    epsilon >= max(log((1 - delta - FPR) / FNR), log((1 - delta - FNR) / FPR)),   mu >= -(z(FPR) + z(FNR)),

z the inverse of the standard normal distribution function. Both fall where a rate rises, so that upper limits of the
rates give lower limits.

Source: docs/proofs/lower_bounds.md; Clopper & Pearson 1934; Kairouz, Oh & Viswanath 2015; Dong, Roth & Su 2022.
"""

from math import exp, inf, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array

DOWN: Final = 1 - 1e-12
"""More than the rounding of scipy's inverse functions and of a logarithm."""
_ABSOLUTE: Final = 1e-12
"""The same for differences, which may nearly cancel."""
_BEYOND: Final = 700.0
"""No float is e to a much larger power."""


def at_most(wrong: NDArray[np.int64], runs: int, doubt: float) -> Array:
    """Upper Clopper-Pearson limits of rates, each exceeded with chance ``doubt`` at most; shape of ``wrong``.

    >>> at_most(np.array([0, 10]), 10, 0.5**10).round(3).tolist()
    [0.5, 1.0]
    """
    from scipy.special import betainccinv

    some = np.minimum(wrong, runs - 1)
    return np.where(wrong >= runs, 1.0, np.minimum(betainccinv(some + 1, runs - some, doubt) / DOWN, 1.0))


def epsilon_of_rates(fpr: float, fnr: float, delta: float) -> float:
    """The least epsilon at ``delta`` of laws that a test tells apart with these rates; -inf where any is; not rounded.

    >>> round(epsilon_of_rates(0.1, 0.5, 1e-5), 4)  # log(.5 / .1) and log(.9 / .5)
    1.6094
    """

    def one(first: float, second: float) -> float:
        left = 1 - delta - first
        if left <= 0:
            return -inf
        return inf if second == 0 else log(left / second)

    return max(one(fpr, fnr), one(fnr, fpr))


def mu_of_rates(fpr: float, fnr: float) -> float:
    """The least mu of a Gaussian pair that a test tells apart with these rates; rounded down, at least 0.

    >>> round(mu_of_rates(0.025, 0.025), 3)
    3.92
    """
    from scipy.special import ndtri

    if fpr + fnr >= 1:
        return 0.0
    return max((-float(ndtri(fpr) + ndtri(fnr)) - _ABSOLUTE) * DOWN, 0.0)


def delta_of_rates(fpr: float, fnr: float, epsilon: float) -> float:
    """The least delta at ``epsilon`` of laws that a test tells apart with these rates; rounded down, at least 0.

    >>> round(delta_of_rates(0.1, 0.5, 0.0), 3)
    0.4
    """
    if epsilon > _BEYOND:
        return 0.0
    factor = exp(epsilon) / DOWN
    return max(1 - fnr - factor * fpr - _ABSOLUTE, 1 - fpr - factor * fnr - _ABSOLUTE, 0.0)
