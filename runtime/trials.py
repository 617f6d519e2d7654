"""Errors of user code in one sentence, and refusal of complex numbers."""

import importlib
import inspect
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Final

import torch
from torch import Tensor

import lastiterate
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.devices import ran_out

_OF_OTHERS: Final = tuple(
    f"{Path(inspect.getfile(one)).parent}{os.sep}" for one in (torch, lastiterate, importlib)
)
"""Folders whose code is not the user's."""

_LETTERS: Final = 300
"""Largest number of characters quoted from another error message."""


def describe_error(error: BaseException) -> str:
    """Describe an exception, and the line of the user's code that raised it."""
    words = " ".join(str(error).split()).rstrip(".;")
    said = f": {shorten(words, _LETTERS, placeholder=' ...')}" if words else ""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(("<frozen", *_OF_OTHERS)):
            place = f" at {file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{said}{place}"


@contextmanager
def user_code(need: str, rest: str) -> Iterator[None]:
    """Turn an exception of user code into an `InputError`, unless memory ran out."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if ran_out(error):
            raise
        raise InputError(f"{need}, got {describe_error(error)} {rest}") from error


def refuse_complex(what: str, /, **values: Iterable[Tensor]) -> None:
    """Refuse complex numbers, whose imaginary part a cast would silently drop."""
    for name, tensors in values.items():
        for one in tensors:
            if one.is_complex():
                raise InputError(
                    f"{what} needs real numbers, because the imaginary parts of complex numbers would be lost, got "
                    f"{name} of {str(one.dtype).removeprefix('torch.')}; store torch.view_as_real of it, and "
                    "convert it back with torch.view_as_complex where it is used."
                )
