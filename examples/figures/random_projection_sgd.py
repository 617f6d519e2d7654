"""D2P2-SGD, DP2-SGD and D2P-SGD: noise behind a random projection of every layer, or none.

Matrices are drawn in blocks of columns and never stored: a layer of d parameters and rank p costs d p random numbers a
step, and memory for one block. They are the same on every device.
"""

from collections.abc import Callable, Iterator
from math import ceil, sqrt
from typing import Final

import torch
from random_projection import RandomProjectionRun
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.batches import draw_batches
from lastiterate.runtime.training.descent import BATCHES
from lastiterate.runtime.workloads.workload import Workload

MATRICES: Final = 2**55
"""The purpose of the stream that draws the matrices."""

_BLOCK = 2**22
"""Entries of a matrix that are drawn at once."""


def layer_ranks(module: nn.Module, kept: float) -> tuple[int, ...]:
    """The rank p = kept * d of every layer, rounded up, for the share ``kept`` in (0, 1] of its dimension d.

    A layer is one trained tensor. The "percentage of dimensionality reduction" of D2P2-SGD is 1 - kept.

    >>> layer_ranks(nn.Linear(4, 3), kept=0.5)
    (6, 2)
    """
    return tuple(ceil(kept * p.numel()) for p in module.parameters() if p.requires_grad)


class RandomProjectionSGD:
    """SGD with automatic clipping, a random projection of every layer, and noise behind it.

    W <- W - step_size A (A^T g / sqrt(p) + noise), see `random_projection`. The norm that clips
    is that of the whole gradient, of all projected layers together where clipping comes after the projection.

    Args:
        module: its trained parameters are moved in place; every tensor is a layer with a matrix of its own.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: the run, for `projection_bound`; it takes as many steps as `batches` gives batches.
        seed: of the noise, the matrices and the batches; the same draws on every device.

    Source: D2P2-SGD, algorithms 1 to 3.

    >>> from torch.nn.functional import mse_loss
    >>> module = nn.Linear(3, 1)
    >>> run = RandomProjectionRun(2, 0.1, 3.0, layer_ranks(module, 0.6), dataset_size=4)
    >>> optimiser = RandomProjectionSGD(module, mse_loss, run)
    >>> for batch in optimiser.batches():
    ...     optimiser.step(torch.ones(4, 3)[batch], torch.zeros(4, 1)[batch])
    >>> optimiser.done
    2
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        run: RandomProjectionRun,
        *,
        seed: int = 0,
    ) -> None:
        self.run, self.seed, self.done = run, seed, 0
        self._module, self._loss = module, loss
        self._trained = [p for p in module.parameters() if p.requires_grad]
        self._sizes = [p.numel() for p in self._trained]
        self._noise, self._matrices = stream(seed, purpose=0), stream(seed, purpose=MATRICES)

    def batches(self) -> Iterator[Tensor]:
        """Indices of the samples of every step."""
        return draw_batches(self.run, stream(self.seed, purpose=BATCHES))

    @torch.no_grad()
    def step(self, inputs: Tensor, targets: Tensor) -> None:
        """One update on the rows of a batch, shape (k, ...), k = 0 for an empty one."""
        run, t, point = self.run, self.done, parameters_to_vector(self._trained)
        size = sum(run.ranks) or len(point)
        (noise,) = self._noise.normals(1, size, point, torch.float64)
        seen = self._matrices.done
        after = bool(run.ranks) and run.clip == "after"
        mean = point.new_zeros(size if after else len(point))
        for whole in self._gradients(inputs, targets):
            rows = self._projected(whole, seen) if after else whole
            # Automatic clipping, Bu et al. 2023.
            clipped = 1 / (torch.linalg.vector_norm(rows, dim=1) + run.stability)
            mean += rows.mul_(clipped[:, None]).sum(dim=0)
        mean /= run.batch
        if run.ranks and not after:
            mean = self._projected(mean[None], seen)[0]
        released = mean + run.noise_std_at(t) * noise
        moved = self._back(released, point, seen) if run.ranks else released
        vector_to_parameters(point - run.step_size_at(t) * moved, self._trained)
        self.done += 1

    def _gradients(self, inputs: Tensor, targets: Tensor) -> Iterator[Tensor]:
        """Per-sample gradients, some samples at a time, each of shape (samples, dimension)."""
        if len(inputs):
            point = parameters_to_vector(self._trained)
            batch = Workload("a batch", lambda: self._module, self._loss, inputs, targets)
            dtype = str(point.dtype).removeprefix("torch.")
            gradients = Gradients(
                batch, self._module, dtype=dtype, device=str(point.device), tried=not self.done
            )
            for chunk in gradients.sample_chunks():
                yield flat(gradients.at(point[None], chunk))[0]

    def _projected(self, rows: Tensor, seen: int) -> Tensor:
        """A^T row / sqrt(p) of every row, layer after layer; shape (k, sum of ranks) for rows of shape (k, dimension).

        The matrices of this step are drawn from the stream after its first ``seen`` blocks.
        """
        parts = torch.split(rows, self._sizes, dim=1)
        found = [
            parts[layer] @ block.T / sqrt(self.run.ranks[layer]) for layer, block in self._blocks(rows, seen)
        ]
        return torch.cat(found, dim=1)

    def _back(self, values: Tensor, point: Tensor, seen: int) -> Tensor:
        """A times the values, layer after layer; values of shape (sum of ranks,), the result of shape (dimension,)."""
        found = [point.new_zeros(size) for size in self._sizes]
        used = 0
        for layer, block in self._blocks(point, seen):
            found[layer] += values[used : used + len(block)] @ block
            used += len(block)
        return torch.cat(found)

    def _blocks(self, like: Tensor, seen: int) -> Iterator[tuple[int, Tensor]]:
        """Rows of A^T of every layer, a few at a time, with the layer's place, from block ``seen`` of the stream on."""
        self._matrices.done = seen
        for layer, (size, rank) in enumerate(zip(self._sizes, self.run.ranks, strict=True)):
            width = max(1, _BLOCK // size)
            for start in range(0, rank, width):
                drawn = self._matrices.normals(min(width, rank - start), size, like, like.dtype)
                yield layer, drawn.mul_(self.run.entry_std)
