"""Conversions between balls (python-flint's ``arb``) and floats, always in the stated direction."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import inf, isfinite, nextafter

from flint import arb, ctx

PRECISION = 192
"""Working precision in bits; closed forms keep 20 digits if a contraction factor is within 1e-16 of 1."""


@contextmanager
def precision(bits: int = PRECISION) -> Iterator[None]:
    """Work with at least ``bits`` bits inside the block."""
    before = ctx.prec
    ctx.prec = max(bits, before)
    try:
        yield
    finally:
        ctx.prec = before


def exact(value: float) -> arb:
    """The float itself, as a ball of radius zero."""
    return arb(value)


def upper(ball: arb) -> float:
    """Smallest float that is certainly at least every number in the ball."""
    if not ball.is_finite():
        return inf
    end = ball.upper()
    nearest = float(end)
    while not arb(nearest) >= end:
        nearest = nextafter(nearest, inf)
    return nearest


def printed_up(value: float, digits: int = 6) -> str:
    """The number in at most ``digits`` significant digits, rounded up.

    >>> printed_up(0.49920005502756654), printed_up(40.0)
    ('0.499201', '40')
    """
    if not isfinite(value):
        return str(value)
    number = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value)).normalize()
    return f"{number:f}" if -5 < number.adjusted() < digits else _as_floats(number)


def printed_down(value: float, digits: int = 6) -> str:
    """The number in at most ``digits`` significant digits, rounded down.

    >>> printed_down(37.576226217), printed_down(20000.0, 4)
    ('37.5762', '2e+04')
    """
    if not isfinite(value):
        return str(value)
    return _as_floats(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(value)).normalize())


def _as_floats(number: Decimal) -> str:
    return re.sub(r"e([+-])(\d)$", r"e\g<1>0\2", f"{number:g}")


def lower(ball: arb) -> float:
    """Largest float that is certainly at most every number in the ball."""
    return -upper(-ball)


def geometric_sum(ratio: arb, length: int) -> arb:
    """Enclosure of ratio + ... + ratio^length."""
    if (ratio - 1).contains(0):  # the ratio is 1, or too close to it for the quotient
        return length * ratio.union(ratio**length)
    return ratio * (1 - ratio**length) / (1 - ratio)
