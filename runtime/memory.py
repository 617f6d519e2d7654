"""Memory: what running out of it says."""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

import torch

from lastiterate.numeric.errors import InputError

__all__ = ["ran_out", "says_when_memory_runs_out"]

P = ParamSpec("P")
Result = TypeVar("Result")

_OF_THE_ALLOCATORS: Final = ("DefaultCPUAllocator", "out of memory", "not enough memory", "ALLOC_FAILED")


def ran_out(error: BaseException) -> bool:
    """Whether this error means that memory ran out, on whatever device."""
    told = isinstance(error, RuntimeError) and any(said in str(error) for said in _OF_THE_ALLOCATORS)
    return told or isinstance(error, (MemoryError, torch.OutOfMemoryError))


def says_when_memory_runs_out(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function end with one sentence, an `InputError`, where memory runs out in it.

    >>> @says_when_memory_runs_out
    ... def greedy() -> None:
    ...     raise MemoryError
    >>> greedy()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lastiterate.numeric.errors.InputError: The measurement needs more memory than there is, got MemoryError; ...
    """

    @wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except (MemoryError, RuntimeError) as error:
            if not ran_out(error):
                raise
            said = str(error).strip().partition("\n")[0].rstrip(".")[:160]
            raise InputError(
                f"The measurement needs more memory than there is, got {type(error).__name__}"
                f"{f' ({said})' if said else ''}; lower memory (--memory), or measure fewer points at once."
            ) from error

    return told
