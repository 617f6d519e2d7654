"""Work of many small kernels, recorded once for each shape on CUDA and started as a whole from then on (CUDA graphs).

The processor takes longer to start a kernel than a GPU takes to finish a small one: per-sample gradients of a network
of 515 parameters kept an H200 busy for a tenth of the time. A recording is started by one call.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map

_PLAIN: Final = 1
"""Calls that run as they are before one is recorded: libraries choose and load their kernels then."""

_MOST: Final = 8
"""Recordings that a function keeps; shapes beyond run as they are."""


class Recording(NamedTuple):
    """What was recorded.

    Attributes:
        held: the arguments that it reads.
        start: does the work again.
        made: what it writes, anew with each start.
    """

    held: list[Tensor]
    start: Callable[[], None]
    made: Any

    def __call__(self, given: list[Tensor]) -> Any:
        """What the function makes of these arguments, in tensors of their own."""
        for held, new in zip(self.held, given, strict=True):
            held.copy_(new)
        self.start()
        return tree_map(lambda made: made.clone() if isinstance(made, Tensor) else made, self.made)


class Replayed:
    """A function of tensors, of which the work is recorded and replayed where the device can do that.

    Arguments are tensors, tuples and dictionaries of them, and what can be hashed; the answer is of tensors alike. The
    work must depend on shapes and on what is hashed alone: nothing may be read off the device, nothing copied to it,
    and no argument written to. Where that fails the function runs as it is.

    Args:
        function: what is replayed.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._recordings: dict[Hashable, Recording | None] = {}
        self._calls: Counter[Hashable] = Counter()

    def __call__(self, *given: Any) -> Any:
        """Call the function, or start what was recorded of it."""
        leaves, structure = tree_flatten(given)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if not records(tensors[0].device) or any(one.requires_grad for one in tensors):
            return self.function(*given)
        key = repr(structure), *((leaf.shape, leaf.dtype) if isinstance(leaf, Tensor) else leaf for leaf in leaves)
        if key not in self._recordings:
            self._calls[key] += 1
            if self._calls[key] <= _PLAIN or len(self._recordings) >= _MOST:
                return self.function(*given)
            self._recordings[key] = _recorded(self.function, given)
        recording = self._recordings[key]
        return self.function(*given) if recording is None else recording(tensors)


def records(device: torch.device) -> bool:
    """Tell whether work on this device can be recorded, which it is not within a recording."""
    return device.type in _RECORDERS and not _RECORDING


def _recorded(function: Callable[..., Any], given: tuple[Any, ...]) -> Recording | None:
    """Record a call; None where something is read in it that a recording cannot know, or there is no memory for it."""
    held: list[Tensor] = []

    def kept(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        held.append(leaf.clone())
        return held[-1]

    arguments = tree_map(kept, given)
    _RECORDING.append(function)
    try:
        start, made = _RECORDERS[held[0].device.type](lambda: function(*arguments), held[0].device)
    except RuntimeError:
        return None
    finally:
        _RECORDING.pop()
    return Recording(held, start, made)


def _on_cuda(work: Callable[[], Any], device: torch.device) -> tuple[Callable[[], None], Any]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device):
        stream, pool = _place(device)
        before = torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"):
                made = work()
        finally:
            torch.cuda.set_stream(before)  # torch does not where a recording fails
    return graph.replay, made


@cache
def _place(device: torch.device) -> tuple[torch.cuda.Stream, Any]:
    """Where recordings of a device are made, and memory that all share: what one makes is copied before another starts."""
    return torch.cuda.Stream(), torch.cuda.graph_pool_handle()


_Recorder = Callable[[Callable[[], Any], torch.device], tuple[Callable[[], None], Any]]

_RECORDERS: Final[dict[str, _Recorder]] = {"cuda": _on_cuda}
"""What records some work, by the type of the device; it returns what does the work again, and what that writes."""

_RECORDING: Final[list[Callable[..., Any]]] = []
"""What is being recorded."""
