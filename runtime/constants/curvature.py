"""Smoothness of per-sample losses from their Hessians: the largest |eigenvalue| by Lanczos, on many pairs at once.

Every Ritz value lies in the range of the eigenvalues, so the largest one in absolute value is a lower estimate of the
smoothness at that point, and the largest over the trajectory one of the constant L of Hölder order 1. It sees the
limit of distance 0, where differences of gradients drown in rounding.

Source: Lanczos 1950; Hessian-vector products by forward over reverse differentiation, Pearlmutter 1994.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor
from torch.func import vmap

from lastiterate.numeric.errors import InputError, count
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream

_STARTING: Final = 2**56
"""The purpose of the stream that draws the first vector."""

_WEIGHT: Final = 2
"""Memory of a Hessian-vector product with its Lanczos vectors, in gradients."""

_SCREENING: Final = 4
_REFINED: Final = 256
"""Every pair gets a few steps, the most curved ones all of them."""

_COARSE: Final = 10_000
_FEWEST_POINTS: Final = 8
_FOLLOWED: Final = 8
"""Budget along a trajectory: about so many (point, sample) pairs evenly spaced, at no fewer points; then every iterate
between the neighbours of the most curved one, for so many of the most curved samples."""


@dataclass(frozen=True)
class Curvature:
    """The largest |eigenvalue| found. Direction: a lower estimate, up to rounding of the dtype.

    Attributes:
        value: the eigenvalue's absolute value, gradient / length.
        point: index of the point it was found at.
        sample: index of the sample.
        per_sample: the largest over the points for each sample, shape (samples,).
        iterations: Lanczos steps of the most curved pairs; as many as the dimension give the exact value.
    """

    value: float
    point: int
    sample: int
    per_sample: tuple[float, ...]
    iterations: int


@torch.no_grad()
def top_curvature(
    gradients: Gradients, points: Tensor, *, samples: Tensor | None = None, iterations: int = 20, seed: int = 0
) -> Curvature:
    """The largest |eigenvalue| of a per-sample Hessian over points, shape (points, dimension), and samples.

    Args:
        gradients: per-sample gradients of the workload.
        points: for example the iterates of a trajectory.
        samples: indices of the samples, shape (k,); all of them if None.
        iterations: Lanczos steps for the most curved pairs; 20 suffice for a few digits.
        seed: of the starting vectors.

    Raises:
        InputError: an eigenvalue is not finite.

    Example:
        >>> from torch import nn
        >>> from lastiterate.runtime.workloads.workload import Workload
        >>> line = Workload("line", lambda: nn.Linear(1, 1, bias=False),
        ...                 lambda out, y: (out - y).square().sum() / 2,
        ...                 torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1))
        >>> top_curvature(Gradients(line, line.initial(0)), torch.tensor([[3.0]], dtype=torch.float64)).value
        4.0
    """
    iterations = count("iterations", iterations)
    steps = min(iterations, gradients.dimension)
    (start,) = stream(seed, purpose=_STARTING).normals(1, gradients.dimension, points)
    chosen = torch.arange(gradients.samples) if samples is None else samples
    pairs = torch.cartesian_prod(torch.arange(len(points)), chosen)
    found = largest_ritz(gradients, points, pairs, start, min(steps, _SCREENING))
    closer = found.topk(min(_REFINED, len(found))).indices
    found[closer] = torch.maximum(found[closer], largest_ritz(gradients, points, pairs[closer], start, steps))
    if not bool(torch.isfinite(found).all()):
        raise InputError(
            "Curvature needs a loss with finite second derivatives at the points, got nan or inf; "
            "use an activation that is smooth."
        )
    best = int(found.argmax())
    return Curvature(
        value=float(found[best]),
        point=best // len(chosen),
        sample=int(chosen[best % len(chosen)]),
        per_sample=tuple(found.reshape(len(points), -1).amax(dim=0).tolist()),
        iterations=steps,
    )


def curvature_along(gradients: Gradients, points: Tensor, *, seed: int = 0) -> Curvature:
    """The largest |eigenvalue| along a trajectory: first a coarse look, then a close one around the largest.

    As `top_curvature` of all points, the iterates in their order; ``per_sample`` is that of the coarse look.

    Raises:
        InputError: an eigenvalue is not finite.
    """
    coarse = min(len(points), max(_COARSE // gradients.samples, _FEWEST_POINTS))
    places = torch.linspace(0, len(points) - 1, coarse).round().long()
    first = top_curvature(gradients, points[places], seed=seed)
    low, high = (int(places[min(max(first.point + side, 0), coarse - 1)]) for side in (-1, 1))
    samples = torch.tensor(first.per_sample).topk(min(_FOLLOWED, gradients.samples)).indices
    then = top_curvature(gradients, points[low : high + 1], samples=samples, seed=seed)
    if then.value > first.value:
        return replace(first, value=then.value, point=low + then.point, sample=then.sample)
    return replace(first, point=int(places[first.point]))


def largest_ritz(gradients: Gradients, points: Tensor, pairs: Tensor, start: Tensor, steps: int) -> Tensor:
    """Largest |Ritz value| of each (point, sample) pair of indices, shape (pairs,), on the CPU."""
    inputs, targets = gradients.rows()
    products = vmap(gradients.curved)
    found = []
    for part in gradients.pair_chunks(len(pairs), weight=_WEIGHT):
        at, samples = (index.to(points.device) for index in pairs[part].T)
        rows, wanted, here = inputs[samples], targets[samples], points[at]
        found.append(_ritz(products, here, rows, wanted, start, steps).cpu())
    return torch.cat(found)


def _ritz(
    products: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
    points: Tensor,
    rows: Tensor,
    targets: Tensor,
    start: Tensor,
    steps: int,
) -> Tensor:
    """Largest |Ritz value| after some Lanczos steps on many Hessians side by side, shape (pairs,).

    ``products`` takes points, vectors, inputs and targets to Hessian-vector products, of shape (pairs, dimension) like
    the points; ``start`` is the first vector, of any length, and there are at most as many steps as dimensions.
    """
    pairs = len(points)
    current = (start / torch.linalg.vector_norm(start)).repeat(pairs, 1)
    before, coupling = torch.zeros_like(current), current.new_zeros(pairs)
    matrix = current.new_zeros(pairs, steps, steps)
    for k in range(steps):
        pushed = products(points, current, rows, targets) - coupling[:, None] * before
        diagonal = (pushed * current).sum(dim=1)
        matrix[:, k, k] = diagonal
        pushed = pushed - diagonal[:, None] * current
        coupling = torch.linalg.vector_norm(pushed, dim=1)
        if k + 1 < steps:
            matrix[:, k, k + 1] = matrix[:, k + 1, k] = coupling
            # An invariant subspace leaves nothing to go on with: a zero row changes no eigenvalue of the rest.
            before, current = current, (pushed / coupling[:, None]).nan_to_num(0.0, 0.0, 0.0)
    if not bool(torch.isfinite(matrix).all()):
        return torch.full((pairs,), torch.nan).to(current)
    values = torch.linalg.eigvalsh(matrix.cpu())  # small, and mps has no eigenvalues
    largest: Tensor = values.abs().amax(dim=1)
    return largest
