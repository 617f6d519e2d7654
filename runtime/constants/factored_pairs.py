"""Pairs of points of a large network, whose per-sample gradients are compared without being made.

What is kept of a sample are the factors of its gradients (`lastiterate.runtime.factors`), so memory does not grow with
samples times parameters. Lengths of changes are roots of inner products in double precision; what these may be off by
(`lastiterate.runtime.inner_products`) is added to the rounding that is assumed of a gradient. Gradients of the batch
are sums over samples and tokens, one matrix product a parameter.
"""

from typing import Any

import torch
from torch import Tensor

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.inner_products import Held, Products, held, lengths, products, root
from lastiterate.runtime.leaves import clip_factor
from lastiterate.runtime.pair_table import Kind


def around_factored(
    gradients: Gradients, center: Tensor, around: Tensor, clip_norm: float
) -> tuple[Tensor, dict[Kind, Tensor], Tensor]:
    """Differences and rounding of the pairs (center, point) for a network whose gradients are factored.

    Args:
        gradients: per-sample gradients; ``gradients.factored`` is there.
        center: shape (dimension,).
        around: the points, shape (points, dimension).
        clip_norm: K, a gradient.

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
        here, v = held(parts), clip_factor(lengths(parts), clip_norm)
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
    """1 where a parameter belongs to the whole, or to a layer, shape (1 + layers, parameters), alike ones together."""
    assert gradients.factored is not None  # noqa: S101
    members = torch.zeros(1 + len(gradients.layers), sum(map(len, gradients.layers.values())), dtype=torch.float64)
    members[0] = 1.0
    for row, leaves in enumerate(gradients.layers.values(), start=1):
        members[row, leaves] = 1.0
    return members[:, [k for group in gradients.factored.alike for k in group]].to(gradients.device)
