"""Time of the processor that a check may take, so that a busy machine decides as an idle one does.

The main thread is interrupted by a timer of the process; any other thread, and a platform without such timers, ends a
check at its next question to z3. No timer stops a call into compiled code: a process of `runner` that does not end in
time is killed by the one that started it, which begins another that gives up that step (`watched`).
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from time import process_time
from types import MappingProxyType
from typing import Final

SECONDS: Final = 60
"""A check that computes for longer has no answer. No claim of the ledger comes near this."""

_SOON: Final = 1e-3
_AGAIN: Final = 0.5
"""Seconds until the error is raised once more: what is computed may have caught it."""

_until: ContextVar[float] = ContextVar("_until", default=inf)
"""Processor time at which what is being decided is given up."""
_allowed: ContextVar[float] = ContextVar("_allowed", default=SECONDS)
_begin: ContextVar[Callable[[str], None] | None] = ContextVar("_begin", default=None)
"""Told of each block with a limit that is in no other, where another process watches."""


def seconds_left() -> float:
    """The time left to the check that is being decided, inf without a limit; TimeoutError where none is left."""
    left = _until.get() - process_time()
    if left <= 0:
        raise TimeoutError("the engine had no time left")
    return left


@contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Let each check inside the block take this time."""
    token = _allowed.set(seconds)
    try:
        yield
    finally:
        _allowed.reset(token)


class _Waiting(threading.local):
    """Blocks that are not to be disturbed and are open, and what is to be said when the last one ends."""

    blocks = 0
    late = ""


_waiting: Final = _Waiting()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the error that time is over wait until the block ends.

    z3 counts references, and an error between two of its calls would free what is still in use.
    """
    _waiting.blocks += 1
    try:
        yield
    finally:
        _waiting.blocks -= 1
        if _waiting.late and not _waiting.blocks:
            late, _waiting.late = _waiting.late, ""
            raise TimeoutError(late)


@contextmanager
def watched(tell: Callable[[int, str], None], given_up: Mapping[int, str] = MappingProxyType({})) -> Iterator[None]:
    """Tell of each step inside the block before it is begun: its number from 1 on, and in words what it is.

    Args:
        tell: called with both.
        given_up: why a step of this number has no answer, or all of them: 0.
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
def limited(seconds: float | None = None, words: str = "") -> Iterator[None]:
    """Raise TimeoutError inside the block after this processor time; that of `allowing` where it is None.

    A block inside another one has no more time than is left of that, and takes its time from it.
    """
    around, begin = _until.get(), _begin.get()
    if around == inf and begin is not None:
        begin(words)
    limit = _allowed.get() if seconds is None else seconds
    given = min(seconds_left(), limit)
    token = _until.set(min(around, process_time() + given))
    timed = hasattr(signal, "SIGVTALRM") and threading.current_thread() is threading.main_thread()
    try:
        with _interrupted(given, too_late(limit)) if timed else nullcontext():
            yield
    finally:
        _until.reset(token)
        if around < inf and timed:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(around - process_time(), _SOON), _AGAIN)


@contextmanager
def _interrupted(given: float, late: str) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:  # noqa: ARG001
        if not _waiting.blocks:
            raise TimeoutError(late)
        _waiting.late = late

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(given, _SOON), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        _waiting.late = ""
        signal.signal(signal.SIGVTALRM, before)
