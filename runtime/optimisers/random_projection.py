"""D2P2-SGD, DP2-SGD and D2P-SGD as a torch optimiser: noise behind a random projection of every layer, or none.

Matrices are drawn in blocks of columns and never stored: a layer of d parameters and rank p costs d p random numbers a
step, and memory for one block. They are the same on every device.
"""

from collections.abc import Callable, Iterator
from math import ceil, sqrt

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, portion, teaches
from lastiterate.numeric.random_projection import RandomProjectionRun
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor, flat
from lastiterate.runtime.optimisers.private import PrivateOptimiser
from lastiterate.runtime.random_streams import stream

MATRICES = 2**55
"""The purpose of the stream that draws the matrices."""

_BLOCK = 2**22
"""Entries of a matrix that are drawn at once."""


@teaches()
def layer_ranks(module: nn.Module, kept: float) -> tuple[int, ...]:
    """The rank p of every layer that keeps a share of its dimension, rounded up.

    A layer is one trained tensor. The "percentage of dimensionality reduction" of D2P2-SGD is 1 - kept.

    Args:
        module: the module to train.
        kept: p / d, in (0, 1].

    Raises:
        InputError: kept is out of range.

    >>> layer_ranks(nn.Linear(4, 3), kept=0.5)
    (6, 2)
    """
    kept = portion("kept", kept, "a share in (0, 1]", "0.3 keeps three tenths of each layer.")
    if not isinstance(module, nn.Module):
        raise InputError(f"layer_ranks needs a torch.nn.Module, got module={type(module).__name__}; give one.")
    return tuple(ceil(kept * p.numel()) for p in module.parameters() if p.requires_grad)


@teaches()
class RandomProjectionSGD(PrivateOptimiser[RandomProjectionRun]):
    """SGD with automatic clipping, a random projection of every layer, and noise behind it.

    W <- W - step_size A (A^T g / sqrt(p) + noise), see `lastiterate.numeric.random_projection`. The norm that clips
    is that of the whole gradient, of all projected layers together where clipping comes after the projection.

    Args:
        module: its trained parameters are moved in place; every tensor is a layer with a matrix of its own.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: what is to be run; `accounted` says what has been, for `projection_bound`.
        seed: of the noise, the matrices and the batches; the same draws on every device.
        memory: bytes that one chunk of per-sample gradients may take; None for what the device has room for.
        cuda_graphs: as of `lastiterate.runtime.optimisers.optimiser.ProjectedNoisySGD`.

    Raises:
        InputError: the module mixes samples or is random, has nothing to train, or other layers than the run says.

    Source: D2P2-SGD, algorithms 1 to 3.

    >>> from torch.nn.functional import mse_loss
    >>> module = nn.Linear(3, 1)
    >>> run = RandomProjectionRun(2, 0.1, 3.0, layer_ranks(module, 0.6), dataset_size=4)
    >>> optimiser = RandomProjectionSGD(module, mse_loss, run)
    >>> for batch in optimiser.batches():
    ...     optimiser.step(torch.ones(4, 3)[batch], torch.zeros(4, 1)[batch])
    >>> optimiser.accounted() == run
    True
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        run: RandomProjectionRun,
        *,
        seed: int = 0,
        memory: int | None = None,
        cuda_graphs: bool = False,
    ) -> None:
        self._need("run", run, RandomProjectionRun, "a RandomProjectionRun")
        super().__init__(module, loss, run, seed=seed, memory=memory, cuda_graphs=cuda_graphs)
        self._sizes = [p.numel() for p in self._trained()]
        if run.ranks and len(self._sizes) != len(run.ranks):
            raise InputError(
                f"ranks needs one number for each of the {len(self._sizes)} trained tensors, got {len(run.ranks)} "
                "numbers; take layer_ranks(module, kept)."
            )
        self._streams["matrices"] = stream(seed, purpose=MATRICES)

    def _moved(self, point: Tensor, gradients: Gradients | None) -> Tensor:
        run, t = self.run, self.done
        noise = run.noise_std_at(t) * self._normal(sum(run.ranks) or len(point), point)
        seen = self._streams["matrices"].done
        if run.clip == "after" and run.ranks:
            mean = self._clipped_after(point, gradients, seen) / run.batch
        else:
            mean = torch.zeros_like(point)
            if gradients is not None:
                mean = gradients.total(point, 1.0, stability=run.stability) / run.batch
            if run.ranks:
                mean = self._projected(mean[None], seen)[0]
        released = mean + noise
        return point - run.step_size_at(t) * (self._back(released, point, seen) if run.ranks else released)

    def _clipped_after(self, point: Tensor, gradients: Gradients | None, seen: int) -> Tensor:
        """Sum over the samples of their projected gradients, each clipped; shape (sum of ranks,)."""
        total = point.new_zeros(sum(self.run.ranks))
        if gradients is None:
            return total
        for chunk in gradients.sample_chunks():
            rows = self._projected(flat(gradients.at(point[None], chunk))[0], seen)
            total += clip_factor(torch.linalg.vector_norm(rows, dim=1), 1.0, self.run.stability) @ rows
        return total

    def _projected(self, rows: Tensor, seen: int) -> Tensor:
        """A^T row / sqrt(p) of every row, layer after layer; shape (k, sum of ranks) for rows of shape (k, dimension).

        The matrices of this step are drawn from the stream as it was when ``seen`` blocks had been drawn.
        """
        parts = torch.split(rows, self._sizes, dim=1)
        found = [parts[layer] @ block.T / sqrt(self.run.ranks[layer]) for layer, block in self._blocks(rows, seen)]
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
        drawn = self._streams["matrices"]
        drawn.done = seen
        for layer, (size, rank) in enumerate(zip(self._sizes, self.run.ranks, strict=True)):
            width = max(1, _BLOCK // size)
            for start in range(0, rank, width):
                yield layer, drawn.normals(min(width, rank - start), size, like, like.dtype).mul_(self.run.entry_std)
