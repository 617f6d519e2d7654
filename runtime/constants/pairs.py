"""Gradient differences of (iterate, drawn point) pairs: one pass that serves every Hölder order.

The table of pairs *is* the measurement. Constants for a list of orders and the measured modulus are read off
it afterwards (`lastiterate.runtime.constants.record`), so no gradient is computed twice.
"""

from enum import StrEnum
from math import log
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.factored_pairs import around_factored
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import Leaves, clip_factor, difference, leaf_norms, norm
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import Stream

SMALLEST_RADIUS: Final = 1e-3
"""The smallest radius of a log-uniform draw, as a share of the radius of the ball."""

FLOOR_ULPS: Final = 32.0
"""Rounding error assumed of a gradient, in units of the eps of its passes times the largest per-sample norm."""

_Rows = tuple[Tensor, dict[Kind, Tensor], Tensor, dict[Kind, Tensor]]
"""Distances, differences, floors and blocks of some pairs, as `_around` has them."""

_PER_SAMPLE: Final = (Kind.SAMPLE, Kind.SAMPLE_CLIPPED)
_PER_BATCH: Final = (Kind.BATCH, Kind.BATCH_CLIPPED)
"""The kinds of either sort, unclipped and clipped."""


class Draw(StrEnum):
    """Distribution of the points in the ball.

    ``UNIFORM`` is appendix A.13's draw. In many dimensions it puts nearly every point at the boundary (the
    median of |u| is 2^(-1/d), 0.9987 of the radius for d = 515), so it says nothing about short distances.
    ``LOG_UNIFORM`` draws the direction uniformly and the logarithm of the radius uniformly over three
    decades, so that a measured modulus has support at short distances too.
    """

    UNIFORM = "uniform"
    LOG_UNIFORM = "log-uniform"


def ball_points(count: int, radius: float, draw: Draw, generator: Stream, like: Tensor) -> Tensor:
    """Points of the ball of this radius (a length) around the origin, on the device of ``like`` and in its type.

    Each is a row of the stream, two numbers longer than a point: so many points at once are those drawn one by one.

    Args:
        count: number of points.
        radius: of the ball, a length.
        draw: the distribution.
        generator: where the points are drawn from.
        like: shape (dimension,), for example the centre of the ball.

    Returns:
        Shape (count, dimension).
    """
    drawn = generator.normals(count, 2 + len(like), like)
    exact = like.dtype if like.device.type == "mps" else torch.float64  # mps has no other
    directions, rest = drawn[:, :-2], drawn[:, -2:].to(exact)
    uniform = torch.exp(rest.square().sum(dim=1, keepdim=True) / -2)  # so is the law of exp(-|z|^2 / 2) for two numbers
    shares = uniform ** (1.0 / len(like)) if draw is Draw.UNIFORM else torch.exp(uniform * log(SMALLEST_RADIUS))
    lengths = torch.linalg.vector_norm(directions, dim=1, keepdim=True, dtype=exact)
    return directions.mul_((shares * radius / lengths).to(directions))


class Around(NamedTuple):
    """Points drawn around a center: how many, in a ball of which radius (a length), and how."""

    points: int
    radius: float
    draw: Draw = Draw.UNIFORM


def measure_pairs(
    gradients: Gradients, centers: Tensor, clip_norm: float, drawn: Around, generator: Stream
) -> PairTable:
    """Draw points around every center and measure how the gradients change.

    Args:
        gradients: per-sample gradients of the workload.
        centers: shape (centers, dimension).
        clip_norm: clip norm K of the two clipped kinds, a gradient.
        drawn: the points.
        generator: where the points are drawn from, those of each center from a part of its own.

    Raises:
        InputError: a gradient that is not finite.
    """
    tables = [measure_center(gradients, at, clip_norm, drawn, generator.part(k)) for k, at in enumerate(centers)]
    return PairTable.join(tables)


@torch.no_grad()
def measure_center(
    gradients: Gradients, center: Tensor, clip_norm: float, drawn: Around, generator: Stream
) -> PairTable:
    """The pairs of one center, of shape (dimension,); else as `measure_pairs`.

    Raises:
        InputError: a gradient that is not finite.
    """
    rows: list[_Rows] = []
    points, radius, draw = drawn
    for group in gradients.point_groups(points):
        away = ball_points(group.stop - group.start, radius, draw, generator, center)
        rows.append(_around(gradients, center, away.add_(center), clip_norm))
    table = _table(rows)
    if not np.isfinite(table.floors).all():
        raise InputError(
            f"Gradients must be finite in the balls, got nan or inf with radius={radius:g}; lower the radius."
        )
    return table


@torch.no_grad()
def measure_between(gradients: Gradients, one: Tensor, other: Tensor, clip_norm: float) -> PairTable:
    """The one pair of these two points, each of shape (dimension,), as `measure_pairs` has those of drawn points.

    Raises:
        InputError: a gradient that is not finite.
    """
    table = _table([_around(gradients, one, other[None], clip_norm)])
    if not np.isfinite(table.floors).all():
        raise InputError("Gradients must be finite, got nan or inf at one of two points; take others.")
    return table


