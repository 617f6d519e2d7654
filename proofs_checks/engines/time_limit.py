"""Time of the processor that a check may take, so that a busy machine decides as an idle one does.

The main thread is interrupted by a timer of the process, and any other by one that watches it. Neither stops a call
into compiled code: a process of `runner` that does not end in time is killed by the one that started it, which begins
another that gives up that step (`watched`).
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from ctypes import c_ulong, py_object, pythonapi
from functools import partial
from math import inf
from time import monotonic, process_time, thread_time
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


def clock() -> float:
    """The processor time that a limit is of: that of the process, or of a thread which is not the main one."""
    return process_time() if threading.current_thread() is threading.main_thread() else thread_time()


def seconds_left() -> float:
    """Return what is left of the time of the check that is being decided; inf where it has no limit.

    Raises:
        TimeoutError: nothing is left.
    """
    left = _until.get() - clock()
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
    """Blocks of a thread that are not to be disturbed and are open, and what is to be said when the last one ends."""

    def __init__(self) -> None:
        self.state = _State()


class _State:
    blocks = 0
    late = ""


_waiting: Final = _Waiting()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the error that time is over wait until the block ends.

    z3 counts references, and an error between two of its calls would free what is still in use.
    """
    state = _waiting.state
    state.blocks += 1
    try:
        yield
    finally:
        state.blocks -= 1
        if state.late and not state.blocks:
            late, state.late = state.late, ""
            raise TimeoutError(late)


class _Steps:
    """The steps of a claim in a process that another one watches: every block with a limit that is in no other."""

    def __init__(self, tell: Callable[[int, str], None], given_up: Mapping[int, str]) -> None:
        self.number = 0
        self.tell = tell
        self.given_up = given_up

    def begin(self, words: str) -> None:
        self.number += 1
        why = self.given_up.get(self.number) or self.given_up.get(0)
        if why:
            raise TimeoutError(why)
        self.tell(self.number, words)


_steps: ContextVar[_Steps | None] = ContextVar("_steps", default=None)


@contextmanager
def watched(tell: Callable[[int, str], None], given_up: Mapping[int, str] = MappingProxyType({})) -> Iterator[None]:
    """Tell of each step inside the block before it is begun: its number from 1 on, and in words what it is.

    Args:
        tell: called with both.
        given_up: why a step of this number has no answer, or all of them: 0.
    """
    token = _steps.set(_Steps(tell, given_up))
    try:
        yield
    finally:
        _steps.reset(token)


def too_late(seconds: float) -> str:
    """A sentence for what has no answer in its time."""
    return f"no answer within {seconds:g} s of computing; simplify the check or raise --time-limit"


@contextmanager
def limited(seconds: float | None = None, words: str = "") -> Iterator[None]:
    """Raise TimeoutError inside the block after this processor time; that of `allowing` where it is None.

    A block inside another one has no more time than is left of that, and takes its time from it.
    """
    around, steps = _until.get(), _steps.get()
    if around == inf and steps is not None:
        steps.begin(words)
    limit = _allowed.get() if seconds is None else seconds
    given = min(seconds_left(), limit)
    late = too_late(limit)
    token = _until.set(min(around, clock() + given))
    alone = threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGVTALRM")
    try:
        with _by_watching(given, late) if alone else _by_timer(given, late):
            yield
    except TimeoutError as error:
        if error.args:
            raise
        raise TimeoutError(late) from None
    finally:
        _until.reset(token)
        if around < inf and not alone:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(around - process_time(), _SOON), _AGAIN)


@contextmanager
def _by_timer(given: float, late: str) -> Iterator[None]:
    state = _waiting.state

    def stop(number: int, frame: object) -> None:  # noqa: ARG001
        if not state.blocks:
            raise TimeoutError(late)
        state.late = late

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(given, _SOON), _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        state.late = ""
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _by_watching(given: float, late: str) -> Iterator[None]:
    state, thread, over = _waiting.state, threading.get_ident(), threading.Event()
    spent = _clock_of(thread)
    end = spent() + given

    def watch() -> None:
        while not over.wait(min(max(end - spent(), _SOON), _AGAIN)):
            if spent() >= end and state.blocks:
                state.late = late
            elif spent() >= end:
                pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(TimeoutError))
                over.wait(_AGAIN)  # on its way out of the block it is not to meet another one

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        try:
            over.set()
            watcher.join()
            watcher.is_alive()  # an error that is on its way is raised at a call, and not after the block
        except TimeoutError:
            over.set()
            watcher.join()
        state.late = ""


def _clock_of(thread: int) -> Callable[[], float]:
    """The processor time of a thread, for another one; the time of day where the platform does not tell it."""
    of = getattr(time, "pthread_getcpuclockid", None)
    return monotonic if of is None else partial(time.clock_gettime, of(thread))
