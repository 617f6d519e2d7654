"""Changes of per-sample gradients with their slopes, and the largest |eigenvalue| of per-sample Hessians.

The change is |G(x) - G(y)|, where G is the clipped gradient of one sample, or the mean of those of all samples. With
the unit vector u along G(x) - G(y) its slope in x is J(x)' u, where the Jacobian J of the clipped gradient is H below
the clip norm K and (K / |g|) (1 - g g' / |g|^2) H above; both factors are symmetric. Hessian-vector products go
forward over reverse: two reverse passes through a convolution, at points of its own for every pair, are many times
dearer.

Eigenvalues are by Lanczos, on many pairs at once. Every Ritz value lies in the range of the eigenvalues, so the largest
one in absolute value is a lower estimate of the smoothness at that point, and the largest over the trajectory one of
the constant L of Hölder order 1. It sees the limit of distance 0, where differences of gradients drown in rounding.

Source: Lanczos 1950; Pearlmutter 1994 for products with the Hessian.
"""

from collections.abc import Callable
from math import inf
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
_AGAIN: Final = 4
"""Memory of a Hessian-vector product with its Lanczos vectors, and of a gradient that is differentiated again, in
gradients; of the latter half of the budget is for the points."""

_SCREENING: Final = 4
_REFINED: Final = 256
"""Every pair gets a few steps, the most curved ones all of them."""


@torch.no_grad()
def top_curvature(
    gradients: Gradients, points: Tensor, *, samples: Tensor | None = None, iterations: int = 20, seed: int = 0
) -> float:
    """The largest |eigenvalue| of a per-sample Hessian over points, shape (points, dimension), and samples.

    It is a lower estimate up to rounding of the dtype, gradient / length. Samples are indices, shape (k,), all of them
    if None. The iterations are Lanczos steps of the most curved pairs: 20 suffice for a few digits, and as many as the
    dimension give the exact value.

    Raises:
        InputError: an eigenvalue is not finite.
    """
    steps = min(count("iterations", iterations), gradients.dimension)
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
    return float(found.max())


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


class Changes:
    """Changes of gradients over many pairs of points at once, clipped to ``clip_norm``; inf leaves them as they are.

    ``samples`` has the index of the sample of every pair, shape (pairs,), or is None for the mean over all samples.
    """

    def __init__(self, gradients: Gradients, samples: Tensor | None, clip_norm: float = inf) -> None:
        self.samples = samples
        self.gradients = gradients
        self.clip_norm = clip_norm
        self._rows, self._targets = gradients.rows()
        self._gradient = vmap(gradients.of_one)
        self._computed: list[tuple[Tensor, list[Tensor]]] = []
        self._product = vmap(gradients.curved)

    def between(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The change G(x) - G(y), shape (pairs, dimension), and |g(x)| + |g(y)| of the longest gradients, (pairs,)."""
        (here, longest_here), (there, longest_there) = self._mean(x), self._mean(y)
        return here - there, longest_here + longest_there

    def pulled(self, at: Tensor, vectors: Tensor) -> Tensor:
        """J(at)' vectors for every pair, shape (pairs, dimension)."""
        found = torch.zeros_like(at)
        computed = next((parts for points, parts in self._computed if points is at), [])
        for number, (owners, samples) in enumerate(self._parts(len(at))):
            points, rows, targets = at[owners], self._rows[samples], self._targets[samples]
            pushed = vectors[owners]
            if self.clip_norm < inf:
                gradient = computed[number] if computed else self._gradient(points, rows, targets)
                length = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
                along = gradient / length
                across = pushed - along * (along * pushed).sum(dim=1, keepdim=True)
                pushed = torch.where(length <= self.clip_norm, pushed, across * (self.clip_norm / length))
            found.index_add_(0, owners, self._product(points, pushed, rows, targets))
        return found / self._members

    def _mean(self, at: Tensor) -> tuple[Tensor, Tensor]:
        found, longest = torch.zeros_like(at), at.new_zeros(len(at))
        computed: list[Tensor] = []
        for owners, samples in self._parts(len(at)):
            gradient = self._gradient(at[owners], self._rows[samples], self._targets[samples])
            if self.samples is not None and self.clip_norm < inf:  # for `pulled` at the same points
                computed.append(gradient)
            length = torch.linalg.vector_norm(gradient, dim=1)
            longest.scatter_reduce_(0, owners, length, "amax")
            if self.clip_norm < inf:
                gradient = gradient * (self.clip_norm / length).clamp(max=1.0).nan_to_num(nan=1.0)[:, None]
            found.index_add_(0, owners, gradient)
        self._computed.append((at, computed))
        return found / self._members, longest

    @property
    def _members(self) -> int:
        return 1 if self.samples is not None else self.gradients.samples

    def _parts(self, pairs: int) -> list[tuple[Tensor, Tensor]]:
        """Pair and sample of every gradient, as many at once as fit."""
        device = self.gradients.device
        total = pairs * self._members
        parts = []
        for part in self.gradients.pair_chunks(total, weight=_AGAIN):
            index = torch.arange(part.start, part.stop, device=device)
            owners = index if self.samples is not None else index // self.gradients.samples
            parts.append((owners, self.samples[index] if self.samples is not None else index % self.gradients.samples))
        return parts
