"""W_2 and W_infinity of the laws of two last iterates: intervals from coupled pairs, and matchings of two clouds.

W_2^2 is at most the mean of |X - Y|^2 over the pairs, with Student's upper limit, asymptotic in their number; of
W_infinity the greatest of M distances is an upper limit with confidence c after a share 1 - (1 - c)^(1/M) of the mass
is left out. Both are at least <E X - E Y, u>, u the direction of the mean of the first half of the pairs, whose lower
limit is Student's for the other half. Between uniform laws on m points each, W_2 is an assignment problem and
W_infinity a bottleneck matching (Birkhoff 1946), both exact for the clouds.

Source: docs/proofs/lower_bounds.md; Wilks 1941 for the share; Villani 2009, chapter 6, for the chain of distances.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance
from lastiterate.runtime.coupled.runs import CoupledRuns


@dataclass(frozen=True)
class DriftInterval:
    """Limits of the distance of two laws, all at once with confidence ``level``. Direction: statistical.

    Attributes:
        low: of W_2 and of W_infinity, a length; asymptotic in the number of pairs.
        w2_high: of W_2, a length; asymptotic in the number of pairs.
        w_infinity_high: of W_infinity after ``share`` of the mass is left out, a length; for any number of pairs.
        share: the mass that may be left out, in (0, 1).
        level: confidence.
    """

    low: float
    w2_high: float
    w_infinity_high: float
    share: float
    level: float


def drift_interval(coupled: CoupledRuns, *, level: float = 0.95) -> DriftInterval:
    """Limits for the laws of the two last iterates, from at least 4 pairs; a third of the doubt goes to each.

    Raises:
        InputError: too few pairs, or a level out of its range.
    """
    doubt = (1 - chance("level", level)) / 3
    lengths = coupled.distances[-1]
    if len(lengths) < 4:
        raise InputError(f"An interval needs at least 4 pairs, got pairs={len(lengths)}; run more.")
    apart = coupled.last - coupled.last_adjacent
    half = len(apart) // 2
    mean = apart[:half].mean(axis=0)
    length = float(np.linalg.norm(mean))
    low = _limit(apart[half:] @ (mean / length), -1, doubt) if length > 0 else 0.0
    return DriftInterval(
        low=max(0.0, low),
        w2_high=sqrt(max(0.0, _limit(lengths**2, +1, doubt))),
        w_infinity_high=float(lengths.max()),
        share=-float(np.expm1(np.log(doubt) / len(lengths))),
        level=level,
    )


def _limit(values: Array, sign: int, doubt: float) -> float:
    """Student's limit of a mean, above it or below."""
    from scipy.stats import t

    count = len(values)
    if count < 2:
        return sign * inf
    return float(values.mean() + sign * t.isf(doubt, count - 1) * values.std(ddof=1) / sqrt(count))


def wasserstein_2(left: Array, right: Array) -> float:
    """W_2 of the uniform laws on two clouds of shape (points, dimension), a length. Exact up to rounding.

    >>> wasserstein_2(np.array([[0.0], [1.0]]), np.array([[1.5], [0.5]]))
    0.5
    """
    from scipy.optimize import linear_sum_assignment

    squares = _distances(left, right) ** 2
    return sqrt(float(squares[linear_sum_assignment(squares)].mean()))


def wasserstein_infinity(left: Array, right: Array) -> float:
    """W_infinity of the uniform laws on two clouds of shape (points, dimension), a length. Exact up to rounding.

    >>> wasserstein_infinity(np.array([[0.0], [1.0]]), np.array([[1.5], [0.0]]))
    0.5
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    distances = _distances(left, right)
    least = max(distances.min(axis=0).max(), distances.min(axis=1).max())  # every point is matched with some other
    most = distances[linear_sum_assignment(distances**2)].max()  # some matching, and often the best
    candidates = np.unique(distances[(distances >= least) & (distances <= most)])
    low, high = 0, len(candidates) - 1
    while low < high:  # the least threshold that leaves a perfect matching
        middle = (low + high) // 2
        matched = maximum_bipartite_matching(csr_array(distances <= candidates[middle]), perm_type="column")
        low, high = (low, middle) if (matched >= 0).all() else (middle + 1, high)
    return float(candidates[low])


def _distances(left: Array, right: Array) -> Array:
    from scipy.spatial.distance import cdist

    if left.ndim != 2 or left.shape != right.shape or not len(left):
        raise InputError(
            "Two clouds need one shape (points, dimension) with at least one point, got "
            f"left.shape={left.shape}, right.shape={right.shape}; run as many of the one as of the other."
        )
    return np.asarray(cdist(left, right), dtype=np.float64)
