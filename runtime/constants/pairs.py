"""Gradient differences of (iterate, drawn point) pairs, in one pass for all Hölder orders.

Gradients of a large network are not formed but compared through factors (`lastiterate.runtime.factors`).
Norms of changes are then roots of inner products in double precision; the possible error of a root
(`lastiterate.runtime.inner_products`) is added to the assumed rounding error of a gradient.
"""

from math import log
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.inner_products import Held, Products, lengths, prepare_factors, products, root
from lastiterate.runtime.leaves import Leaves, clip_factor, difference, leaf_norms, norm
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import Stream

SMALLEST_RADIUS: Final = 1e-3
"""Smallest radius of a log-uniform draw, as a share of the ball's radius."""


_COPIES: Final = 8
"""Largest number of point-shaped tensors held at once."""


def ball_points(count: int, radius: float, draw: Draw, generator: Stream, like: Tensor) -> Tensor:
    """Points drawn from the ball of this radius (a length) around the origin, shape (count, dimension).

    Device and dtype are as for ``like``, whose shape is (dimension,). Each point uses a row of the stream that
    is two numbers longer than the point.
    """
    drawn = generator.normals(count, 2 + len(like), like)
    directions, rest = drawn[:, :-2], drawn[:, -2:].double()
    # exp(-|z|^2 / 2) is uniform for a pair z of normal numbers.
    uniform = torch.exp(rest.square().sum(dim=1, keepdim=True) / -2)
    shares = uniform ** (1.0 / len(like)) if draw is Draw.UNIFORM else torch.exp(uniform * log(SMALLEST_RADIUS))
    lengths = torch.linalg.vector_norm(directions, dim=1, keepdim=True, dtype=torch.float64)
    return directions.mul_((shares * radius / lengths).to(directions))


@torch.no_grad()
def measure_center(
    gradients: Gradients, center: Tensor, clip_norm: float, sampling: Sampling, generator: Stream
) -> PairTable:
    """Measure gradient changes from ``center`` to drawn points; an `InputError` if one is not finite."""
    columns = []
    for group in gradients.vector_chunks(sampling.points, copies=_COPIES):
        points = group.stop - group.start
        away = ball_points(points, sampling.radius, Draw(sampling.draw), generator, center)
        columns.append(_around(gradients, center, away.add_(center), clip_norm))
    return _table(columns, f"in the balls, got nan or inf with radius={sampling.radius:g}; lower the radius.")


@torch.no_grad()
def measure_between(gradients: Gradients, one: Tensor, other: Tensor, clip_norm: float) -> PairTable:
    """Table of one pair of points, each of shape (dimension,); errors as in `measure_center`."""
    return _table(
        [_around(gradients, one, other[None], clip_norm)],
        "at both points, got nan or inf at one of them; use other points.",
    )


def _table(columns: list[Tensor], otherwise: str) -> PairTable:
    table = PairTable.of_columns(torch.cat(columns, dim=1).cpu().double().numpy().T)
    if not np.isfinite(table.floors).all():
        raise InputError(f"Gradients must be finite {otherwise}")
    return table


def _around(gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float) -> Tensor:
    """Distances, floors and differences of the pairs (center, point), as transposed `PairTable.columns`."""
    distances = torch.linalg.vector_norm(around - center, dim=1)
    way = _in_full if gradients.factored is None else around_factored
    norms, found, off = way(gradients, center, around, clip_norm)
    floors = gradients.rounding * norms + off
    rows = [
        distances[None],
        floors[None],
        *(found[kind][:1] for kind in Kind),
        *(found[kind][1:] for kind in Kind),
    ]
    return torch.cat([row.to(floors) for row in rows])


def _in_full(
    gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor], Tensor]:
    """Results of `around_factored` from whole gradients, whose own rounding is the only error."""
    norms = torch.zeros(len(around), dtype=gradients.dtype, device=gradients.device)
    largest = {kind: norms.new_zeros(1 + len(gradients.layers), len(around)) for kind in Kind}
    for chunk in gradients.sample_chunks():
        here = gradients.at(center[None], chunk)
        rows, targets = (held[chunk] for held in gradients.rows())
        for part in gradients.point_chunks(len(around)):
            compared = gradients.replayed(_compared, len(rows) * len(around[part]))
            longest, worst = compared(here, around[part], rows, targets, clip_norm)
            norms[part] = torch.maximum(norms[part], longest)
            for kind, values in worst.items():
                largest[kind][:, part] = torch.maximum(largest[kind][:, part], values)
    return norms, largest, torch.zeros_like(norms)


