"""Workloads whose constants are known."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import vmap

from lastiterate.runtime.constants.record import WorstPair, best_pairs
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.workload import Workload


class Vector(nn.Module):
    """A network that is its parameter: the output is the parameter vector itself, once for every row."""

    def __init__(self, dimension: int, scale: float = 1.0) -> None:
        super().__init__()
        self.value = nn.Parameter(scale * torch.randn(dimension))

    def forward(self, rows: Tensor) -> Tensor:
        return self.value.expand(rows.shape[0], -1)


def quadratic(curvatures: list[list[float]], scale: float = 1.0) -> Workload:
    """Sample i has the loss sum_k h_ik w_k^2 / 2: its constant for lambda = 1 is max_k h_ik."""
    rows = torch.tensor(curvatures, dtype=torch.float64)
    return Workload(
        "quadratic",
        lambda: Vector(rows.shape[1], scale),
        lambda out, row: (row * out.square()).sum() / 2,
        rows,
        rows,
    )


def odd_power(dimension: int = 1) -> Workload:
    """The loss 3/4 sum_k |w_k|^(4/3): for order 1/3 its gradient has the constant 2^(2/3) d^(1/3) in d dimensions.

    The gradient is sign(w_k) |w_k|^(1/3). In one coordinate, at the distance r, it changes by at most 2^(2/3) r^(1/3):
    for a and -b, a^(1/3) + b^(1/3) <= 2 ((a + b) / 2)^(1/3) as the root is concave, and for a >= b of one sign
    a^(1/3) - b^(1/3) <= (a - b)^(1/3). So the squared change is at most 2^(4/3) sum_k (r_k^2)^(1/3), which is at most
    2^(4/3) d (r^2 / d)^(1/3), concavity again, with r^2 = sum_k r_k^2. The root of that is 2^(2/3) d^(1/3) r^(1/3), and
    x = -y with equal coordinates attains it.
    """
    return Workload(
        "odd-power",
        lambda: Vector(dimension, 0.1),
        lambda out, _target: 0.75 * out.abs().pow(4 / 3).sum(),
        torch.zeros(1, 1),
        torch.zeros(1, 1),
    )


class TwoVectors(nn.Module):
    """Two modules that own parameters; the output is both vectors, once for every row."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.first, self.second = Vector(first, 0.1), Vector(second, 0.1)

    def forward(self, rows: Tensor) -> Tensor:
        return torch.cat([self.first(rows), self.second(rows)], dim=1)


def two_orders(curvature: float = 0.5) -> Workload:
    """The loss c |u|^2 / 2 + 3/4 |v|^(4/3) of a vector u of two and a number v.

    The block of u has the constant c for order 1, the block of v 2^(2/3) for order 1/3 and none for order 1.
    """

    def loss(out: Tensor, _target: Tensor) -> Tensor:
        return curvature * out[:, :2].square().sum() / 2 + 0.75 * out[:, 2].abs().pow(4 / 3).sum()

    return Workload("two-orders", lambda: TwoVectors(2, 1), loss, torch.zeros(1, 1), torch.zeros(1, 1))


def linear(dimension: int = 3) -> Workload:
    """The loss is linear, so the gradient never changes."""
    rows = torch.ones(2, dimension)
    return Workload("linear", lambda: Vector(dimension), lambda out, row: (row * out).sum(), rows, rows)


def search_pairs(
    gradients: Gradients,
    center: Tensor,
    lambdas: tuple[float, ...],
    starts: int = 256,
    iterations: int = 60,
    **named: Any,
) -> tuple[WorstPair, ...]:
    """The worst pair found for each order, in a ball around a point."""
    asked, search = sorted(lambdas), Search(gradients, center, **named)
    return best_pairs(asked, [search._replace(lams=tuple(asked)).climb(starts, iterations)])


@torch.no_grad()
def largest_ritz(
    gradients: Gradients, points: Tensor, inputs: Tensor, targets: Tensor, start: Tensor, steps: int
) -> Tensor:
    """Largest absolute Ritz value of each point's Hessian for its row, (points,); ``steps`` <= dimension."""
    parts = gradients.pair_chunks(len(points), weight=2)
    return torch.cat([_ritz(gradients, points[p], inputs[p], targets[p], start, steps) for p in parts])


def _ritz(
    gradients: Gradients, points: Tensor, rows: Tensor, targets: Tensor, start: Tensor, steps: int
) -> Tensor:
    pairs, products = len(points), vmap(gradients.curved)
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
            # In an invariant subspace the next vector is zero, which changes no eigenvalue of the rest.
            before, current = current, (pushed / coupling[:, None]).nan_to_num(0.0, 0.0, 0.0)
    if not bool(torch.isfinite(matrix).all()):
        return torch.full((pairs,), torch.nan).to(current)
    values = torch.linalg.eigvalsh(matrix.cpu())  # the matrices are small
    largest: Tensor = values.abs().amax(dim=1)
    return largest.to(current)


def top_curvature(
    gradients: Gradients, points: Tensor, *, samples: Tensor | None = None, iterations: int = 20
) -> float:
    """The largest |eigenvalue| of a per-sample Hessian over points and samples, by Lanczos."""
    (start,) = stream(0, purpose=2**56).normals(1, gradients.dimension, points)
    chosen = torch.arange(gradients.samples) if samples is None else samples
    at, index = torch.cartesian_prod(torch.arange(len(points)), chosen).T
    inputs, targets = (rows[index] for rows in gradients.rows())
    found = largest_ritz(gradients, points[at], inputs, targets, start, min(iterations, gradients.dimension))
    assert bool(torch.isfinite(found).all())
    return float(found.max())
