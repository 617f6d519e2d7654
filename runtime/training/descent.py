"""Projected, clipped, noisy gradient descent exactly as it is accounted for.

    W <- Proj_K[(1 - eta lambda) W - eta / b * sum over the batch of clip_K(grad l_i(W)) + N(0, sigma^2 I)]

Source: Chien & Li 2025, update (1), with weight decay lambda and batches as in the run; b is ``run.batch``,
even if a Poisson batch has another size. The domain is the ball around the initial point whose *diameter* is
``run.diameter``. The papers draw a ball of radius D and then use D as its diameter.

Appendix A.13 states the learning rate 0.1, 200 epochs and the clip norm 1.0, but neither the noise nor the
domain of the trained network. `paper_run` uses full batches (one step per epoch), the domain of Figure 1
(diameter 1, so that a ball of radius 1 around any iterate, as in A.13, covers it), and noise of standard
deviation 0.001 per coordinate, which is about as long as a gradient step.
"""

from math import inf
from typing import Any, Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.devices import refuse_beyond
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.replay import records
from lastiterate.runtime.training.batches import draw_batches
from lastiterate.runtime.workloads.workload import Workload

BATCHES = 2**40
"""Purpose of the stream that draws the batches."""

_PAPER: Final = {"steps": 200, "step_size": 0.1, "clip_norm": 1.0, "noise_std": 1e-3, "diameter": 1.0}


def paper_run(workload: Workload, **changed: Any) -> NoisySGD:
    """Run of A.13 on all samples of ``workload``, with changes; the module gives the open settings."""
    return NoisySGD(**_PAPER | {"dataset_size": workload.samples} | changed)


def spread_iterates(steps: int, centers: int | None = None) -> tuple[int, ...]:
    """Indices of ``centers`` evenly spaced iterates with the first and last; None for all ``steps`` + 1."""
    if centers is None or count("centers", centers) > steps:
        return tuple(range(steps + 1))
    if centers < 2:
        raise InputError(
            f"centers must include the first and the last iterate, got centers={centers}; give at least 2."
        )
    return tuple((2 * i * steps + centers - 1) // (2 * (centers - 1)) for i in range(centers))


def project_onto_ball(points: Tensor, center: Tensor, diameter: float) -> Tensor:
    """Nearest points in the ball of the given *diameter* around ``center``; rounding moves none outside.

    Lengths are computed in double precision. A point that may be outside because of rounding counts as
    outside, and points outside are projected onto a ball that is smaller by the rounding involved. So |result
    - center| <= diameter / 2 holds for the resulting floats as real numbers, and projecting again changes
    nothing. The result differs from the exact projection by at most (4 dimension + 40) 2^-53 diameter and a
    unit in the last place of its coordinates.

    Points have shape (..., dimension). A diameter of inf leaves them unchanged.

    >>> project_onto_ball(torch.tensor([3.0, 4.0]), torch.zeros(2), diameter=1.0)
    tensor([0.3000, 0.4000])
    """
    if diameter == inf:
        return points
    middle = center.double()
    away = points - middle
    lengths = torch.linalg.vector_norm(away, dim=-1, keepdim=True)
    radius, slack = diameter / 2, (points.shape[-1] + 8) * 2.0**-53  # rounding of a sum of squares and its root
    inside = lengths <= radius * (1 - slack)
    if _looks(points.device) and bool(inside.all()):
        return points
    rounding = torch.finfo(points.dtype).eps * (torch.linalg.vector_norm(middle) + radius)
    reach = (radius * (1 - 4 * slack) - rounding).clamp(min=0.0)
    return torch.where(inside, points, (middle + away * (reach / lengths)).to(points))


def _looks(device: torch.device) -> bool:
    return device.type == "cpu" and not records(device)


@torch.no_grad()
def train(
    gradients: Gradients,
    initial: Tensor,
    run: NoisySGD,
    seed: int,
    *,
    centers: int | None = None,
) -> Tensor:
    """Run update (1) from ``initial``, and return selected iterates, shape (stored, dimension).

    Args:
        gradients: per-sample gradients of the workload.
        initial: shape (dimension,), on the device of ``gradients``.
        run: run over all samples of ``gradients``.
        seed: seed of noise and batches; draws are the same on every device.
        centers: number of iterates to store, as in `spread_iterates`.

    Raises:
        InputError: fewer than two ``centers``, a run on another number of samples, or parameters that are not
            finite.
    """
    if described_run("Training", run, groups=True).dataset_size != gradients.samples:
        raise InputError(
            f"The run must use all samples of the workload, got dataset_size={run.dataset_size} for "
            f"{gradients.samples} samples; describe the run that is trained."
        )
    noise = stream(seed, purpose=0)
    kept = spread_iterates(run.steps, centers)
    needed = len(kept) * gradients.dimension * gradients.dtype.itemsize
    refuse_beyond(
        "The iterates of a training run take", needed, gradients.device, f"keep fewer than centers={len(kept)}"
    )
    rows = {t: row for row, t in enumerate(kept)}
    points = torch.empty(len(kept), gradients.dimension, dtype=gradients.dtype, device=gradients.device)
    points[0] = initial
    current = points[0]
    for t, batch in enumerate(draw_batches(run, stream(seed, purpose=BATCHES))):
        step = gradients.total(current, run.clip_norm, None if run.scheme.full else batch).div_(run.batch)
        (drawn,) = noise.normals(1, gradients.dimension, initial)
        decayed = (1 - run.step_size_at(t) * run.weight_decay) * current
        moved = decayed.sub_(step.mul_(run.step_size_at(t))).add_(drawn.mul_(run.noise_std_at(t)))
        moved = project_onto_ball(moved, points[0], run.diameter)
        if not bool(torch.isfinite(torch.linalg.vector_norm(moved, ord=inf))):
            raise InputError(
                f"Training needs finite parameters, got nan or inf after step={t + 1}; lower step_size, or remove "
                "samples whose gradient is not finite."
            )
        if t + 1 in rows:
            points[rows[t + 1]] = moved
        current = moved
    return points
