"""Wasserstein distances between two clouds of equally many points.

Between uniform laws on m points each, an optimal coupling is a matching: W_2 is an assignment problem, W_infinity a
bottleneck matching. Both are exact for the clouds. As estimates of the distance of the laws that the clouds are drawn
from they are biased upwards, and far so in many dimensions; the distance of *coupled* runs is the better estimate, and
limits with a confidence are in `lastiterate.runtime.coupled.intervals`.

Source: Birkhoff 1946.
"""

from math import sqrt

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError


def wasserstein_2(left: Array, right: Array) -> float:
    """W_2 of the uniform laws on two clouds of shape (points, dimension), a length. Exact up to rounding.

    >>> wasserstein_2(np.array([[0.0], [1.0]]), np.array([[1.5], [0.5]]))
    0.5
    """
    return _root_mean(_distances(left, right) ** 2)


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


def _root_mean(squares: Array) -> float:
    from scipy.optimize import linear_sum_assignment

    return sqrt(float(squares[linear_sum_assignment(squares)].mean()))


def _distances(left: Array, right: Array) -> Array:
    from scipy.spatial.distance import cdist

    if left.ndim != 2 or left.shape != right.shape or not len(left):
        raise InputError(
            "Two clouds need one shape (points, dimension) with at least one point, got "
            f"left.shape={left.shape}, right.shape={right.shape}; run as many of the one as of the other."
        )
    return np.asarray(cdist(left, right), dtype=np.float64)
