"""Facts about the values of functions that z3 does not know: a sign, a range, a tangent."""

from collections.abc import Callable, Mapping
from typing import Final

import sympy as sp
import z3
from sympy.core.function import AppliedUndef

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import enclose

RANGES: Final[Mapping[type, Callable[..., list[z3.BoolRef]]]] = {
    sp.exp: lambda value, x: [value >= 1 + x, z3.Implies(x < 0, value < 1), z3.Implies(x == 0, value == 1)],
    sp.log: lambda value, x: [
        value <= x - 1,
        z3.Implies(x > 1, value > 0),
        z3.Implies(x == 1, value == 0),
    ],
    sp.Pow: lambda value, base, exponent: [
        z3.Implies(z3.And(base > 0, z3.Or(base == 1, exponent == 0)), value == 1),
        z3.Implies(z3.Or(z3.And(base > 1, exponent > 0), z3.And(base > 0, base < 1, exponent < 0)), value > 1),
        z3.Implies(z3.Or(z3.And(base > 1, exponent < 0), z3.And(base > 0, base < 1, exponent > 0)), value < 1),
    ],
    sp.cosh: lambda value, x: [value >= 1],  # noqa: ARG005
    sp.tanh: lambda value, x: [value > -1, value < 1, z3.If(x >= 0, value <= x, value >= x)],
    sp.sin: lambda value, x: [value >= -1, value <= 1, z3.If(x >= 0, value <= x, value >= x)],
    sp.cos: lambda value, x: [value >= 1 - x * x / 2, value >= -1, value <= 1],
    sp.erf: lambda value, x: [value > -1, value < 1, z3.If(x >= 0, value >= 0, value <= 0)],
    sp.erfc: lambda value, x: [value > 0, value < 2],  # noqa: ARG005
    sp.factorial: lambda value, x: [z3.Implies(x >= 0, value > 0)],
    sp.binomial: lambda value, n, k: [z3.Implies(z3.And(k >= 0, n >= k), value > 0)],
    sp.floor: lambda value, x: [value <= x, value > x - 1],
    sp.ceiling: lambda value, x: [value >= x, value < x + 1],
}
"""What is known of the value of a function that z3 does not know."""


def known_of(expression: sp.Expr, value: z3.ArithRef) -> list[z3.BoolRef]:
    """The sign that Sympy knows of an expression, and rational ends where it is a number.

    Raises:
        UnsupportedError: it is not a finite real number.
    """
    if isinstance(expression, AppliedUndef) and expression.is_real is not True:
        raise UnsupportedError(f"z3 cannot take {expression}, which need not be real; declare the function real.")
    if expression.is_extended_real is False or expression.has(sp.oo, -sp.oo, sp.zoo, sp.nan, sp.I):
        raise UnsupportedError(f"z3 cannot take {expression}, which is not a finite real number.")
    zero = z3.RealVal(0)
    signs = (("positive", value > zero), ("negative", value < zero), ("nonnegative", value >= zero),
             ("nonpositive", value <= zero), ("nonzero", value != zero))  # fmt: skip
    known = [fact for name, fact in signs if getattr(expression, f"is_{name}")]
    if not expression.free_symbols:
        low, high = (z3.RealVal(str(end)) for end in _ends(expression))
        known += [low <= value, value <= high]
    return known


def _ends(number: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
    """Rationals on either side of a number.

    Raises:
        UnsupportedError: it has no enclosure, or no finite one.
    """
    ball = enclose(number, {})
    if not ball.is_finite():
        raise UnsupportedError(f"z3 cannot take the number {number}, which has no finite enclosure.")
    low, high = (end.fmpq() for end in (ball.lower(), ball.upper()))
    return sp.Rational(int(low.p), int(low.q)), sp.Rational(int(high.p), int(high.q))
