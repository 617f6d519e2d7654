"""Sums of the clipped gradients of some rows, as work that can be recorded (`lastiterate.runtime.replay`)."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lastiterate.runtime.inner_products import lengths
from lastiterate.runtime.leaves import clip_factor, flat, norm

if TYPE_CHECKING:
    from lastiterate.runtime.gradients import Gradients


def filled(rows: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The rows and copies of the last one, up to the next of few numbers of them; and which of them count."""
    step = 2 ** max(len(rows).bit_length() - 3, 0)
    place = torch.arange(-(-len(rows) // step) * step, device=rows.device)
    own = place.clamp(max=len(rows) - 1)
    return rows[own], targets[own], place < len(rows)


def clipped_sum(
    gradients: "Gradients",
    point: Tensor,
    rows: Tensor,
    targets: Tensor,
    counted: Tensor | None,
    clip_norm: float,
    stability: float | None,
) -> Tensor:
    """Sum of the clipped gradients, each as often as its row counts (None: once), at one point, shape (dimension,)."""
    leaves = gradients.of_rows(point[None], rows, targets)
    factor = clip_factor(norm(leaves), clip_norm, stability)[0]
    return flat(leaves)[0].mul_((factor if counted is None else factor * counted)[:, None]).sum(dim=0)


def sum_of_factored(
    gradients: "Gradients",
    point: Tensor,
    rows: Tensor,
    targets: Tensor,
    counted: Tensor | None,
    clip_norm: float,
    stability: float | None,
) -> Tensor:
    """Compute what `clipped_sum` does, of gradients that are not made."""
    factored = gradients.factored
    assert factored is not None  # noqa: S101
    parts = factored.of_rows(gradients.parameters(point), rows, targets)
    factor = clip_factor(lengths(parts), clip_norm, stability).to(point)
    summed = factored.summed(parts, factor if counted is None else factor * counted)
    return torch.cat([one.flatten() for one in factored.in_order(summed)])


def clipped_sums(
    gradients: "Gradients", points: Tensor, rows: Tensor, targets: Tensor, counted: Tensor, clip_norm: float
) -> Tensor:
    """Sums of the clipped gradients of rows that count, at every point, shape (points, dimension).

    The rows are the same for every point, or of shape (points, rows, ...), as ``counted`` says.
    """
    leaves = (gradients.of_own_rows if counted.ndim == 2 else gradients.of_rows)(points, rows, targets)
    factor = clip_factor(norm(leaves), clip_norm) * counted
    return torch.cat([torch.einsum("psk,ps->pk", leaf.flatten(start_dim=2), factor) for leaf in leaves], dim=1)