def _compared(
    gradients: Gradients, here: Leaves, points: Tensor, rows: Tensor, targets: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor]]:
    """Sums of the largest |g(x)| and |g(y)|, shape (points,), and largest changes, (1 + layers, points)."""
    there = gradients.of_rows(points, rows, targets)
    norm_here, norm_there = norm(here), norm(there)
    scale = (clip_factor(norm_there, clip_norm), clip_factor(norm_here, clip_norm))
    worst = {
        kind: _whole_and_layers(gradients, difference(there, here, factors)).amax(dim=2)
        for kind, factors in ((Kind.SAMPLE, None), (Kind.SAMPLE_CLIPPED, scale))
    }
    return norm_here.amax(dim=1) + norm_there.amax(dim=1), worst


def _whole_and_layers(gradients: Gradients, leaves: Leaves) -> Tensor:
    """Norms of the whole gradient and of each layer's block, shape (1 + layers, points, samples)."""
    norms = leaf_norms(leaves)
    blocks = [torch.stack([norms[k] for k in chosen]) for chosen in gradients.layers.values()]
    return torch.stack([torch.linalg.vector_norm(part, dim=0) for part in (norms, *blocks)])


def around_factored(
    gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor], Tensor]:
    """Largest norms and changes over samples, from factors of gradients in double precision.

    Returns:
        Sums of the largest |g(x)| and |g(y)|, shape (points,); the largest changes of each kind, shape (1 +
        layers, points); and the possible error of the roots, shape (points,).
    """
    factored = gradients.factored
    assert factored is not None  # noqa: S101
    members = torch.zeros(1 + len(gradients.layers), len(gradients.sizes), dtype=torch.float64)
    for row, leaves in enumerate((range(len(gradients.sizes)), *gradients.layers.values())):
        members[row, list(leaves)] = 1.0  # membership of parameters in the whole and in layers
    groups = members[:, [k for group in factored.groups for k in group]].to(gradients.device)  # sorted by use
    norms, off = (torch.zeros(len(around), dtype=torch.float64, device=gradients.device) for _ in range(2))
    found = {kind: norms.new_zeros(len(groups), len(around)) for kind in Kind}
    for chunk in factored.chunks():
        rows, targets = (values[chunk] for values in gradients.rows())
        parts = factored.of_rows(gradients.parameters(center), rows, targets)
        here, v = prepare_factors(parts), clip_factor(lengths(parts), clip_norm)
        del parts
        of_point = gradients.replayed(_of_point, len(rows), factored.at_once)
        for p, point in enumerate(around):
            worst, errors, longest = of_point(point, rows, targets, here, groups, v, clip_norm)
            norms[p], off[p] = torch.maximum(norms[p], longest), torch.maximum(off[p], errors)
            for kind, values in worst.items():
                found[kind][:, p] = torch.maximum(found[kind][:, p], values)
    return norms, found, off


def _of_point(
    gradients: Gradients, point: Tensor, rows: Tensor, targets: Tensor, here: tuple[Held, ...], *more: Any
) -> tuple[dict[Kind, Tensor], Tensor, Tensor]:
    assert gradients.factored is not None  # noqa: S101
    there = gradients.factored.of_rows(gradients.parameters(point), rows, targets)
    return _per_sample(products(there, here), *more)


def _per_sample(
    inner: Products, groups: Tensor, v: Tensor, clip_norm: float
) -> tuple[dict[Kind, Tensor], Tensor, Tensor]:
    """Largest changes over samples by kind, (1 + layers,), their possible error, and the largest |g| + |h|.

    A relative error e of a norm moves the clipped gradient by at most e times the clipped norm.
    """
    ends = [(groups[:1] @ squared)[0].clamp(min=0.0) for squared, _ in (inner.there(), inner.here())]
    shares = [
        ((groups[:1] @ error)[0] / length).nan_to_num(nan=0.0).clamp(max=1.0)
        for (_, error), length in zip((inner.there(), inner.here()), ends, strict=True)
    ]
    long, own = (end.sqrt() for end in ends)
    u = clip_factor(long, clip_norm)
    moved = 2 * (u * long * shares[0] + v * own * shares[1])
    worst, errors = {}, []
    for kind, scale in ((Kind.SAMPLE, (torch.ones_like(u), torch.ones_like(v))), (Kind.SAMPLE_CLIPPED, (u, v))):
        squared, error = inner.scaled(*scale)
        values, wrong = root(groups @ squared, groups @ error)
        worst[kind] = values.amax(dim=1)
        errors.append((wrong + (moved if kind is Kind.SAMPLE_CLIPPED else 0.0)).amax())
    return worst, torch.stack(errors).amax(), long.amax() + own.amax()
