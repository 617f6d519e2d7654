"""Devices, floating-point formats, threads and memory.

Work that would need too much memory is refused, since Linux would kill the process.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from math import inf
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, count

DTYPES: Final = {"float32": torch.float32, "float64": torch.float64}


def device_of(name: str) -> torch.device:
    """The torch device called ``name``: cpu, cuda or cuda:INDEX.

    On CUDA this permanently disables TF32, since the rounding of float32 is assumed.
    """
    there = {"cpu": 1, "cuda": torch.cuda.device_count()}
    try:
        device = torch.device(str(name))
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in there:
        raise InputError(f"The device must be cpu, cuda or cuda:INDEX, got device={name}; use cpu.")
    if (device.index or 0) >= there[device.type]:
        raise InputError(
            f"The device must exist on this machine and be supported by torch, got device={name} where torch "
            f"{torch.__version__} sees {there[device.type]} of type {device.type}; use cpu."
        )
    if device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return device


@contextmanager
def threads_of_torch(threads: int) -> Iterator[None]:
    """Make torch use ``threads`` threads on the CPU."""
    most = 4 * (os.cpu_count() or 1)
    if count("threads", threads) > most:  # OpenMP ends the process if the system lacks them
        raise InputError(
            f"threads can be at most {most} on this machine, four per core, got threads={threads}; use fewer."
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
"""Options of mallopt, from glibc's malloc.h."""

MEMORY: Final = 256 * 2**20
"""Size of a chunk on the CPU, in bytes; chunks four times as large are not faster."""

_SHARE: Final = 0.9
"""Share of a GPU's free memory that a chunk may take."""

_PAIRS: Final = 4
"""Minimum number of pairs in a chunk on the CPU, if the machine has the memory for them."""

_GIB: Final = 2**30
_OF_THE_ALLOCATORS: Final = ("DefaultCPUAllocator", "out of memory", "not enough memory", "ALLOC_FAILED")


@torch.no_grad()
def bytes_of_a_pair(module: nn.Module, row: Tensor, dimension: int, dtype: torch.dtype) -> int:
    """Estimated memory of one (point, sample) pair, from a batch of one ``row`` on the module's device."""
    seen = 0

    def count(_module: nn.Module, _inputs: object, output: object) -> None:
        nonlocal seen
        seen += output.numel() if isinstance(output, Tensor) else 0

    watched = [part for part in module.modules() if not isinstance(part, torch.jit.ScriptModule)]
    hooks = [part.register_forward_hook(count) for part in watched]
    try:
        module(row)
    finally:
        for hook in hooks:
            hook.remove()
    return dtype.itemsize * (_COPIES_OF_GRADIENT * dimension + _COPIES_OF_ACTIVATION * seen)


def free_memory(device: torch.device) -> float:
    """Bytes available on a device, including those that torch keeps for reuse; inf if unknown."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + kept
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return inf
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), inf)


def refuse_beyond(what: str, needed: float, device: torch.device, remedy: str) -> None:
    """Raise an `InputError` if ``needed`` bytes are not available."""
    if needed > (free := free_memory(device)):
        room = f"{free / _GIB:.3g} GiB free on device={device}"
        raise InputError(f"{what} {needed / _GIB:.3g} GiB of memory, got {room}; {remedy}.")


def peak(work: Callable[[], object], device: torch.device) -> int:
    """Largest number of bytes that torch holds on a CUDA device during ``work``, less the number before."""
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    return torch.cuda.max_memory_allocated(device) - before


def refuse_large(module: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
    """Refuse a network if the gradients of a single pair exceed the memory."""
    moving = sum(p.numel() for p in module.parameters() if p.requires_grad)
    smaller = "use float32, " if dtype is torch.float64 else ""
    remedy = f"{smaller}freeze layers, or use a smaller network or a machine with more memory"
    refuse_beyond(
        f"A gradient of {moving} parameters takes",
        _COPIES_OF_GRADIENT * moving * dtype.itemsize,
        device,
        remedy,
    )


def memory_of(device: torch.device, of_a_pair: int) -> int:
    """Default size of a chunk in bytes, if one (point, sample) pair takes ``of_a_pair`` bytes.

    On CUDA the default is 90% of the free memory. On the CPU it is `MEMORY` or, if larger, the size of four
    pairs, up to half of the machine's memory.
    """
    if device.type == "cuda":
        return int(_SHARE * free_memory(device))
    names = getattr(os, "sysconf_names", {})
    known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 if known else MEMORY
    return max(MEMORY, min(_PAIRS * of_a_pair, half))


def ran_out(error: BaseException) -> bool:
    """True if this error means that memory ran out."""
    told = isinstance(error, RuntimeError) and any(said in str(error) for said in _OF_THE_ALLOCATORS)
    return told or isinstance(error, (MemoryError, torch.OutOfMemoryError))


@cache
def keep_freed_memory() -> bool:
    """Make glibc keep freed memory, since the kernel clears pages that are mapped again; True on success."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return set_option is not None and all(
        set_option(option, value) == 1 for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1))
    )


def says_when_memory_runs_out(function: Callable[P, Result]) -> Callable[P, Result]:
    """Make a function keep the memory that it frees, and raise an `InputError` if memory runs out."""

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
                "The measurement needs more memory than is available, got "
                f"{type(error).__name__}{f' at {asked[1]}' if asked else ''}; lower the memory budget (--memory), "
                "measure at fewer points at once, or use a smaller network."
            ) from error

    return told
