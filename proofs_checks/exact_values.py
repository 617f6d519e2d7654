"""Certified values, signs and truth values at exact rational points."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import add, mul

import sympy as sp
from flint import arb, fmpq
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import enclose, exists, is_limit
from lastiterate.numeric.rounding import precision
from lastiterate.symbolic.checks import Relation

Point = dict[sp.Symbol, sp.Rational]
"""Symbol -> its exact value."""

LONGEST = 400
"""Largest exponent of a power that is expanded."""

PRECISIONS = (64, 128, 256, 512, 1024)


def point_text(point: Point) -> dict[str, str]:
    """Symbols and exact values of a point, as strings."""
    return {str(symbol): str(value) for symbol, value in point.items()}


def value_at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Rational]) -> sp.Expr:
    """Expression at an exact point, with sums written out.

    Raises:
        UnsupportedError: a part that is compared, as in a maximum, is not a real number.
    """
    with suppress(UnsupportedError):
        return rational(fraction(expression, point))
    value = _put_in(expression, dict(point))
    return written_out(value) if value.has(sp.Sum, sp.Product) else value


def _put_in(expression: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    try:
        return expression.xreplace(values)
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            f"a part of {expression} is not a real number where its letters are {values}"
        ) from error


def written_out(value: sp.Expr) -> sp.Expr:
    """Evaluate finite sums; leave a number with limits (`is_limit`) unchanged if each can be enclosed."""
    limits = [part for part in value.atoms(sp.Integral, sp.Sum) if is_limit(part)]
    return value if limits and all(map(exists, limits)) else value.doit()


def to_fmpq(number: sp.Rational) -> fmpq:
    """Convert a rational number of Sympy to flint."""
    return fmpq(int(number.p), int(number.q))


def rational(value: fmpq) -> sp.Rational:
    """Convert a rational number of flint to Sympy."""
    return sp.Rational(int(value.p), int(value.q))


def enclosures(expression: sp.Expr, point: Point, precisions: Sequence[int] = PRECISIONS) -> Iterator[arb]:
    """Balls around the value at a point, one for each precision in bits."""
    ball = _ball(expression, point)
    for bits in precisions:
        with precision(bits):
            yield ball()


def _ball(expression: sp.Expr, point: Point) -> Callable[[], arb]:
    """Function that returns a ball around the value at a point, at the current precision."""
    try:
        value = fraction(expression, point)
        return lambda: arb(value)
    except UnsupportedError:
        whole = {s: v for s, v in point.items() if not v.is_Rational or (s.is_integer and v.is_Integer)}
        rest = _put_in(expression, whole)
        values = {s: to_fmpq(v) for s, v in point.items() if s in rest.free_symbols}
        return lambda: enclose(rest, {s: arb(v) for s, v in values.items()})


def sign_at(expression: sp.Expr, point: Point, *, nearly: bool = False) -> int | None:
    """Certified sign of an expression at an exact point; None if it is unclear.

    Zero is certified by exact arithmetic only. With ``nearly``, a value not known to be rational also counts
    as zero if its ball has radius below 1e-60 and contains 0.
    """
    with suppress(UnsupportedError):
        value = fraction(expression, point)
        return (value > 0) - (value < 0)
    tiny = False
    with suppress(UnsupportedError):
        for ball in enclosures(expression, point):
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            tiny = bool(ball.rad() < 1e-60)
            if tiny:
                break
    if not _short_powers(expression, point):
        return None
    try:
        value = value_at(expression, point)
    except UnsupportedError:
        return None
    if value.is_Rational:
        return int(sp.sign(value))
    if value.free_symbols or value.has(sp.nan, sp.zoo, sp.I, AppliedUndef) or value.is_real is False:
        return None
    return 0 if (nearly and tiny) or _is_zero(value) else None


def fraction(expression: sp.Expr, point: Mapping[sp.Expr, sp.Expr]) -> fmpq:
    """Exact value at a point of a rational function in letters and function values.

    Raises:
        UnsupportedError: the expression is not such a function, or is not defined at the point.
    """
    if isinstance(expression, sp.Symbol | AppliedUndef):
        expression = point.get(expression, expression)
    if isinstance(expression, sp.Rational):
        return to_fmpq(expression)
    if isinstance(expression, sp.Add | sp.Mul | sp.Min | sp.Max):
        return reduce(_FOLDED[type(expression)], (fraction(part, point) for part in expression.args))
    if isinstance(expression, sp.Pow):
        base, exponent = (fraction(part, point) for part in expression.args)
        if exponent.q == 1 and abs(exponent.p) <= LONGEST and (base != 0 or exponent > 0):
            return base ** int(exponent.p)
    raise UnsupportedError(
        "this is not a rational function that is defined at the point"
    )  # printing it takes a long time


_FOLDED: dict[type, Callable[[fmpq, fmpq], fmpq]] = {sp.Add: add, sp.Mul: mul, sp.Min: min, sp.Max: max}


def _short_powers(expression: sp.Expr, point: Point) -> bool:
    """Tell whether exact substitution gives short numbers; Sympy would write out 2^(123456/7891)."""
    for power in expression.atoms(sp.Pow, sp.exp):
        if power.exp.free_symbols <= point.keys():
            exponent = power.exp.xreplace(point)
            if exponent.is_Rational and (exponent.q > 12 or abs(exponent.p) > LONGEST):
                return False
    return True


def _is_zero(value: sp.Expr) -> bool:
    if value.is_zero is not None:
        return bool(value.is_zero)
    if value.has(sp.Sum, sp.Product, sp.Integral):  # Sympy may search for a closed form forever
        return False
    return bool((sp.simplify(value) if value.count_ops() <= 80 else sp.powsimp(sp.expand(value))) == 0)


def side(expression: sp.Expr, point: Point) -> str:
    """Value at a point as text: exact if it is rational and short, else a ball."""
    if _short_powers(expression, point):
        value = value_at(expression, point)
        if value.is_Rational and len(str(value)) < 40:
            return str(value)
    (ball,) = enclosures(expression, point, PRECISIONS[1:2])
    return ball.str(20)


_RELATIONS = {Relation.EQUAL: sp.Eq, Relation.AT_MOST: sp.Le, Relation.TIGHT: sp.Le, Relation.BELOW: sp.Lt}


def relation_at(left: sp.Expr, relation: Relation, right: sp.Expr, point: Point) -> bool | None:
    """Tell whether ``left relation right`` certainly holds (or fails) at a point; None if unclear."""
    return by_sign(_RELATIONS[relation], sign_at(left - right, point)) if relation in _RELATIONS else None


def truth_at(condition: Boolean, point: Point) -> bool | None:
    """Tell whether a condition certainly holds (or fails) at a point; None if unclear."""

    def decided(relation: sp.Rel) -> bool | None:
        try:
            gap = fraction(relation.lhs, point) - fraction(relation.rhs, point)
        except UnsupportedError:
            return by_sign(relation.func, sign_at(relation.lhs - relation.rhs, point))
        return by_sign(relation.func, (gap > 0) - (gap < 0))

    return truth(condition, decided)


def truth(condition: Boolean, of_relation: Callable[[sp.Rel], bool | None]) -> bool | None:
    """Tell whether relations joined by and, or and not certainly hold (or fail); None if unclear."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, And | Or):
        parts = [truth(part, of_relation) for part in condition.args]
        decisive = isinstance(condition, Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(condition, Not):
        inner = truth(condition.args[0], of_relation)
        return None if inner is None else not inner
    return of_relation(condition) if isinstance(condition, sp.Rel) else None


_SIGNS = {sp.Eq: (0,), sp.Ne: (-1, 1), sp.Lt: (-1,), sp.Le: (-1, 0), sp.Gt: (1,), sp.Ge: (0, 1)}
"""Signs of left minus right side for which a relation is true."""


def by_sign(relation: type[sp.Rel], sign: int | None) -> bool | None:
    """Truth value of a relation from the sign of left minus right side; None if the sign is None."""
    return None if sign is None else sign in _SIGNS[relation]
