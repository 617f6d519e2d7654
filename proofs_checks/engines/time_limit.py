"""Processor time that a check may take, so that a busy machine decides as an idle one does.

A check ends by itself at its next question to z3. A process of `runner` that does not end in time, whatever it computes
or waits for, is killed by the one that started it, which begins another that gives up that step (`watched`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import process_time
from types import MappingProxyType
from typing import Final

SECONDS: Final = 60
"""A check that computes for longer has no answer. No claim of the ledger comes near this."""

_until: ContextVar[tuple[float, float]] = ContextVar("_until", default=(inf, inf))
"""Processor time at which what is being decided is given up, and the time that it had."""
_allowed: ContextVar[float] = ContextVar("_allowed", default=SECONDS)
_begin: ContextVar[Callable[[str], None] | None] = ContextVar("_begin", default=None)
"""Called at each block with a limit that is in no other, where another process watches."""


def seconds_left() -> float:
    """The time left to the check that is being decided, inf without a limit; TimeoutError where none is left."""
    until, limit = _until.get()
    left = until - process_time()
    if left <= 0:
        raise TimeoutError(too_late(limit))
    return left


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Let each check inside the block take this time."""
    token = _allowed.set(seconds)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def watched(tell: Callable[[int, str], None], given_up: Mapping[int, str] = MappingProxyType({})) -> Iterator[None]:
    """Tell of each step inside the block before it is begun: its number from 1 on, and in words what it is.

    ``given_up`` says why a step of a number has no answer, or all of them: 0.
    """
    number = 0

    def begin(words: str) -> None:
        nonlocal number
        number += 1
        if why := given_up.get(number) or given_up.get(0):
            raise TimeoutError(why)
        tell(number, words)

    token = _begin.set(begin)
    try:
        yield
    finally:
        _begin.reset(token)


def too_late(seconds: float) -> str:
    """A sentence for what has no answer in its time."""
    return f"no answer within {seconds:g} s of computing; simplify the check or raise --time-limit"


@contextmanager
def limited(words: str = "") -> Iterator[None]:
    """Give what is inside the block the time of `allowing`; a block inside another one has what is left of that."""
    if _until.get()[0] < inf:
        yield
        return
    if (begin := _begin.get()) is not None:
        begin(words)
    limit = _allowed.get()
    token = _until.set((process_time() + limit, limit))
    try:
        yield
    finally:
        _until.reset(token)
