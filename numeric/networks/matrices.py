"""Balls of matrices and vectors around a centre in float64, whose radii include all rounding errors.

A product A B with n terms per entry, computed in floating point in any order, fused or not, has an entrywise
error of at most gamma_n |A| |B|, where gamma_n = n u / (1 - n u) and u = 2^-53. The errors of sums, scaled
entries and norms of vectors have similar bounds. 1e-290 covers underflow, which is less than 2^-1022 per
entry and operation.

Source: Higham 2002, section 3.5; docs/proofs/network_constants.md, "Rounding".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Final

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, upper

_U: Final = 2.0**-53
TINY: Final = 1e-290
"""Bound on the underflow error of each operation."""


def gamma(operations: int) -> arb:
    """Bound n u / (1 - n u) on the relative error of n = ``operations`` roundings."""
    share = operations * exact(_U)
    return share / (1 - share)


def round_up(values: Array, operations: int) -> Array:
    """Upper bounds on the exact results of this many operations (+, *, /, sqrt) on nonnegative numbers."""
    above: Array = values * (1.0 + 4.0 * (operations + 4) * _U) + TINY
    return above


def length(values: Array) -> arb:
    """Tight upper bound on the Euclidean norm of all entries (the Frobenius norm of a matrix)."""
    largest = float(np.abs(values).max(initial=0.0))
    if not isfinite(largest):
        return arb("inf")
    if largest == 0.0:
        return arb(0)
    scaled = values / largest
    root = float(round_up(np.sqrt(np.sum(scaled * scaled)), values.size + 4))
    return exact(root) * exact(largest) * (1 + gamma(4))


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


def row_lengths(matrix: Array) -> Array:
    """Upper bounds on the Euclidean norms of the rows, shape (rows,)."""
    return round_up(np.sqrt((matrix * matrix).sum(axis=1)), matrix.shape[1] + 2) + 1e-150


@dataclass(frozen=True)
class Slopes:
    """Diagonal matrices whose entry i lies within ``spread[i]`` of ``middle[i]``; shapes (width,)."""

    middle: Array
    spread: Array

    @cached_property
    def above(self) -> Array:
        """Upper bounds on the absolute values of the entries."""
        return round_up(np.abs(self.middle) + self.spread, 1)

    @cached_property
    def largest(self) -> arb:
        """Upper bound on the spectral norm."""
        return exact(float(self.above.max(initial=0.0)))

    def times(self, at: Array, off: "Spread") -> "Slopes":
        """Products of these matrices with the diagonal matrices within ``off`` of ``at``."""
        middle = at * self.middle
        spread = np.abs(at) * self.spread + off.each * self.above + np.abs(middle) * 2.0**-52
        return Slopes(middle, round_up(spread, 4))


@dataclass(frozen=True)
class MatrixBall:
    """All matrices within ``radius`` of ``center``, shape (rows, columns), in the spectral norm."""

    center: Array
    radius: arb

    @cached_property
    def center_norm(self) -> arb:
        """Upper bound on the spectral norm of the centre."""
        return spectral_norm(self.center)

    @cached_property
    def norm(self) -> arb:
        """Upper bound on the spectral norms in the ball."""
        return self.center_norm + self.radius

    @cached_property
    def turned(self) -> "MatrixBall":
        """The transposed matrices."""
        return MatrixBall(np.ascontiguousarray(self.center.T), self.radius)

    def times(self, other: "MatrixBall") -> "MatrixBall":
        """A ball that contains the products of all matrices of this ball and ``other``."""
        off = gamma(self.center.shape[1]) * length(self.center) * length(other.center)
        spread = self.center_norm * other.radius + self.radius * other.norm
        return MatrixBall(self.center @ other.center, spread + off + exact(TINY))

    def after(self, slopes: Slopes) -> "MatrixBall":
        """A ball that contains D A for all D in ``slopes`` and A in this ball."""
        product, spread = slopes.middle[:, None] * self.center, slopes.spread[:, None] * self.center
        return MatrixBall(product, self._scaled(product, spread, slopes))

    def before(self, slopes: Slopes) -> "MatrixBall":
        """A ball that contains A D for all D in ``slopes`` and A in this ball."""
        product, spread = self.center * slopes.middle, self.center * slopes.spread
        return MatrixBall(product, self._scaled(product, spread, slopes))

    def plus(self, other: "MatrixBall") -> "MatrixBall":
        """A ball that contains the sums of all matrices of this ball and ``other``."""
        total = self.center + other.center
        return MatrixBall(total, self.radius + other.radius + gamma(2) * length(total) + exact(TINY))

    def _scaled(self, product: Array, spread: Array, slopes: Slopes) -> arb:
        off = gamma(2) * (length(product) + length(spread)) + exact(TINY)
        return slopes.largest * self.radius + spectral_norm(spread) + off


def identity(width: int) -> MatrixBall:
    """The identity, as a ball of radius zero."""
    return MatrixBall(np.eye(width), arb(0))


def as_float(ball: arb) -> float:
    """Upper bound on a ball, at most the largest float if the ball is finite; nan becomes infinite."""
    found = upper(ball)
    return found if found == found else inf


@dataclass(frozen=True)
class Spread:
    """Largest distance of a vector from its centre: in ``each`` entry, shape (width,), and in ``total`` length."""

    each: Array
    total: arb

    def plus(self, other: "Spread") -> "Spread":
        """Spread of the sum of two vectors."""
        return Spread(round_up(self.each + other.each, 1), self.total + other.total)

    def least(self, other: "Spread") -> "Spread":
        """The smaller spread, entrywise and in total."""
        each = np.minimum(self.each, other.each)
        total = self.total.min(other.total).min(length(each))
        return Spread(np.minimum(each, as_float(total)), exact(as_float(total)))

    def stretched(self, slopes: Slopes) -> "Spread":
        """Spread of the image under a map whose derivative lies in ``slopes`` at every possible vector."""
        each = round_up(slopes.above * self.each, 1)
        return Spread(each, (self.total * slopes.largest).min(length(each)))


def box(each: Array) -> Spread:
    """Spread of a vector with bounds on its entries only."""
    return Spread(each, length(each))


def parameter_spread(radius: arb, blocks: Iterable[tuple[MatrixBall, arb]], width: int) -> Spread:
    """Spread of a vector that depends on the parameters: the radius times a bound on its derivative.

    If the part of a direction in layer l has length v_l, the derivative is a sum of S z, |z| <= s v_l, over
    the pairs (S, s) in ``blocks``.
    """
    rows, squares, sizes = np.zeros(width), arb(0), list(blocks)
    for matrix, size in sizes:
        rows = rows + ((row_lengths(matrix.center) + as_float(matrix.radius)) * as_float(size)) ** 2
        squares += (matrix.norm * size) ** 2
    each = round_up(np.sqrt(rows) * as_float(radius), 2 * len(sizes) + 8)
    total = squares.sqrt() * radius
    return Spread(np.minimum(each, as_float(total)), total.min(length(each)))


def total_norm(blocks: Iterable[tuple[MatrixBall, arb]]) -> arb:
    """Upper bound on the spectral norm of the Jacobian (s_1 S_1, s_2 S_2, ...) for all S in the balls."""
    parts, radii, each = [], arb(0), arb(0)
    for matrix, size in blocks:
        parts.append(matrix.center * as_float(size))
        radii += (matrix.radius * size) ** 2
        each += (matrix.norm * size) ** 2
    if not parts:
        return arb(0)
    stacked = np.concatenate(parts, axis=1)
    # Sizes may be rounded up: the norm, |sum of s^2 S S^T|^(1/2), increases in each of them.
    together = spectral_norm(stacked) + exact(2.0**-52) * length(stacked) + radii.sqrt()
    return together.min(each.sqrt())
