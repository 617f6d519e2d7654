"""Time of the processor that a check may take, so that a busy machine decides as an idle one does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import process_time
from typing import Final

_until: ContextVar[float] = ContextVar("_until", default=inf)
"""Processor time at which what is being decided is given up."""
_SOON: Final = 1e-3


def seconds_left() -> float:
    """Return what is left of the time of the check that is being decided; inf where it has no limit.

    Raises:
        TimeoutError: nothing is left.
    """
    left = _until.get() - process_time()
    if left <= 0:
        raise TimeoutError("the engine had no time left")
    return left


class _Waiting(threading.local):
    """Blocks of a thread that are not to be disturbed and are open, and what is to be said when the last one ends."""

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
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError inside the block after this processor time, where the platform and the thread allow it.

    A block inside another one has no more time than is left of that, and takes its time from it.
    """
    if not hasattr(signal, "SIGVTALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:  # noqa: ARG001
        late = f"the engine had not answered after {seconds} s of computing"
        if not _waiting.blocks:
            raise TimeoutError(late)
        _waiting.late = late

    around = _until.get()
    given = min(seconds_left(), seconds)
    before, token = signal.signal(signal.SIGVTALRM, stop), _until.set(min(around, process_time() + given))
    signal.setitimer(signal.ITIMER_VIRTUAL, max(given, _SOON))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        _waiting.late = ""
        signal.signal(signal.SIGVTALRM, before)
        _until.reset(token)
        if around < inf:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(around - process_time(), _SOON))
