"""Limits on the processor time of a check, so that outcomes do not depend on the load of the machine.

A check that exceeds its limit stops at its next query to z3. A process of `runner` that overruns is killed by
its parent, which starts another process that gives up this step (`watched`). With a single worker, the checks run
in a separate process, which can be killed, only on Linux.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import process_time
from typing import Final

SECONDS: Final = 60
"""Processor seconds after which a check has no answer; no claim of the ledger comes near this limit."""

_until: ContextVar[tuple[float, float]] = ContextVar("_until", default=(inf, inf))
"""Processor time at which the current check is given up, and its limit in seconds."""
_allowed: ContextVar[float] = ContextVar("_allowed", default=SECONDS)
_begin: ContextVar[Callable[[], None] | None] = ContextVar("_begin", default=None)
"""Function called at the start of each outermost `limited` block inside `watched`."""


def seconds_left() -> float:
    """Seconds left to the current check, inf without a limit; raises TimeoutError if none are left."""
    until, limit = _until.get()
    left = until - process_time()
    if left <= 0:
        raise TimeoutError(too_late(limit))
    return left


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Limit each check inside the block to this many seconds of processor time."""
    token = _allowed.set(seconds)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def watched(tell: Callable[[int], None], given_up: Mapping[int, str]) -> Iterator[None]:
    """Report the number of each step inside the block, from 1 on, before the step begins.

    ``given_up`` maps a step, or 0 for all steps, to the reason why there is no answer.
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
    """Sentence about a check that has no answer in time."""
    return f"no answer within {seconds:g} s of computing; simplify the check, or use `check --time-limit`"


@contextmanager
def limited() -> Iterator[None]:
    """Limit the block to the time of `allowing`; a nested block gets the remaining time."""
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
