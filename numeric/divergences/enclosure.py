"""Two floats around an exact value, the precision that brings them close, and tests of what a divergence is given."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from flint import arb

from lastiterate.numeric.errors import InputError, portion, positive, within
from lastiterate.numeric.rounding import lower, precision, upper

_WANTED_BITS = 44
"""Relative accuracy asked of a ball: 6e-14, so that 1e-10 is kept with room to spare."""

_FIRST_BITS, _LAST_BITS = 72, 1 << 14
_SPREAD = 1e50


@dataclass(frozen=True)
class Enclosure:
    """The exact value lies in [lower, upper], both ends rounded outwards.

    Attributes:
        lower: a certified lower bound; use it for a witness.
        upper: a certified upper bound; use it for a privacy claim.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ArithmeticError(f"an enclosure is in order, got lower={self.lower!r}, upper={self.upper!r}")

    @property
    def middle(self) -> float:
        """A number between the ends, without a direction."""
        return self.lower if self.lower == self.upper else self.lower + (self.upper - self.lower) / 2

    @property
    def relative_radius(self) -> float:
        """Half the width over the lower end; 0 for an exact value."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / 2 / self.lower if self.lower > 0 else inf

    def __contains__(self, value: object) -> bool:
        return self.lower <= value <= self.upper  # type: ignore[operator]


def refine(evaluate: Callable[[int], arb]) -> Enclosure:
    """Evaluate a quantity that is at least 0 with more and more bits, until its ball is narrow.

    Args:
        evaluate: called with a number of bits, inside that working precision; returns a ball around the value.

    Raises:
        ArithmeticError: the ball stays wide; never a wrong value.
    """
    bits = _FIRST_BITS
    while bits <= _LAST_BITS:
        with precision(bits):
            ball = evaluate(bits)
            narrow = ball.is_exact() or (ball > 0 and ball.rel_accuracy_bits() >= _WANTED_BITS)
            if ball.is_finite() and ball >= 0 and narrow:
                return Enclosure(max(0.0, lower(ball)), upper(ball))
        bits = bits * 5 // 3
    raise ArithmeticError(f"no narrow enclosure with {_LAST_BITS} bits; the value is too near to 0 for these arguments")


def order(alpha: Any) -> float:
    """The order of a Rényi divergence: finite, above 1."""
    return within("alpha", alpha, "a number above 1 and below 1e9", lambda x: 1 < x < 1e9, "2 is customary.")


def sampling(q: Any) -> float:
    """A sampling rate: in (0, 1], and at least 1e-50, below which floats of the result would vanish."""
    number = portion("q", q, "a rate in (0, 1]", "give batch size over data size.")
    if number < 1 / _SPREAD:
        raise InputError(f"q needs a rate of at least 1e-50, got q={number:g}; round it up to 1e-50, a larger loss.")
    return number


def spread(name: str, value: Any) -> float:
    """A standard deviation or a length in [1e-50, 1e50]."""
    number = positive(name, value)
    if not 1 / _SPREAD <= number <= _SPREAD:
        raise InputError(f"{name} needs a number in [1e-50, 1e50], got {name}={number:g}; change the unit of length.")
    return number


def ratio(noise: float, shift: float, widest: float = 1e4) -> None:
    """Tell whether noise and shift compare: quadrature resolves so many widths, floats squares of 10^-50."""
    if not 1 / _SPREAD <= shift / noise <= 1.0001 * widest:
        raise InputError(
            f"noise needs to lie between {1 / widest:g} and 1e50 times the shift {shift:g}, got noise={noise:g}; "
            "with less noise take the whole batch, `renyi_gaussian`."
        )


def finite(name: str, value: Any) -> float:
    """A finite number."""
    return within(name, value, "a finite number", isfinite, "give a position on the line.")


def probability(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    return within(name, value, "a probability in [0, 1]", lambda x: 0 <= x <= 1, "give a share of the mixture.")