def _table(rows: list[_Rows]) -> PairTable:
    together = [torch.stack([far, floor, *(d[k] for k in Kind), *(b for k in Kind for b in blocks[k])])
                for far, d, floor, blocks in rows]  # fmt: skip
    values = torch.cat(together, dim=1).cpu().double().numpy()  # in this order: mps knows no float64
    kinds, blocks = len(Kind), np.split(values[2 + len(Kind) :], len(Kind))
    return PairTable(
        values[0],
        dict(zip(Kind, values[2 : 2 + kinds], strict=True)),
        values[1],
        {kind: own.T for kind, own in zip(Kind, blocks, strict=True)},
    )


def _around(gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float) -> _Rows:
    """Distances, differences and floors of the pairs (center, point), of shape (points,); blocks (layers, points)."""
    center, around = gradients.representable(center), gradients.representable(around)
    apart = torch.linalg.vector_norm(around - center, dim=1)
    way = _in_full if gradients.factored is None else around_factored
    norms, found, off = way(gradients, center, around, clip_norm)
    floors = FLOOR_ULPS * torch.finfo(gradients.computed).eps * norms + off
    return apart, {kind: rows[0] for kind, rows in found.items()}, floors, {k: rows[1:] for k, rows in found.items()}


def _in_full(
    gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor], Tensor]:
    """Compute what `around_factored` does, from gradients made in full: nothing is off but by their rounding.

    The gradients at the center are computed once for all these points.
    """
    norms = torch.zeros(len(around), dtype=gradients.dtype, device=gradients.device)
    largest = {kind: norms.new_zeros(1 + len(gradients.layers), len(around)) for kind in _PER_SAMPLE}
    totals = {kind: tuple(norms.new_zeros(len(around), size) for size in gradients.sizes) for kind in _PER_BATCH}
    for chunk in gradients.sample_chunks():
        rows, targets = (held[chunk] for held in gradients.rows())
        here: Leaves | None = None
        for part in gradients.point_chunks(len(around)):
            points = around[part]
            if gradients.little(len(rows) * (1 + len(points))):
                compared = gradients.replayed(_compared_at_once, len(rows))
                longest, worst, sums = compared(center, points, rows, targets, clip_norm)
            else:
                here = gradients.of_rows(center[None], rows, targets) if here is None else here
                longest, worst, sums = _compared(gradients, here, points, rows, targets, clip_norm, look=True)
            norms[part] = torch.maximum(norms[part], longest)
            for kind, values in worst.items():
                largest[kind][:, part] = torch.maximum(largest[kind][:, part], values)
            for kind, changes in sums.items():
                for total, change in zip(totals[kind], changes, strict=True):
                    total[part] += change
    batch = {
        kind: _whole_and_layers(gradients, tuple(leaf[:, None] for leaf in leaves))[:, :, 0] / gradients.samples
        for kind, leaves in totals.items()
    }
    return norms, largest | batch, torch.zeros_like(norms)


_Compared = tuple[Tensor, dict[Kind, Tensor], dict[Kind, Leaves]]
"""Sums of the greatest |g(x)| and |g(y)|, shape (points,); greatest changes of a sample, (1 + layers, points); sums of
the changes over the samples, leaves of shape (points, size of the parameter)."""


def _compared_at_once(
    gradients: Gradients, center: Tensor, points: Tensor, rows: Tensor, targets: Tensor, clip_norm: float
) -> _Compared:
    """Compare the gradients of some rows at the center and at some points, and look at nothing on the way."""
    here = gradients.of_rows(center[None], rows, targets)
    return _compared(gradients, here, points, rows, targets, clip_norm, look=False)


def _compared(
    gradients: Gradients, here: Leaves, points: Tensor, rows: Tensor, targets: Tensor, clip_norm: float, *, look: bool
) -> _Compared:
    """Compare gradients at the center with those at some points.

    With ``look`` it is looked at whether clipping acts: where it does not, half of the work is known.
    """
    there = gradients.of_rows(points, rows, targets)
    norm_here, norm_there = norm(here), norm(there)
    longest = norm_here.amax(dim=1) + norm_there.amax(dim=1)
    scale = (clip_factor(norm_there, clip_norm), clip_factor(norm_here, clip_norm))
    acts = not look or bool((scale[0] < 1).any() | (scale[1] < 1).any())

    def found(scale: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Leaves]:
        change = difference(there, here, scale)  # a large network has no room for those of both kinds
        return _whole_and_layers(gradients, change).amax(dim=2), tuple(leaf.sum(dim=1) for leaf in change)

    plain = found(None)
    clipped = found(scale) if acts else plain
    worst = dict(zip(_PER_SAMPLE, (plain[0], clipped[0]), strict=True))
    return longest, worst, dict(zip(_PER_BATCH, (plain[1], clipped[1]), strict=True))


def _whole_and_layers(gradients: Gradients, leaves: Leaves) -> Tensor:
    """Norm of the whole, then of every layer's block, shape (1 + layers, points, samples)."""
    norms = leaf_norms(leaves)
    blocks = [torch.stack([norms[k] for k in chosen]) for chosen in gradients.layers.values()]
    return torch.stack([torch.linalg.vector_norm(part, dim=0) for part in (norms, *blocks)])
