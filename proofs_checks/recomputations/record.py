"""Record of a number of the code, and where another computation puts it."""

from math import inf
from typing import NamedTuple

EXACT = 1e-9
"""Share by which a number may be off that is known exactly: bounds are rounded outwards."""
CLOSE = 1e-6
"""Relative tolerance of a recorded number: other versions and processors end a search at slightly other points."""
TABLE = 1e-3
"""The same of tables of contraction, whose nodes depend on the last digits of searches."""


class Number(NamedTuple):
    """A number of the code and its limits.

    Attributes:
        what: the number, in words.
        value: what the code says.
        low: the least that it may be.
        high: the greatest.
        by: where the limits come from, in words.
        recorded: whether one of them is what the code said before.
    """

    what: str
    value: float
    low: float
    high: float
    by: str
    recorded: bool = False

    @property
    def room(self) -> tuple[float, float]:
        """The shares by which it could be smaller and larger unnoticed."""
        if self.value == 0:
            return (0.0 if self.low == 0 else inf), (0.0 if self.high == 0 else inf)
        return (self.value - self.low) / abs(self.value), (self.high - self.value) / abs(self.value)


def known(what: str, value: float, truth: float, by: str, share: float = EXACT) -> Number:
    """A number whose truth another computation gives, either way within a share of it."""
    return Number(what, float(value), truth - share * abs(truth), truth + share * abs(truth), by)


def above(what: str, value: float, truth: float, by: str, share: float = EXACT) -> Number:
    """An upper bound of a number that is known: not below it, and above by a share at most."""
    return Number(what, float(value), truth, truth + share * abs(truth), by)


def below(what: str, value: float, truth: float, by: str, share: float = EXACT) -> Number:
    """A lower bound of a number that is known: not above it, and below by a share at most."""
    return Number(what, float(value), truth - share * abs(truth), truth, by)


def recorded(what: str, value: float, before: float, share: float = CLOSE, least: float = -inf) -> Number:
    """A number that is as it was recorded, within a share; and not below what an exact run certifies."""
    low = max(least, before - share * abs(before))
    by = "what was recorded" + (f", and an exact run of {least!r}" if least > -inf else "")
    return Number(what, float(value), low, before + share * abs(before), by, recorded=True)
