"""Change of gradients between two points, and its slope in both, for an ascent.

The change is |G(x) - G(y)|, where G is the clipped gradient of one sample, or the mean of those of all samples. With
the unit vector u along G(x) - G(y) its slope in x is J(x)' u, where the Jacobian J of the clipped gradient is H below
the clip norm K and (K / |g|) (1 - g g' / |g|^2) H above; both factors are symmetric. Hessian-vector products go
forward over reverse: two reverse passes through a convolution, at points of its own for every pair, are many times
dearer.
"""

from math import inf

import torch
from torch import Tensor
from torch.func import vmap

from lastiterate.runtime.gradients import Gradients

_WEIGHT = 4
"""Memory of a gradient that is differentiated again, in gradients; half of the budget is for the points."""


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
        for part in self.gradients.pair_chunks(total, weight=_WEIGHT):
            index = torch.arange(part.start, part.stop, device=device)
            owners = index if self.samples is not None else index // self.gradients.samples
            parts.append((owners, self.samples[index] if self.samples is not None else index % self.gradients.samples))
        return parts
