"""Run shown on the page of a refuted claim: its text, and two numbers rounded towards each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

import sympy as sp

from lastiterate.proofs_checks.exact_values import enclosures
from lastiterate.proofs_checks.statement import Line, as_text
from lastiterate.symbolic.claim import RefutingRun, Words

DIGITS: Final = 4
"""Significant digits of both numbers in every output."""

_BITS: Final = 128
_LONG: Final = 5
"""Least exponent for which a power of ten is written."""
_SIDES: Final = {"<=": ("at most", "at least"), "<": ("less than", "at least"), ">=": ("at least", "at most")}


@dataclass(frozen=True)
class TwoNumbers:
    """Two numbers of a refuted claim as strings, with relations such as "at most"."""

    claimed: str
    true: str
    most: str
    least: str

    def __str__(self) -> str:
        """Both numbers, the claimed one first."""
        return f"claimed {self.most} {self.claimed}, true {self.least} {self.true}"


def round_numbers(refutation: RefutingRun) -> TwoNumbers:
    """Round the two numbers towards each other, so that they still refute the claim.

    >>> from lastiterate.symbolic.chien_li.theorem_3_12 import CLAIMS
    >>> print(round_numbers(CLAIMS[0].refutation))
    claimed at most 0.08074, true at least 37.57
    """
    above = refutation.sign == ">="
    claimed, true = ends(refutation, refutation.at)
    return TwoNumbers(_rounded(claimed, up=not above), _rounded(true, up=above), *_SIDES[refutation.sign])


def ends(refutation: RefutingRun, at: Mapping[sp.Symbol, sp.Expr | int]) -> tuple[Fraction, Fraction]:
    """Ends of the enclosures of both numbers at some parameters, those that are nearest to each other."""
    above = refutation.sign == ">="
    return _end(refutation.claimed, at, up=not above), _end(refutation.true, at, up=above)


def _end(side: sp.Expr, at: Mapping[sp.Symbol, sp.Expr | int], *, up: bool) -> Fraction:
    point = {letter: sp.sympify(value, strict=True) for letter, value in at.items()}
    value = side.xreplace(point)
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    ball = next(enclosures(side, point, (_BITS,)))
    mantissa, exponent = (int(part) for part in (ball.upper() if up else ball.lower()).man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _rounded(end: Fraction, *, up: bool) -> str:
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    value = context.divide(Decimal(end.numerator), Decimal(end.denominator)).normalize()
    return (
        f"{value:f}" if -_LONG < value.adjusted() < _LONG else f"{value:E}".replace("E+", "e").replace("E", "e")
    )


def as_line(said: Words) -> Line:
    """Words with expressions, as one line."""
    text, *parts = said
    return Line(tuple(parts), text)


def measured_quantity(refutation: RefutingRun, over: sp.Symbol | None = None) -> Line:
    """Quantity that both numbers measure, at the run's parameters, except the letter ``over``."""
    text, *parts = refutation.quantity
    values = {one: sp.sympify(value, strict=True) for one, value in refutation.at.items() if one != over}
    return Line(tuple(part.xreplace(values) for part in parts), text)


def run_parameters(refutation: RefutingRun) -> Iterator[tuple[sp.Symbol, sp.Expr]]:
    """Parameters of the run, long values as powers of ten."""
    for letter, value in refutation.at.items():
        yield letter, _short(sp.sympify(value, strict=True))


def _short(value: sp.Expr) -> sp.Expr:
    for sign in (1, -1):
        power = sp.Pow(value, sign)
        digits = len(str(power)) - 1
        if power.is_Integer and digits >= _LONG and power == 10**digits:
            return sp.Pow(10, sign * digits, evaluate=False)
    return value


def lines(refutation: RefutingRun) -> Iterator[str]:
    """Lines about the failure, the run and the two numbers."""
    yield as_text([as_line(refutation.fails)])
    at = ", ".join(f"{letter} = {sp.sstr(value)}" for letter, value in run_parameters(refutation))
    yield f"at {at}: {refutation.run}"
    yield f"{as_text([measured_quantity(refutation)])}: {round_numbers(refutation)}"


def in_one_line(refutation: RefutingRun) -> str:
    """Run and both numbers, in one line."""
    _, run, numbers = lines(refutation)
    return f"{run}; {numbers}"
