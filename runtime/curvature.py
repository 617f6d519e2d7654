"""Smoothness of per-sample losses from their Hessians: the largest |eigenvalue| by Lanczos, on many pairs at once.

Every Ritz value lies in the range of the eigenvalues, so the largest one in absolute value is a lower estimate of the
smoothness at that point, and the largest over the trajectory one of the constant L of Hölder order 1. It sees the
limit of distance 0, where differences of gradients drown in rounding.

Source: Lanczos 1950; Hessian-vector products by forward over reverse differentiation, Pearlmutter 1994.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import jvp, vmap

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count
from lastiterate.runtime.gradients import Gradients

__all__ = ["Curvature", "top_curvature"]


@dataclass(frozen=True)
class Curvature:
    """The largest |eigenvalue| found. Direction: a lower estimate, up to rounding of the dtype.

    Attributes:
        value: the eigenvalue's absolute value, gradient / length.
        point: index of the point it was found at.
        sample: index of the sample.
        per_point: the largest over the samples at each point, shape (points,).
        iterations: Lanczos steps; at least the dimension gives the exact value.
    """

    value: float
    point: int
    sample: int
    per_point: tuple[float, ...]
    iterations: int


@torch.no_grad()
def top_curvature(gradients: Gradients, points: Tensor, *, iterations: int = 20, seed: int = 0) -> Curvature:
    """The largest |eigenvalue| of a per-sample Hessian over points and samples.

    Args:
        gradients: per-sample gradients of the workload.
        points: shape (points, dimension), for example the iterates of a trajectory.
        iterations: Lanczos steps for each pair; 20 suffice for a few digits.
        seed: of the starting vectors.

    Raises:
        InputError: an eigenvalue is not finite.

    Example:
        >>> from torch import nn
        >>> from lastiterate.runtime.workloads import Workload
        >>> line = Workload("line", lambda: nn.Linear(1, 1, bias=False),
        ...                 lambda out, y: (out - y).square().sum() / 2,
        ...                 torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1))
        >>> top_curvature(Gradients(line, line.initial(0)), torch.tensor([[3.0]], dtype=torch.float64)).value
        4.0
    """
    count("iterations", iterations)
    steps = min(iterations, gradients.dimension)
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(gradients.dimension, generator=generator, dtype=torch.float64).to(points)
    found = torch.empty(len(points), gradients.samples, dtype=gradients.dtype)
    for part in gradients.point_chunks(len(points)):
        for chunk in gradients.sample_chunks():
            found[part, chunk] = _largest(gradients, points[part], chunk, start, steps).cpu()
    if not bool(torch.isfinite(found).all()):
        raise InputError(
            "Curvature needs a loss with finite second derivatives at the points, got nan or inf; "
            "use an activation that is smooth."
        )
    best = int(found.argmax())
    return Curvature(
        value=float(found.flatten()[best]),
        point=best // gradients.samples,
        sample=best % gradients.samples,
        per_point=tuple(found.amax(dim=1).tolist()),
        iterations=steps,
    )


def _largest(gradients: Gradients, points: Tensor, chunk: slice, start: Tensor, steps: int) -> Tensor:
    """Largest |Ritz value| for each (point, sample), shape (points, samples)."""
    inputs, targets = gradients.rows(chunk)

    def product(point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        def slope(at: Tensor) -> Tensor:
            return gradients.of_one(at, row, target)

        pushed: Tensor = jvp(slope, (point,), (vector,))[1]
        return pushed

    products = vmap(vmap(product, (None, 0, 0, 0)), (0, 0, None, None))
    shape = (len(points), len(inputs), gradients.dimension)
    current = (start / torch.linalg.vector_norm(start)).expand(shape).clone()
    before, coupling = torch.zeros_like(current), torch.zeros(shape[:2]).to(current)
    matrix = torch.zeros(*shape[:2], steps, steps).to(current)
    for k in range(steps):
        pushed = products(points, current, inputs, targets) - coupling[..., None] * before
        diagonal = (pushed * current).sum(dim=-1)
        matrix[..., k, k] = diagonal
        pushed = pushed - diagonal[..., None] * current
        coupling = torch.linalg.vector_norm(pushed, dim=-1)
        if k + 1 < steps:
            matrix[..., k, k + 1] = matrix[..., k + 1, k] = coupling
            # An invariant subspace leaves nothing to go on with: a zero row changes no eigenvalue of the rest.
            before, current = current, (pushed / coupling[..., None]).nan_to_num(0.0, 0.0, 0.0)
    if not bool(torch.isfinite(matrix).all()):
        return torch.full(shape[:2], torch.nan)
    return torch.linalg.eigvalsh(matrix).abs().amax(dim=-1)
