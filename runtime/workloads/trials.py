"""Code of a user that is tried out: what it raises in one sentence, and when two outputs differ."""

import importlib
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Final

import torch
from torch import Tensor

import lastiterate
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.devices import ran_out

_OF_OTHERS: Final = tuple(f"{Path(inspect.getfile(one)).parent}{os.sep}" for one in (torch, lastiterate, importlib))
"""Folders whose code is not the user's."""

_WORDS: Final = 300
"""Letters of another's error that are told."""


def raised(error: BaseException) -> str:
    """Describe what was raised, and where, in a part of a sentence."""
    words = " ".join(str(error).split()).rstrip(".;")
    said = f": {shorten(words, _WORDS, placeholder=' ...')}" if words else ""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(("<frozen", *_OF_OTHERS)):
            place = f" at {file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{said}{place}"


@contextmanager
def told(need: str, rest: str) -> Iterator[None]:
    """Say in one sentence, an `InputError`, what the code of a user raised; memory that ran out is none of it."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if ran_out(error):
            raise
        raise InputError(f"{need}, got {raised(error)} {rest}") from error


@contextmanager
def random_state_kept(device: torch.device) -> Iterator[None]:
    """Leave torch's random numbers as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        yield


def first_tensor(output: object) -> Tensor | None:
    """The first tensor of what a module returns, or None where it is not real."""
    while isinstance(output, tuple | list | Mapping) and output:
        output = next(iter(output.values() if isinstance(output, Mapping) else output))
    return output if isinstance(output, Tensor) and output.is_floating_point() else None


def differ(left: Tensor, right: Tensor) -> bool:
    """Tell whether two outputs differ by more than rounding."""
    largest = right.nan_to_num(0.0, 0.0, 0.0).abs().max() if right.numel() else 0.0
    return bool(((left - right).abs() > tolerance(right) * largest).any())  # nan is never larger: the loss tells


def tolerance(values: Tensor) -> float:
    """More than rounding in another order gives, and far less than mixing does."""
    return float(torch.finfo(values.dtype).eps ** 0.5)


def refuse_complex(what: str, /, **held: Iterable[Tensor]) -> None:
    """Refuse complex numbers, of which a cast to a real dtype would take the real part in silence.

    Raises:
        InputError: with the name of those that hold one.
    """
    for name, values in held.items():
        for one in values:
            if one.is_complex():
                raise InputError(
                    f"{what} needs real numbers, as the imaginary part of others would be lost, got {name} of "
                    f"{str(one.dtype).removeprefix('torch.')}; hold torch.view_as_real of it, and make it complex by "
                    "torch.view_as_complex where it is used."
                )


def nearby(values: Tensor, share: float) -> Tensor:
    """Real numbers each made smaller by a random part of this share, noise where all are 0; others as they are.

    Probabilities stay probabilities, and logarithms of them stay negative.
    """
    if not values.is_floating_point():
        return values
    return values * (1 - share * torch.rand_like(values)) if bool(values.any()) else share * torch.randn_like(values)
