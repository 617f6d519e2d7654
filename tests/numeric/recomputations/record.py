"""Numbers that the code computes, and their limits from other computations.

Some limits are recorded values, which need not be right; the other limit then comes from an exact run if
there is one. To record changed numbers, after reading the difference:

    python -m benchmarks.recorded && git diff tests/numeric/recomputations/numbers.json
"""

import json
from functools import cache
from math import inf, nan
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = Path(__file__).with_name("numbers.json")
"""Recorded numbers, by name."""

EXACT = 1e-9
"""Relative tolerance of a number that is known exactly, because bounds are rounded outwards."""
CLOSE = 1e-6
"""Relative tolerance of a recorded number, because searches end at other points on other processors."""
TABLE = 1e-3
"""Relative tolerance of tables of contraction, whose nodes depend on the last digits of searches."""
_ROUNDING = 1e-12
"""Relative error of a closed form in floats."""


class Number(NamedTuple):
    """Number that the code computes, and its limits; ``recorded`` if a limit is an earlier value."""

    what: str
    value: float
    low: float
    high: float
    recorded: bool = False

    @property
    def room(self) -> tuple[float, float]:
        """Relative amounts by which the number could be smaller and larger."""
        if self.value == 0:
            return (0.0 if self.low == 0 else inf), (0.0 if self.high == 0 else inf)
        return (self.value - self.low) / abs(self.value), (self.high - self.value) / abs(self.value)


def near(what: str, value: float, truth: float, slack: float = 1e-5) -> Number:
    """Number within ``slack`` of the truth."""
    return Number(what, float(value), truth - slack, truth + slack)


def equals(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """Number within a relative distance ``share`` of the truth."""
    return near(what, value, truth, share * abs(truth))


def upper_bound(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """Upper bound on a known number, below ``truth`` only by rounding, above by at most ``share``."""
    return Number(what, float(value), truth - _ROUNDING * abs(truth), truth + share * abs(truth))


def lower_bound_of(what: str, value: float, truth: float, share: float = EXACT) -> Number:
    """Lower bound on a known number, above ``truth`` only by rounding, below by at most ``share``."""
    return Number(what, float(value), truth - share * abs(truth), truth + _ROUNDING * abs(truth))


@cache
def recorded_numbers() -> dict[str, float]:
    """Numbers of the file; an infinite number is read as nan, which equals no number."""
    numbers: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"), parse_constant=lambda _: nan)
    return numbers


def as_recorded(what: str, value: float, share: float = CLOSE, least: float = -inf) -> Number:
    """Number within ``share`` of its record, and not below ``least``, the loss of an exact run."""
    before = recorded_numbers().get(what, nan)
    limits = equals(what, value, before, share)
    return limits._replace(low=max(least, limits.low), recorded=True)
