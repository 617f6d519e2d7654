"""Points and samples in chunks that fit the memory of a device, and work that is recorded where it is little."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from weakref import proxy

import torch

from lastiterate.runtime.replay import Replayed, records

_LITTLE: Final = 8
"""Work is recorded where it takes no more than an eighth of the memory of a chunk: a recording keeps what it uses."""

_AGAIN: Final = 2
"""On CUDA the memory of a gradient is measured, on the CPU estimated to be far more: work that holds several of them,
or differentiates them again, is so much heavier there."""


class Chunks:
    """Sizes of chunks.

    Attributes:
        device: where the work is done.
        dtype: of points and gradients.
        dimension: number of trained parameters.
        samples: number of samples.
        memory: bytes that one chunk may take.
    """

    device: torch.device
    dtype: torch.dtype
    dimension: int
    samples: int
    memory: int
    _pairs_at_once: int
    _first: "Chunks | None"  # of those that share what is recorded, the one that it is recorded of
    _replayed: dict[Callable[..., Any], Replayed]

    def sample_chunks(self, count: int | None = None, *, weight: int = 1) -> Iterator[slice]:
        """Slices of ``count`` samples (None: all), as many at once as fit at one point; weight as in `pair_chunks`."""
        stop = self.samples if count is None else count
        step = min(self.samples, max(1, self._pairs_at_once // self._heavy(weight)))
        return (slice(i, min(i + step, stop)) for i in range(0, stop, step))

    def point_chunks(self, points: int, samples: int | None = None) -> Iterator[slice]:
        """Slices of ``points`` points, as many at once as fit beside a chunk of ``samples`` samples (None: all)."""
        count = self.samples if samples is None else max(1, samples)
        step = max(1, self._pairs_at_once // min(count, self._pairs_at_once))
        return (slice(i, min(i + step, points)) for i in range(0, points, step))

    def point_groups(self, points: int) -> Iterator[slice]:
        """Slices of whole `point_chunks`, as many points as may keep their sums over the samples within the budget."""
        step = max(1, self._pairs_at_once // min(self.samples, self._pairs_at_once))
        size = self._pairs_at_once // step * step
        return (slice(i, min(i + size, points)) for i in range(0, points, size))

    def pair_chunks(self, pairs: int, *, weight: int = 1) -> Iterator[slice]:
        """Slices of ``pairs`` (point, sample) pairs, as many at once as fit where each weighs that many gradients."""
        step = max(1, self._pairs_at_once // self._heavy(weight))
        return (slice(i, min(i + step, pairs)) for i in range(0, pairs, step))

    def vector_chunks(self, vectors: int, *, copies: int) -> Iterator[slice]:
        """Slices of ``vectors`` points, as many at once as fit where so many tensors of their shape live together."""
        step = max(1, self.memory // (copies * self.dimension * self.dtype.itemsize))
        return (slice(i, min(i + step, vectors)) for i in range(0, vectors, step))

    def replayed(self, function: Callable[..., Any], pairs: int, most: int | None = None) -> Callable[..., Any]:
        """A function of these gradients and of tensors, recorded on a GPU where it is about few (point, sample) pairs.

        See `lastiterate.runtime.replay`; what it knows of the samples must be among its arguments. ``most`` is the
        number of pairs that fit, where it is not that of gradients in full.
        """
        if not self.little(pairs, most):
            return partial(function, self)
        if function not in self._replayed:
            recorded = partial(function, proxy(self._first or self))  # goes with these
            self._replayed[function] = Replayed(recorded)
        return self._replayed[function]

    def little(self, pairs: int, most: int | None = None) -> bool:
        """Tell whether work on so many (point, sample) pairs is to be recorded."""
        return records(self.device) and pairs * _LITTLE <= (self._pairs_at_once if most is None else most)

    def _heavy(self, weight: int) -> int:
        return weight * _AGAIN if weight > 1 and self.device.type == "cuda" else weight
