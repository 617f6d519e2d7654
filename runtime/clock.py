"""Seconds of work that searches and proofs may take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import thread_time
from typing import Final

from lastiterate.numeric.networks.centres import LateError

_SHORTEST: Final = 1e-9
"""Least number of seconds of a piece of work, which a coarse clock can measure as 0."""


class Clock:
    """A number of seconds of work of this thread, from now on; other programs do not shorten it.

    Attributes:
        seconds: the number, possibly infinite.
        short: whether something was left out because of the time.
        tell: function that is called with the share of the work that is finished.
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds, self.short, self._end = seconds, False, thread_time() + seconds
        self.tell: Callable[[float], object] = bool

    def late(self) -> bool:
        """True if the time is over."""
        over = thread_time() > self._end
        self.short |= over
        return over

    def go_on(self) -> None:
        """Raise a `LateError` if the time is over."""
        if self.late():
            raise LateError(f"nothing was proved within {self.seconds:.3g} s; raise the budget")

    def part(self, share: float, least: float = 0.0) -> "Clock":
        """Clock for a share of the time that is left, but at least for so many seconds."""
        return Clock(max((self._end - thread_time()) * share, least))

    def fitting(self, number: int, least: int, seconds: Callable[[], float]) -> int:
        """Number of pieces of work, at most ``number`` of so many seconds each, that fit in the time that is left."""
        if self.seconds == inf:
            return number
        each = max(seconds(), _SHORTEST)
        fits = int(min(number, max(least, (self._end - thread_time()) / each)))
        self.short |= fits < number
        return fits

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make this the clock of the proofs inside, which is `clock`."""
        token = _CLOCK.set(self)
        try:
            yield
        finally:
            _CLOCK.reset(token)


UNLIMITED: Final = Clock()
_CLOCK: ContextVar[Clock] = ContextVar("clock", default=UNLIMITED)


def clock() -> Clock:
    """The clock that is running."""
    return _CLOCK.get()
