"""Devices and floating-point formats by name."""

from typing import Final

import torch

from lastiterate.numeric.errors import InputError

__all__ = ["DTYPES", "device_of"]

DTYPES: Final = {"float32": torch.float32, "float64": torch.float64}


def device_of(name: str) -> torch.device:
    """The torch device called ``name``: cpu, cuda, cuda:1, mps.

    On CUDA it switches TF32 off for good, which convolutions use by default: float32 errors are assumed of float32.

    Raises:
        InputError: no such device, or it is not there on this machine.
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
