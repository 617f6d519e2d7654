"""Devices, floating-point formats, threads and memory of the machine; refusal, before any work, of what has no room.

Linux promises memory that it does not have, and kills the process that uses it: one cannot wait for a failure.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from math import inf, prod
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from lastiterate.numeric.errors import InputError, count

DTYPES: Final = {"float32": torch.float32, "float64": torch.float64}


def device_of(name: str) -> torch.device:
    """The torch device called ``name``: cpu, cuda, cuda:1, mps.

    On CUDA it switches TF32 off for good, which convolutions use by default: float32 errors are assumed of float32.
    """
    try:
        device = torch.device(str(name))
    except RuntimeError:
        raise InputError(f"The device must be cpu, cuda, cuda:INDEX or mps, got device={name}; use cpu.") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if device.type not in there:
        raise InputError(f"The device must be cpu, cuda, cuda:INDEX or mps, got device={name}; use cpu.")
    if (device.index or 0) >= there[device.type]:
        raise InputError(
            f"The device must be on this machine and known to this torch, got device={name} where torch "
            f"{torch.__version__} sees {there[device.type]} of type {device.type}; use cpu."
        )
    if device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return device


@contextmanager
def threads_of_torch(threads: int) -> Iterator[None]:
    """Let torch use so many threads on the CPU, and afterwards as many as before."""
    most = 4 * (os.cpu_count() or 1)
    if count("threads", threads) > most:  # OpenMP ends the process where the system has not so many
        raise InputError(
            f"threads needs at most {most} on this machine, four a core, got threads={threads}; use fewer."
        )
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


P = ParamSpec("P")
Result = TypeVar("Result")

_COPIES_OF_GRADIENT: Final = 8
_COPIES_OF_ACTIVATION: Final = 4

_MMAP_MAX: Final = -4
_TRIM_THRESHOLD: Final = -1
"""Settings of mallopt, from malloc.h of glibc."""

MEMORY: Final = 256 * 2**20
"""Bytes of a chunk on the CPU: chunks that are four times as large are no faster."""

_SHARE: Final = 0.9
"""Share of the free memory of a GPU that a chunk may take."""

_PAIRS: Final = 4
"""Pairs that a chunk on the CPU has room for at least, where the machine has."""

_GIB: Final = 2**30
_SMALL: Final = 2**26
"""Bytes of a tensor that are not worth a look."""

_OF_THE_ALLOCATORS: Final = ("DefaultCPUAllocator", "out of memory", "not enough memory", "ALLOC_FAILED")


@torch.no_grad()
def bytes_of_a_pair(module: nn.Module, row: Tensor, dimension: int, dtype: torch.dtype) -> int:
    """Estimated working set of one (point, sample): its gradients and the activations of every layer.

    The row is a batch of one, where the module is; the dtype is that of the gradients.
    """
    seen = 0

    def count(_module: nn.Module, _inputs: object, output: object) -> None:
        nonlocal seen
        seen += output.numel() if isinstance(output, Tensor) else 0

    hooks = [part.register_forward_hook(count) for part in module.modules()]
    try:
        module(row)
    finally:
        for hook in hooks:
            hook.remove()
    return dtype.itemsize * (_COPIES_OF_GRADIENT * dimension + _COPIES_OF_ACTIVATION * seen)


def free_memory(device: torch.device) -> float:
    """Bytes that can be had on a device now, what torch keeps for reuse included; inf where that is not known."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + kept
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return inf
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), inf)


def refuse_beyond(what: str, needed: float, device: torch.device, remedy: str) -> None:
    """Raise an `InputError` where so many bytes cannot be had."""
    if needed > (free := free_memory(device)):
        room = f"{free / _GIB:.3g} GiB free on device={device}"
        raise InputError(f"{what} {needed / _GIB:.3g} GiB of memory, got {room}; {remedy}.")


class Allocating(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While torch makes tensors, refuse each that has no room, before it is made; ``what`` needs them."""

    def __init__(self, what: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._what = what

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the operation; those that make a tensor begin with its shape."""
        options = kwargs or {}
        if args and isinstance(args[0], list | tuple) and all(isinstance(n, int) for n in args[0]):
            needed = prod(args[0]) * (options.get("dtype") or torch.get_default_dtype()).itemsize
            device = torch.device(options.get("device") or "cpu")
            if needed > _SMALL and device.type != "meta":
                remedy = "take a smaller network, or a machine with more memory"
                refuse_beyond(f"{self._what}, a tensor of shape {tuple(args[0])} in it, takes", needed, device, remedy)
        return func(*args, **options)


def peak(work: Callable[[], object], device: torch.device) -> int:
    """Bytes that torch holds on a CUDA device at most while it does some work, beyond what it held before."""
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    return torch.cuda.max_memory_allocated(device) - before


def refuse_large(module: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
    """Refuse a network of which not even the gradients of one pair have room."""
    moving = sum(p.numel() for p in module.parameters() if p.requires_grad)
    smaller = "take float32, " if dtype is torch.float64 else ""
    remedy = f"{smaller}freeze layers, or take a smaller network or a machine with more memory"
    refuse_beyond(
        f"A gradient of {moving} parameters takes", _COPIES_OF_GRADIENT * moving * dtype.itemsize, device, remedy
    )


def memory_of(device: torch.device, of_a_pair: int) -> int:
    """Bytes that a chunk may take on a device where nobody says, at one (point, sample) of so many bytes.

    On CUDA it is 90% of what is free now, or kept by torch for reuse; on mps of what the system recommends.
    On the CPU it is `MEMORY`, or four pairs where these need more, but no more than half of the machine's memory: a
    number that depends on the network and not on how busy the machine is.
    """
    if device.type == "cuda":
        return int(_SHARE * free_memory(device))
    if device.type == "mps":
        return int(_SHARE * (torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()))
    names = getattr(os, "sysconf_names", {})
    known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 if known else MEMORY
    return max(MEMORY, min(_PAIRS * of_a_pair, half))


def ran_out(error: BaseException) -> bool:
    """Tell whether this error means that memory ran out, on whatever device."""
    told = isinstance(error, RuntimeError) and any(said in str(error) for said in _OF_THE_ALLOCATORS)
    return told or isinstance(error, (MemoryError, torch.OutOfMemoryError))


@cache
def keep_freed_memory() -> bool:
    """Let the process keep the memory that it frees, instead of mapping every large vector anew; True if it does.

    The kernel clears each page that it maps: two thirds of the time of a search in a network of 22 million parameters.
    Only the allocator of glibc (Linux) is known to do so; elsewhere nothing changes.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return set_option is not None and all(
        set_option(option, value) == 1 for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1))
    )


def says_when_memory_runs_out(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function keep the memory that it frees, and end with one sentence where memory runs out in it.

    >>> @says_when_memory_runs_out
    ... def greedy() -> None:
    ...     raise MemoryError
    >>> greedy()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lastiterate.numeric.errors.InputError: The measurement needs more memory than there is, got MemoryError; ...
    """

    @wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> Result:
        keep_freed_memory()
        try:
            return function(*args, **kwargs)
        except (MemoryError, RuntimeError) as error:
            if not ran_out(error):
                raise
            asked = re.search(r"tried to allocate ([\d.]+ \w+)", str(error), re.IGNORECASE)
            raise InputError(
                f"The measurement needs more memory than there is, got {type(error).__name__}"
                f"{f' at {asked[1]}' if asked else ''}; lower memory (--memory), or measure fewer points at once, or a "
                "smaller network."
            ) from error

    return told
