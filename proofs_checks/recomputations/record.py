"""A number of the code, and its limits by another computation.

Some limits are numbers that were recorded. They are not thereby right: the other limit of such a number is an exact run
where there is one, and a number that no other computation reaches is at least noticed when it changes. To record the
numbers that have changed, after reading the difference:

    python -m lastiterate.proofs_checks.recomputations && git diff proofs_checks/recomputations/numbers.json
"""

import json
from functools import cache
from math import inf, nan
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = Path(__file__).with_name("numbers.json")
"""The recorded numbers, by name."""

EXACT = 1e-9
"""Share by which a number may be off that is known exactly: bounds are rounded outwards."""
CLOSE = 1e-6
"""Relative tolerance of a recorded number: other versions and processors end a search at slightly other points."""
TABLE = 1e-3
"""The same of tables of contraction, whose nodes depend on the last digits of searches."""
_ROUNDING = 1e-12
"""Relative error of a closed form in floats."""


class Number(NamedTuple):
    """A number of the code and its limits.

    Attributes:
        what: the number, in words.
        recorded: whether one of them is an earlier value of the code.
    """

    what: str
    value: float
    low: float
    high: float
    recorded: bool = False

    @property
    def room(self) -> tuple[float, float]:
        """The relative amounts by which it could be smaller and larger unnoticed."""
        if self.value == 0:
            return (0.0 if self.low == 0 else inf), (0.0 if self.high == 0 else inf)
        return (self.value - self.low) / abs(self.value), (self.high - self.value) / abs(self.value)


def near(what: str, value: float, truth: float, slack: float = 1e-5) -> Number:
    """A number within a distance of the truth."""
    return Number(what, float(value), truth - slack, truth + slack)


def equals(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """A number within a share of the truth."""
    return near(what, value, truth, share * abs(truth))


def upper_bound(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """An upper bound of a number that is known: not below it but for rounding, and above by a share at most."""
    return Number(what, float(value), truth - _ROUNDING * abs(truth), truth + share * abs(truth))


def lower_bound_of(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """A lower bound of a number that is known: not above it but for rounding, and below by a share at most."""
    return Number(what, float(value), truth - share * abs(truth), truth + _ROUNDING * abs(truth))


@cache
def recorded_numbers() -> dict[str, float]:
    """Those of the file; one that is infinite has no share, and is none."""
    numbers: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"), parse_constant=lambda _: nan)
    return numbers


def as_recorded(what: str, value: float, share: float = CLOSE, least: float = -inf) -> Number:
    """A number within a share of its recorded value, and not below the certified loss of an exact run."""
    before = recorded_numbers().get(what, nan)
    limits = equals(what, value, before, share)
    return limits._replace(low=max(least, limits.low), recorded=True)
