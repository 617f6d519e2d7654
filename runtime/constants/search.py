"""Adversarial search for the pair of points where a per-sample gradient changes most.

Drawn pairs say what a typical pair does; a constant is about the worst one. Here |g_i(x) - g_i(y)| / |x - y|^lambda is
raised by gradient ascent in both points, from many starts at once, inside the ball of the domain. What is found is a
pair that exists, so it is a lower estimate of the constant on the domain, and never below its own start.

Source: ours; the optimiser is Kingma & Ba 2015.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

import torch
from torch import Tensor
from torch.func import grad_and_value, vmap

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count, positive
from lastiterate.runtime.constants.pairs import FLOOR_ULPS
from lastiterate.runtime.constants.reading import TRUSTED_ERROR, orders
from lastiterate.runtime.constants.sampling import Draw, ball_points
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.descent import project, stream

__all__ = ["Pair", "search_pairs"]

_SEARCH: Final = 2**42
"""The purpose of the stream that draws the starts."""

_RATE: Final = 0.05
"""Step of the optimiser, as a share of the radius."""


@dataclass(frozen=True)
class Pair:
    """The worst pair found for one order. Direction: a lower estimate.

    Attributes:
        lam: the Hölder order.
        constant: |g(x) - g(y)| / |x - y|^lambda there, gradient / length^lambda.
        distance: |x - y|, a length.
        sample: index of the sample.
        float_error: assumed relative rounding error of the difference.
        start: the constant of the best drawn pair that the ascent began with.
    """

    lam: float
    constant: float
    distance: float
    sample: int
    float_error: float
    start: float


@torch.no_grad()
def search_pairs(
    gradients: Gradients,
    center: Tensor,
    lambdas: tuple[float, ...],
    *,
    diameter: float,
    clip_norm: float = inf,
    starts: int = 64,
    iterations: int = 100,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[Pair, ...]:
    """The worst pair found for each order, in a ball around a point.

    Args:
        gradients: per-sample gradients of the workload.
        center: shape (dimension,), the centre of the domain.
        lambdas: orders in (0, 1].
        diameter: of the ball, finite, a length.
        clip_norm: of the gradients that are compared; inf for unclipped ones.
        starts: pairs that ascend side by side.
        iterations: steps of the ascent.
        seed: of the starts.
        on_step: called with (finished, all) orders.

    Raises:
        InputError: the diameter is not finite, an order is not in (0, 1], or a gradient is not finite.
    """
    asked = orders(lambdas)
    radius = positive("diameter", diameter) / 2
    for name, value in (("starts", starts), ("iterations", iterations)):
        count(name, value)
    generator = stream(seed, purpose=_SEARCH)
    drawn = [ball_points(starts, len(center), radius, Draw.LOG_UNIFORM, generator) for _ in range(2)]
    first = center + drawn[0].to(center)
    second = project(first + drawn[1].to(center), center, 2 * radius)
    samples = torch.randint(gradients.samples, (starts,), generator=generator).to(center.device)
    found = []
    for done, lam in enumerate(asked):
        if on_step is not None:
            on_step(done, len(asked))
        found.append(_ascend(gradients, lam, center, radius, clip_norm, (first, second, samples), iterations))
    if on_step is not None:
        on_step(len(asked), len(asked))
    return tuple(found)


def _ascend(
    gradients: Gradients,
    lam: float,
    center: Tensor,
    radius: float,
    clip_norm: float,
    pairs: tuple[Tensor, Tensor, Tensor],
    iterations: int,
) -> Pair:
    x, y, samples = pairs[0].clone(), pairs[1].clone(), pairs[2]
    inputs, targets = gradients.rows()
    rows, wanted = inputs[samples], targets[samples]

    def change(x: Tensor, y: Tensor, row: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        here, there = (_clipped(gradients.of_one(at, row, target), clip_norm) for at in (x, y))
        scale = torch.linalg.vector_norm(here) + torch.linalg.vector_norm(there)
        return torch.linalg.vector_norm(here - there), scale

    def loss(both: tuple[Tensor, Tensor], row: Tensor, target: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        moved, scale = change(*both, row, target)
        apart = torch.linalg.vector_norm(both[0] - both[1])
        return lam * torch.log(apart) - torch.log(moved), (moved, scale)

    slopes = vmap(grad_and_value(loss, has_aux=True), (0, 0, 0))
    best = torch.zeros(len(x)).to(x)
    kept = torch.zeros(len(x), 2).to(x)
    start = 0.0
    with torch.enable_grad():
        leaves = [x.requires_grad_(), y.requires_grad_()]
        optimiser = torch.optim.Adam(leaves, lr=_RATE * radius / len(center) ** 0.5)
    for step in range(iterations + 1):
        parts = [slopes((x[i], y[i]), rows[i], wanted[i]) for i in gradients.point_chunks(len(x))]
        moved = torch.cat([part[1][1][0] for part in parts])
        error = FLOOR_ULPS * torch.finfo(gradients.dtype).eps * torch.cat([part[1][1][1] for part in parts]) / moved
        apart = torch.linalg.vector_norm(x - y, dim=1)
        ratio = moved / apart**lam
        ratio = torch.where((error <= TRUSTED_ERROR) & torch.isfinite(ratio), ratio, 0.0)
        better = ratio > best
        best = torch.where(better, ratio, best)
        kept = torch.where(better[:, None], torch.stack([apart, error], dim=1), kept)
        if step == 0:
            start = float(best.max())
        x.grad, y.grad = (torch.cat([part[0][k] for part in parts]).nan_to_num(0.0, 0.0, 0.0) for k in range(2))
        optimiser.step()
        for at in (x, y):
            at.copy_(project(at, center, 2 * radius))
    chosen = int(best.argmax())
    if not bool(torch.isfinite(torch.stack([x.detach(), y.detach()])).all()):
        raise InputError(f"The search needs finite gradients in the ball, got nan with diameter={2 * radius:g}.")
    return Pair(lam, float(best[chosen]), float(kept[chosen, 0]), int(samples[chosen]), float(kept[chosen, 1]), start)


def _clipped(gradient: Tensor, clip_norm: float) -> Tensor:
    return gradient * (clip_norm / torch.linalg.vector_norm(gradient)).clamp(max=1.0) if clip_norm < inf else gradient
