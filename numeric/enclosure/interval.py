"""Intervals whose two ends are exact balls, rounded outwards after every operation.

A single ball, whose radius keeps 30 bits, cannot represent an interval that ends exactly at 0, as branch and
bound requires. An operation outside its domain returns the whole line.
"""

from collections.abc import Callable
from typing import Final

from flint import arb

Interval = tuple[arb, arb]
"""(low, high), two balls of radius zero; each may be infinite."""

_INF: Final = arb("inf")
_ZERO: Final = arb(0)
_ONE: Final = arb(1)
WHOLE: Final[Interval] = (-_INF, _INF)
UNIT: Final[Interval] = (_ZERO, _ONE)


def _outward(low: arb, high: arb) -> Interval:
    low, high = low.lower(), high.upper()
    return (-_INF if low.is_nan() else low), (_INF if high.is_nan() else high)


def point(ball: arb) -> Interval:
    """Interval that a ball covers."""
    return _outward(ball, ball)


def hull(one: Interval, other: Interval) -> Interval:
    """Smallest interval that contains two intervals."""
    return (one[0] if one[0] <= other[0] else other[0]), (one[1] if one[1] >= other[1] else other[1])


def add(one: Interval, other: Interval) -> Interval:
    """Sum of two numbers."""
    return _outward(one[0] + other[0], one[1] + other[1])


def negative(one: Interval) -> Interval:
    """Negation of a number."""
    return -one[1], -one[0]


def multiply(one: Interval, other: Interval) -> Interval:
    """Product of two numbers; zero times an unbounded interval is the whole line."""
    (a, b), (c, d) = one, other
    if a >= 0 and c >= 0:
        return _outward(a * c, b * d)
    return _between([a * c, a * d, b * c, b * d])


def _between(corners: list[arb]) -> Interval:
    """Range of a function with its extremes at corners; the whole line if a corner is nan."""
    if any(corner.is_nan() for corner in corners):
        return WHOLE
    return min(corner.lower() for corner in corners), max(corner.upper() for corner in corners)


def inverse(one: Interval) -> Interval:
    """Reciprocal of a number; the whole line if zero is an interior point or the upper end."""
    if one[0] > 0 or one[1] < 0:
        return _outward(1 / one[1], 1 / one[0])
    if one[0] == 0 and one[1] > 0:
        return (1 / one[1]).lower(), _INF
    return WHOLE


def integer_power(one: Interval, n: int) -> Interval:
    """Integer power of a number; an even power is nonnegative."""
    if n < 0:
        return inverse(integer_power(one, -n))
    if n == 0:
        return _ONE, _ONE
    low, high = one
    if n % 2 == 0 and low < 0:
        low, high = absolute(one)
    return _outward(low**n, high**n)


def real_power(base: Interval, exponent: Interval) -> Interval:
    """base ** exponent for a base known to be nonnegative; the part of the base below zero is dropped."""
    low, high = base
    whole = exponent[0].unique_fmpz() if exponent[0] == exponent[1] else None
    if whole is not None and exponent[0].is_integer():
        return integer_power(base, int(whole))
    if not high >= 0 or not low.is_finite():
        return WHOLE
    if not low > 0:
        if not exponent[0] > 0:
            return WHOLE
        if high == 0:
            return _ZERO, _ZERO
        return _ZERO, max((high**e).upper() for e in exponent)
    return _between([low**e for e in exponent] + [high**e for e in exponent])


def increasing(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    """Lift a nondecreasing function of one ball to intervals."""

    def lifted(one: Interval) -> Interval:
        low = function(one[0])
        return _outward(low, low if one[0] == one[1] else function(one[1]))

    return lifted


def decreasing(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    """Lift a nonincreasing function of one ball to intervals."""

    def lifted(one: Interval) -> Interval:
        return _outward(function(one[1]), function(one[0]))

    return lifted


def absolute(one: Interval) -> Interval:
    """Absolute value of a number."""
    low, high = one
    if low >= 0:
        return one
    if high <= 0:
        return -high, -low
    return _ZERO, (high if high >= -low else -low)


def minimum(parts: list[Interval]) -> Interval:
    """Minimum of several numbers."""
    return min(p[0] for p in parts), min(p[1] for p in parts)


def maximum(parts: list[Interval]) -> Interval:
    """Maximum of several numbers."""
    return max(p[0] for p in parts), max(p[1] for p in parts)
