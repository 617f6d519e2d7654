"""Two floats around an exact value, and the precision that brings them close."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from flint import arb

from lastiterate.numeric.rounding import lower, precision, upper

_WANTED_BITS = 44
"""Relative accuracy asked of a ball: 6e-14, so that 1e-10 is kept with room to spare."""

_FIRST_BITS, _LAST_BITS = 96, 1 << 14


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
