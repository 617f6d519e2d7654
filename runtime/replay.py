"""Recording and replay of many small kernels on CUDA, for each argument shape (CUDA graphs).

Launching a small kernel takes longer than running it; one call launches a whole recording.
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

READS: Final = frozenset(
    (
        "_local_scalar_dense",
        "nonzero",
        "masked_select",
        "equal",
        "is_nonzero",
        "unique_dim",
        "_unique2",
        "bincount",
    )
)
"""Operators that read a number or a size from the device."""

MASKS: Final = (torch.bool, torch.uint8)
"""Dtypes of indices that have the same effect as these operators."""

_COPYING: Final = ("copy", "index", "scatter", "where")
"""Parts of the names of operators that copy from the CPU to the device, even a single number."""

_MOST: Final = 8
"""Largest number of recordings per function; further shapes are not recorded."""


class Replayed:
    """A function of tensors whose work is recorded and replayed on devices that support it.

    Arguments are tensors, tuples and dictionaries of tensors, and hashable values, none of which is written
    to. The first call of each shape runs unrecorded, so that libraries load their kernels. The second call is
    inspected: if it reads from the device or copies to it, its shape is never recorded.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._recordings: dict[Hashable, _Recording | None] = {}
        self._fit: dict[Hashable, bool | None] = {}

    def __call__(self, *given: Any) -> Any:
        leaves, structure = tree_flatten(given)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if not records(tensors[0].device) or any(one.requires_grad for one in tensors):
            return self.function(*given)
        key = (
            repr(structure),
            *((leaf.shape, leaf.dtype) if isinstance(leaf, Tensor) else leaf for leaf in leaves),
        )
        if key not in self._fit:
            self._fit[key] = None
            return self.function(*given)
        if self._fit[key] is None:
            with _Looking() as looking:
                made = self.function(*given)
            self._fit[key] = looking.fit
            return made
        if key not in self._recordings and self._fit[key] and len(self._recordings) < _MOST:
            self._recordings[key] = _recorded(self.function, given)
        recording = self._recordings.get(key)
        return self.function(*given) if recording is None else recording(tensors)


class _Looking(TorchDispatchMode):
    """Inspection of a call; ``fit`` is False if the call read from the device or copied to it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.fit = True

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        name: str = func.overloadpacket.__name__  # type: ignore[attr-defined]
        self.fit &= name not in READS
        if any(part in name for part in _COPYING):
            seen = [one for one in tree_leaves((args, kwargs, made)) if isinstance(one, Tensor)]
            self.fit &= len({one.device for one in seen}) <= 1
        if "index" in name:
            self.fit &= all(one.dtype not in MASKS for one in tree_leaves(args[1:2]) if isinstance(one, Tensor))
        return made


def records(device: torch.device) -> bool:
    """True if work on this device can be recorded; False within a recording."""
    return device.type in _RECORDERS and not _RECORDING


def _recorded(function: Callable[..., Any], given: tuple[Any, ...]) -> "_Recording | None":
    """Record a call as a function of its tensors; None if the recording fails."""
    held: list[Tensor] = []

    def keep(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        held.append(leaf.clone())
        return held[-1]

    arguments = tree_map(keep, given)
    _RECORDING.append(function)
    try:
        start, made = _RECORDERS[held[0].device.type](lambda: function(*arguments), held[0].device)
    except RuntimeError:
        return None
    finally:
        _RECORDING.pop()

    def replay(tensors: list[Tensor]) -> Any:
        for own, new in zip(held, tensors, strict=True):
            own.copy_(new)
        start()
        return tree_map(lambda one: one.clone() if isinstance(one, Tensor) else one, made)

    return replay


def _on_cuda(work: Callable[[], Any], device: torch.device) -> tuple[Callable[[], None], Any]:
    with torch.cuda.device(device):
        stream, pool, _ = _place(device)
        return _graph(work, stream, pool)


def _graph(work: Callable[[], Any], stream: torch.cuda.Stream, pool: Any) -> tuple[Callable[[], None], Any]:
    graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
    try:
        with torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"):
            made = work()
    except BaseException:  # including Ctrl-C
        torch.cuda.set_stream(before)
        _place.cache_clear()  # no further recordings after a failure
        _mend(stream, pool)
        raise
    return graph.replay, made


def _mend(stream: torch.cuda.Stream, pool: Any) -> None:
    """Enable torch to draw numbers and free memory again after a failed recording."""
    with suppress(RuntimeError, AttributeError):  # already ended, or missing from this version of torch
        torch._C._cuda_endAllocateToPool(stream.device_index, pool)
    with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream):
        torch.zeros(1, device=stream.device)


@cache
def _place(device: torch.device) -> tuple[torch.cuda.Stream, Any, Any]:
    """Stream and memory pool of a device's recordings, and a first recording that keeps the pool alive."""
    stream, pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()  # type: ignore[no-untyped-call]
    return stream, pool, _graph(lambda: torch.zeros(1, device=device), stream, pool)


_Recording = Callable[[list[Tensor]], Any]
_Recorder = Callable[[Callable[[], Any], torch.device], tuple[Callable[[], None], Any]]

_RECORDERS: Final[dict[str, _Recorder]] = {"cuda": _on_cuda}
"""Recorders by device type; each returns a function that repeats the work, and the tensors that the work writes."""

_RECORDING: Final[list[Callable[..., Any]]] = []
"""Work that is being recorded."""
