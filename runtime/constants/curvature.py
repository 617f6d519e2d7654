"""Changes of per-sample gradients and their slopes, and largest absolute eigenvalues of per-sample Hessians.

The change is |G(x) - G(y)|, where G is the clipped gradient of one sample. Its slope in x is J(x)' u, where u
is the unit vector along G(x) - G(y). The Jacobian J of the clipped gradient is the Hessian H if the gradient
g is no longer than the clip norm K, and (K / |g|) (1 - g g' / |g|^2) H otherwise; both factors are symmetric.

Eigenvalues are computed by the Lanczos method for many pairs at once. Every Ritz value lies in the range of
the eigenvalues, so the largest absolute value is a lower estimate of the smoothness at that point.

Source: Lanczos 1950; Pearlmutter 1994 for products with the Hessian.
"""

from math import inf
from typing import Final

import torch
from torch import Tensor
from torch.func import vmap

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor

_WEIGHT: Final = 2
_AGAIN: Final = 4
"""Memory, in gradients, of a Hessian-vector product with its Lanczos vectors, and of a repeated derivative."""


def largest_ritz(
    gradients: Gradients, points: Tensor, inputs: Tensor, targets: Tensor, start: Tensor, steps: int
) -> Tensor:
    """Largest absolute Ritz value of each point's Hessian for its row, (points,); ``steps`` <= dimension."""
    parts = gradients.pair_chunks(len(points), weight=_WEIGHT)
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


class Changes:
    """Changes of gradients, clipped to ``clip_norm`` (inf: unclipped), over many pairs of points at once.

    Every pair has its own row of the data; inputs and targets have shape (pairs, ...).
    """

    def __init__(self, gradients: Gradients, inputs: Tensor, targets: Tensor, clip_norm: float = inf) -> None:
        self._rows, self._clip_norm = (inputs, targets), clip_norm
        self.rounding, at_once = gradients.rounding, gradients.fitting(_AGAIN)
        self._gradient = vmap(gradients.of_one, chunk_size=at_once)
        self._product = vmap(gradients.curved, chunk_size=at_once)

    def between(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Change G(x) - G(y), shape (pairs, dimension), and |g(x)| + |g(y)| before clipping, (pairs,)."""
        (here, long), (there, other) = ((g, torch.linalg.vector_norm(g, dim=1)) for g in map(self._at, (x, y)))
        factors = (clip_factor(one, self._clip_norm)[:, None] for one in (long, other))
        return here * next(factors) - there * next(factors), long + other

    def pulled(self, at: Tensor, vectors: Tensor) -> Tensor:
        """Products J(at)' vectors for every pair, shape (pairs, dimension)."""
        if self._clip_norm < inf:
            gradient = self._at(at)
            length = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
            along = gradient / length
            across = vectors - along * (along * vectors).sum(dim=1, keepdim=True)
            vectors = torch.where(length <= self._clip_norm, vectors, across * (self._clip_norm / length))
        product: Tensor = self._product(at, vectors, *self._rows)
        return product

    def _at(self, points: Tensor) -> Tensor:
        gradient: Tensor = self._gradient(points, *self._rows)
        return gradient
