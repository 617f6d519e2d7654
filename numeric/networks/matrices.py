"""Upper bounds on norms of matrices in float64, which include all rounding errors.

A product A B with n terms per entry, computed in floating point in any order, fused or not, has an entrywise
error of at most n u / (1 - n u) |A| |B|, where u = 2^-53. The errors of sums, scaled entries and norms of vectors
have similar bounds. 1e-290 covers underflow, which is less than 2^-1022 per entry and operation.

Source: Higham 2002, section 3.5; docs/proofs/network_constants.md, "Rounding".
"""

from math import inf
from typing import Final

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, upper

_U: Final = 2.0**-53
TINY: Final = 1e-290
"""Bound on the underflow error of each operation."""


def round_up(values: Array, operations: int) -> Array:
    """Upper bounds on the exact results of this many operations (+, *, /, sqrt) on nonnegative numbers."""
    above: Array = values * (1.0 + 4.0 * (operations + 4) * _U) + TINY
    return above


def spectral_norm(matrix: Array) -> arb:
    """Upper bound on the spectral norm of a matrix, shape (rows, columns), usually tight up to rounding."""
    return exact(float(spectral_norms(matrix[None])[0]))


def spectral_norms(matrices: Array) -> Array:
    """Upper bounds on the spectral norms of matrices, shape (several, rows, columns).

    For every square V, |A|^2 <= |A V|^2 / (1 - |I - V^T V|), and |A V|^2 is at most the largest absolute row
    sum of (A V)^T (A V). V holds the computed right singular vectors; their errors only loosen the bound.
    """
    rows, columns = matrices.shape[1:]
    largest = np.abs(matrices).max(axis=(1, 2), initial=0.0)
    scale = np.ldexp(1.0, np.frexp(largest)[1])
    with np.errstate(all="ignore"):
        scaled = matrices / scale[:, None, None]
        norms = np.sqrt(round_up((scaled * scaled).sum(axis=(1, 2)), rows * columns + 4))
        if min(rows, columns) > 1 and np.isfinite(norms).all():
            tall = scaled if rows >= columns else scaled.swapaxes(1, 2)
            norms = np.fmin(norms, _turned(tall, norms**2))
        return np.where(largest > 0, round_up(norms * scale, 8), largest)


def _turned(tall: Array, squares: Array) -> Array:
    """The bounds of `spectral_norms` on matrices of these squared Frobenius norms; inf or nan if there are none."""
    rows, columns = tall.shape[1:]
    try:
        V: Array = np.linalg.eigh(tall.swapaxes(1, 2) @ tall)[1]
    except np.linalg.LinAlgError:
        return np.full(len(tall), inf)
    sizes, turned = (V * V).sum(axis=(1, 2)), tall @ V
    # Errors are at most 2 (rows + 2 columns) u |A|^2 |V|^2 in the first and 2 (columns + 1) u (|V|^2 + columns) in the
    # second, in Frobenius norms; twice that is added, because the norms are computed as well.
    gram = _row_sums(turned.swapaxes(1, 2) @ turned) + 4 * (rows + 2 * columns) * _U * squares * sizes
    skew = _row_sums(V.swapaxes(1, 2) @ V - np.eye(columns)) + 4 * (columns + 1) * _U * (sizes + columns)
    found: Array = np.sqrt(round_up(gram, 8) / np.maximum(1 - round_up(skew, 8), 0.0))
    return found


def _row_sums(matrices: Array) -> Array:
    """Upper bounds on the spectral norms of symmetric matrices: the largest absolute row sums."""
    return round_up(np.abs(matrices).sum(axis=2).max(axis=1), matrices.shape[1])


def as_float(ball: arb) -> float:
    """Upper bound on a ball, at most the largest float if the ball is finite; nan becomes infinite."""
    found = upper(ball)
    return found if found == found else inf
