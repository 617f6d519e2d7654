"""Vectors known up to a box and a ball, and the largest value of a nonnegative quadratic form."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from lastiterate.numeric.networks.matrices import (
    Floats,
    MatrixBall,
    Slopes,
    as_float,
    length,
    raised,
    row_lengths,
    spectral_norm,
)
from lastiterate.numeric.rounding import exact


@dataclass(frozen=True)
class Spread:
    """Greatest distance of a vector from its centre: each entry by ``each``, (width,), all together ``total``."""

    each: Floats
    total: arb

    def plus(self, other: "Spread") -> "Spread":
        """Of the sum of two vectors."""
        return Spread(raised(self.each + other.each, 1), self.total + other.total)

    def least(self, other: "Spread") -> "Spread":
        """The lesser of both: entry by entry, and all together."""
        each = np.minimum(self.each, other.each)
        total = self.total.min(other.total).min(length(each))
        return Spread(np.minimum(each, as_float(total)), exact(as_float(total)))

    def stretched(self, slopes: Slopes | MatrixBall) -> "Spread":
        """Of the vector after a map whose derivative is one of these wherever the vector may be."""
        if isinstance(slopes, MatrixBall):
            turned = as_float(slopes.radius * self.total)
            near = raised(np.abs(slopes.center) @ self.each, len(self.each) + 1)
            each = raised(np.minimum(near, row_lengths(slopes.center) * as_float(self.total)) + turned, 3)
            return Spread(each, (slopes.norm * self.total).min(length(each)))
        each = raised(slopes.above * self.each, 1)
        return Spread(each, (self.total * slopes.largest).min(length(each)))


def box(each: Floats) -> Spread:
    """The spread of a vector of which only the entries are bounded."""
    return Spread(each, length(each))


def none(width: int) -> Spread:
    """The spread of a vector that is known."""
    return Spread(np.zeros(width), arb(0))


@dataclass(frozen=True)
class Affine:
    """A layer's affine map a = W h + b, with W within ``radius`` in the spectral norm.

    ``weight`` has shape (outputs, inputs), ``bias`` (outputs,); ``error`` is how far W at the centre may be from
    ``weight``: a rounding of each entry, or 0.
    """

    weight: Floats
    bias: Floats
    radius: arb
    error: arb

    @cached_property
    def still(self) -> MatrixBall:
        """The weights at the centre alone."""
        return MatrixBall(self.weight, self.error)

    @cached_property
    def ball(self) -> MatrixBall:
        """The weights on the ball of the parameters."""
        return MatrixBall(self.weight, self.radius + self.error)

    @cached_property
    def _sizes(self) -> tuple[Floats, Floats]:
        return np.abs(self.weight), row_lengths(self.weight)

    def at(self, center: Floats) -> tuple[Floats, Floats]:
        """The image of a vector at the centre, and at least the rounding error of each of its entries."""
        image = self.weight @ center + self.bias
        size = raised(self._sizes[0] @ np.abs(center) + np.abs(self.bias), self.weight.shape[1] + 2)
        return image, raised(size * ((self.weight.shape[1] + 2) * 2.0**-52), 2)

    def image(self, spread: Spread) -> Spread:
        """The spread of W h at the centre, h being spread."""
        sizes, rows = self._sizes
        columns = self.weight.shape[1]
        each = np.minimum(raised(sizes @ spread.each, columns + 1), raised(rows * as_float(spread.total), 1))
        total = self._norm * spread.total
        return Spread(np.minimum(each, as_float(total)), total.min(length(each)))

    @cached_property
    def _norm(self) -> arb:
        return self.still.norm


def reached(radius: arb, blocks: Iterable[tuple[MatrixBall, arb]], width: int) -> Spread:
    """The spread of a vector that moves with the parameters: the radius times its derivative in them.

    ``blocks`` are pairs (S, s): the derivative along a direction (v_1, v_2, ...) is a sum of terms S z, |z| <= s v.
    """
    rows, squares, sizes = np.zeros(width), arb(0), list(blocks)
    for matrix, size in sizes:
        rows = rows + ((row_lengths(matrix.center) + as_float(matrix.radius)) * as_float(size)) ** 2
        squares += (matrix.norm * size) ** 2
    each = raised(np.sqrt(rows) * as_float(radius), 2 * len(sizes) + 8)
    total = squares.sqrt() * radius
    return Spread(np.minimum(each, as_float(total)), total.min(length(each)))


def largest_form(form: Floats) -> arb:
    """At least the largest eigenvalue of every symmetric matrix whose entries are at most these in absolute value."""
    return spectral_norm(form)


def total_norm(blocks: Iterable[tuple[MatrixBall, arb]]) -> arb:
    """At least the spectral norm of (s_1 S_1, s_2 S_2, ...) for all matrices S of the balls: of a whole Jacobian."""
    parts, radii, each = [], arb(0), arb(0)
    for matrix, size in blocks:
        parts.append(matrix.center * as_float(size))
        radii += (matrix.radius * size) ** 2
        each += (matrix.norm * size) ** 2
    if not parts:
        return arb(0)
    stacked = np.concatenate(parts, axis=1)
    # sizes are floats rounded up: the norm rises with each, since the squares of the blocks add.
    together = spectral_norm(stacked) + exact(2.0**-52) * length(stacked) + radii.sqrt()
    return together.min(each.sqrt())
