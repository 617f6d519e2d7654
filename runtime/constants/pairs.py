"""Gradient differences of (iterate, drawn point) pairs: one pass that serves every Hölder order.

Constants for a list of orders and the measured modulus are read off the table of pairs
(`lastiterate.runtime.constants.record`).

Of a large network the gradients are compared without being computed: a sample is represented by the factors of its
gradients (`lastiterate.runtime.factors`), so memory does not grow with samples times parameters. Lengths of changes are
roots of inner products in double precision; what these may be off by (`lastiterate.runtime.inner_products`) is added to
the rounding that is assumed of a gradient. Gradients of the batch are sums over samples and tokens, one matrix product
a parameter.
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
"""The smallest radius of a log-uniform draw, as a share of the radius of the ball."""

FLOOR_ULPS: Final = 32.0
"""Rounding error assumed of a gradient, in units of the eps of its passes times the largest per-sample norm."""

_PER_SAMPLE: Final = (Kind.SAMPLE, Kind.SAMPLE_CLIPPED)
_PER_BATCH: Final = (Kind.BATCH, Kind.BATCH_CLIPPED)
"""The kinds of either sort, unclipped and clipped."""


def ball_points(count: int, radius: float, draw: Draw, generator: Stream, like: Tensor) -> Tensor:
    """So many points of the ball of this radius (a length) around the origin, shape (count, dimension).

    They are on the device of ``like``, of shape (dimension,), and in its type. Each is a row of the stream, two numbers
    longer than a point: so many points at once are those drawn one by one.
    """
    drawn = generator.normals(count, 2 + len(like), like)
    exact = like.dtype if like.device.type == "mps" else torch.float64  # mps has no other
    directions, rest = drawn[:, :-2], drawn[:, -2:].to(exact)
    uniform = torch.exp(rest.square().sum(dim=1, keepdim=True) / -2)  # so is the law of exp(-|z|^2 / 2) for two numbers
    shares = uniform ** (1.0 / len(like)) if draw is Draw.UNIFORM else torch.exp(uniform * log(SMALLEST_RADIUS))
    lengths = torch.linalg.vector_norm(directions, dim=1, keepdim=True, dtype=exact)
    return directions.mul_((shares * radius / lengths).to(directions))


@torch.no_grad()
def measure_center(
    gradients: Gradients, center: Tensor, clip_norm: float, sampling: Sampling, generator: Stream
) -> PairTable:
    """Draw points around a center, of shape (dimension,), and measure how the gradients change, clipped to K or not.

    Raises:
        InputError: a gradient that is not finite.
    """
    columns = []
    for group in gradients.point_groups(sampling.points):
        points = group.stop - group.start
        away = ball_points(points, sampling.radius, Draw(sampling.draw), generator, center)
        columns.append(_around(gradients, center, away.add_(center), clip_norm))
    return _table(columns, f"in the balls, got nan or inf with radius={sampling.radius:g}; lower the radius.")


@torch.no_grad()
def measure_between(gradients: Gradients, one: Tensor, other: Tensor, clip_norm: float) -> PairTable:
    """The one pair of these two points, each of shape (dimension,), as `measure_center` has those of drawn points.

    Raises:
        InputError: a gradient that is not finite.
    """
    return _table(
        [_around(gradients, one, other[None], clip_norm)], "got nan or inf at one of two points; take others."
    )


def _table(columns: list[Tensor], otherwise: str) -> PairTable:
    table = PairTable.of_columns(torch.cat(columns, dim=1).cpu().double().numpy().T)  # in this order: mps: no float64
    if not np.isfinite(table.floors).all():
        raise InputError(f"Gradients must be finite {otherwise}")
    return table


def _around(gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float) -> Tensor:
    """Distances, floors and differences of the pairs (center, point), as `PairTable.columns` has them, transposed."""
    distances = torch.linalg.vector_norm(around - center, dim=1)
    way = _in_full if gradients.factored is None else around_factored
    norms, found, off = way(gradients, center, around, clip_norm)
    floors = FLOOR_ULPS * torch.finfo(gradients.dtype).eps * norms + off
    rows = [distances[None], floors[None], *(found[kind][:1] for kind in Kind), *(found[kind][1:] for kind in Kind)]
    return torch.cat([row.to(floors) for row in rows])


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


def around_factored(
    gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor], Tensor]:
    """Differences and rounding of the pairs of a center and points, (points, dimension), by factors of gradients.

    Returns:
        Sums of the greatest |g(x)| and |g(y)| over samples, shape (points,); the differences of every kind, of the
        whole and then of every layer, shape (1 + layers, points), of a kind per batch those of the mean; and how far
        the roots of any of these may be off, shape (points,). In double precision.
    """
    factored, count = gradients.factored, len(around)
    assert factored is not None  # noqa: S101
    groups = _groups(gradients)
    norms, off = (torch.zeros(count, dtype=torch.float64, device=gradients.device) for _ in range(2))
    found = {kind: norms.new_zeros(len(groups), count) for kind in Kind}
    chunks = list(factored.chunks())
    whole = len(chunks) == 1
    totals: dict[tuple[Kind, int], tuple[Tensor, ...]] = {}
    for chunk in chunks:
        rows, targets = (values[chunk] for values in gradients.rows())
        parts = factored.of_rows(gradients.parameters(center), rows, targets)
        here, v = prepare_factors(parts), clip_factor(lengths(parts), clip_norm)
        sums = {kind: factored.summed(parts, factors) for kind, factors in _factors(v, center).items()}
        del parts
        of_point = gradients.replayed(_of_point, len(rows), factored.at_once)
        for p, point in enumerate(around):
            worst, errors, longest, changes = of_point(point, rows, targets, here, sums, v, groups, clip_norm, whole)
            norms[p], off[p] = torch.maximum(norms[p], longest), torch.maximum(off[p], errors)
            for kind, values in worst.items():
                found[kind][:, p] = torch.maximum(found[kind][:, p], values)
            for kind, change in changes.items():
                if not whole:
                    before = totals.get((kind, p))
                    change = change if before is None else tuple(a.add_(b) for a, b in zip(before, change, strict=True))
                    totals[kind, p] = change
                if chunk == chunks[-1]:
                    squares = change if whole else torch.cat([_squares(part) for part in change])
                    found[kind][:, p] = (groups @ squares).sqrt() / gradients.samples
    return norms, found, off


def _of_point(
    gradients: Gradients,
    point: Tensor,
    rows: Tensor,
    targets: Tensor,
    here: tuple[Held, ...],
    sums: dict[Kind, tuple[Tensor, ...]],
    v: Tensor,
    groups: Tensor,
    clip_norm: float,
    whole: bool,
) -> tuple[dict[Kind, Tensor], Tensor, Tensor, dict[Kind, Any]]:
    """Compare gradients at a point with those that are held: what `_per_sample` returns but u, and changes of sums.

    The changes are of every parameter; where these rows are the whole data, their squared lengths.
    """
    factored = gradients.factored
    assert factored is not None  # noqa: S101
    there = factored.of_rows(gradients.parameters(point), rows, targets)
    worst, errors, u, longest = _per_sample(products(there, here), groups, v, clip_norm)
    changes: dict[Kind, Any] = {}
    for kind, factors in _factors(u, point).items():
        moved = tuple(new.sub_(old) for new, old in zip(factored.summed(there, factors), sums[kind], strict=True))
        changes[kind] = torch.cat([_squares(part) for part in moved]) if whole else moved
    return worst, errors, longest, changes


def _factors(clipped: Tensor, like: Tensor) -> dict[Kind, Tensor]:
    """By what the gradients are multiplied in the sums over a batch."""
    return {Kind.BATCH: torch.ones_like(clipped).to(like), Kind.BATCH_CLIPPED: clipped.to(like)}


def _squares(part: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(part.flatten(1), dim=1, dtype=torch.float64)
    return lengths.square()


def _per_sample(
    inner: Products, groups: Tensor, v: Tensor, clip_norm: float
) -> tuple[dict[Kind, Tensor], Tensor, Tensor, Tensor]:
    """Greatest changes of the samples by kind, (1 + layers,), how far they may be off, u, and the longest |g| + |h|.

    A length that is off by a share e moves a clipped gradient by at most that share of its own length.
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
    return worst, torch.stack(errors).amax(), u, long.amax() + own.amax()


def _groups(gradients: Gradients) -> Tensor:
    """1 where a parameter belongs to the whole, or to a layer, shape (1 + layers, parameters), sorted by use."""
    assert gradients.factored is not None  # noqa: S101
    members = torch.zeros(1 + len(gradients.layers), sum(map(len, gradients.layers.values())), dtype=torch.float64)
    members[0] = 1.0
    for row, leaves in enumerate(gradients.layers.values(), start=1):
        members[row, leaves] = 1.0
    return members[:, [k for group in gradients.factored.alike for k in group]].to(gradients.device)
