"""Free memory of a device, and refusal, before any work, of what it has no room for.

Linux promises memory that it does not have, and kills the process that uses it: one cannot wait for a failure.
"""

from collections.abc import Callable, Sequence
from math import inf, prod
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lastiterate.numeric.errors import InputError

_GIB: Final = 2**30
_SMALL: Final = 2**26
"""Bytes of a tensor that are not worth a look."""


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
