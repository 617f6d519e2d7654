"""Processor time that a check may take, so that a busy machine decides as an idle one does.

A check stops at its next question to z3. A process of `runner` that does not end in time, whatever it computes or waits
for, is killed by the one that started it, which starts another that gives up that step (`watched`). A single worker is
a process of its own on Linux alone.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import process_time
from typing import Final

SECONDS: Final = 60
"""A check that computes for longer has no answer. No claim of the ledger comes near this."""

_until: ContextVar[tuple[float, float]] = ContextVar("_until", default=(inf, inf))
"""Processor time at which the present check is given up, and the time that it was given."""
_allowed: ContextVar[float] = ContextVar("_allowed", default=SECONDS)
_begin: ContextVar[Callable[[], None] | None] = ContextVar("_begin", default=None)
"""Called at each outermost block with a limit, where another process watches."""


def seconds_left() -> float:
    """Seconds left to the present check, inf without a limit; TimeoutError where none are left."""
    until, limit = _until.get()
    left = until - process_time()
    if left <= 0:
        raise TimeoutError(too_late(limit))
    return left


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Give each check inside the block this time."""
    token = _allowed.set(seconds)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def watched(tell: Callable[[int], None], given_up: Mapping[int, str]) -> Iterator[None]:
    """Report the number of each step inside the block, from 1 on, before it begins.

    ``given_up`` gives the reason why the step of a number has no answer; that of 0 is for all of them.
    """
    number = 0

    def begin() -> None:
        nonlocal number
        number += 1
        if why := given_up.get(number) or given_up.get(0):
            raise TimeoutError(why)
        tell(number)

    token = _begin.set(begin)
    try:
        yield
    finally:
        _begin.reset(token)


def too_late(seconds: float) -> str:
    """Sentence that a check has no answer within its time."""
    return f"no answer within {seconds:g} s of computing; simplify the check, or use `check --time-limit`"


@contextmanager
def limited() -> Iterator[None]:
    """Give what is inside the block the time of `allowing`; a block inside another one has what is left of that."""
    if _until.get()[0] < inf:
        yield
        return
    if (begin := _begin.get()) is not None:
        begin()
    limit = _allowed.get()
    token = _until.set((process_time() + limit, limit))
    try:
        yield
    finally:
        _until.reset(token)
