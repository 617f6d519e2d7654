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
from lastiterate.runtime.gradients import Gradients, Leaves, clip_factor, difference, leaf_norms, norm
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import Stream

SMALLEST_RADIUS: Final = 1e-3
"""The smallest radius of a log-uniform draw, as a share of the radius of the ball."""

FLOOR_ULPS: Final = 32.0
"""Rounding error assumed of a gradient, in units of the eps of its passes times the largest per-sample norm."""

_Rows = tuple[Tensor, dict[Kind, Tensor], Tensor, dict[Kind, Tensor]]
"""Distances, differences, floors and blocks of some pairs, as `_around` has them."""

_PER_SAMPLE: Final = (Kind.SAMPLE, Kind.SAMPLE_CLIPPED)


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
    totals: dict[Kind, Leaves] = {}
    for chunk in gradients.sample_chunks():
        here = gradients.at(center[None], chunk)
        norm_here = norm(here)
        for part in gradients.point_chunks(len(around)):
            there = gradients.at(around[part], chunk)
            norm_there = norm(there)
            norms[part] = torch.maximum(norms[part], norm_here.amax(dim=1) + norm_there.amax(dim=1))
            scale = (clip_factor(norm_there, clip_norm), clip_factor(norm_here, clip_norm))
            acts = bool((scale[0] < 1).any() | (scale[1] < 1).any())
            change = difference(there, here)
            worst = _whole_and_layers(gradients, change).amax(dim=2)
            for kind, summed in ((Kind.SAMPLE, Kind.BATCH), (Kind.SAMPLE_CLIPPED, Kind.BATCH_CLIPPED)):
                if kind is Kind.SAMPLE_CLIPPED and acts:
                    del change  # a large network has no room for both
                    change = difference(there, here, scale)
                    worst = _whole_and_layers(gradients, change).amax(dim=2)
                largest[kind][:, part] = torch.maximum(largest[kind][:, part], worst)
                _add(totals, summed, change, part, len(around))
    batch = {kind: _whole_and_layers(gradients, leaves)[:, :, 0] / gradients.samples for kind, leaves in totals.items()}
    return norms, largest | batch, torch.zeros_like(norms)


def _whole_and_layers(gradients: Gradients, leaves: Leaves) -> Tensor:
    """Norm of the whole, then of every layer's block, shape (1 + layers, points, samples)."""
    norms = leaf_norms(leaves)
    blocks = [torch.stack([norms[k] for k in chosen]) for chosen in gradients.layers.values()]
    return torch.stack([torch.linalg.vector_norm(part, dim=0) for part in (norms, *blocks)])


def _add(totals: dict[Kind, Leaves], kind: Kind, change: Leaves, part: slice, points: int) -> None:
    """Add the sum over the samples to the totals of some points, leaves of shape (points, 1, size of the parameter)."""
    if kind not in totals:
        totals[kind] = tuple(leaf.new_zeros(points, 1, leaf.shape[2]) for leaf in change)
    for total, leaf in zip(totals[kind], change, strict=True):
        total[part] += leaf.sum(dim=1, keepdim=True)
