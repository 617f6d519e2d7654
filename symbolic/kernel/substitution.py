"""Values for letters: each must be a number that the letter may stand for."""

from collections.abc import Iterator

from sympy import Abs, Max, Min, NumberSymbol, Product, Sum, ceiling, erf, erfc, exp, floor, log, sign, true
from sympy.core import Add, Basic, Eq, Expr, Ge, Gt, Le, Lt, Mul, Number, Pow, Symbol
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.sealed import UnprovedError, Whichever

_SIGNS = {"positive": Gt, "nonnegative": Ge, "negative": Lt, "nonpositive": Le}
_TOTAL = (Add, Mul, Abs, Max, Min, exp, floor, ceiling, sign, erf, erfc)
"""Functions that are defined and real for all real arguments."""


def whichever(letter: Symbol) -> Symbol:
    """A letter for any value of a bound letter; conditions on it are shown for all values, never given."""
    made: Symbol = Whichever(f"any {letter.name}", **letter.assumptions0)
    return made


def declared(symbol: Basic, value: Expr) -> list[Boolean]:
    """Conditions under which a value is a real number with every declared property of a symbol."""
    if not isinstance(symbol, Symbol):
        raise UnprovedError(f"A value can be substituted only for a letter, got {symbol}.")
    try:
        conditions = list(dict.fromkeys(numbers(value)))
    except UnprovedError as error:
        raise UnprovedError(f"A real number is needed for {symbol}, got {value}: {error}") from None
    facts = symbol.assumptions0
    shown = next((name for name in _SIGNS if facts.get(name)), None)
    if shown:
        conditions.append(_SIGNS[shown](value, 0))
    known = Symbol("_", real=True, **({shown: True} if shown else {})).assumptions0
    lacks = [
        f"{'' if holds else 'not '}{name}"
        for name, holds in facts.items()
        if name not in known and getattr(value, f"is_{name}") is not holds
    ]
    if lacks:
        raise UnprovedError(f"A value for {symbol} must be {', '.join(sorted(lacks))}, got {value}.")
    return [one for one in conditions if one != true]


def same(one: Expr, other: Expr) -> tuple[Boolean, ...]:
    """The side condition that two numbers are equal; none if the terms are identical."""
    return () if one == other else (Eq(one, other, evaluate=False),)


def different(value: Expr) -> Boolean:
    """The condition that a number is not 0, in a form that the engines prove."""
    return Gt(value, 0) if value.is_nonnegative else Lt(value, 0) if value.is_nonpositive else Gt(value**2, 0)


def numbers(value: Expr) -> Iterator[Boolean]:
    """Conditions under which a term in real letters is a finite real number."""
    if isinstance(value, Symbol | Number | NumberSymbol):
        if not (value.is_real and value.is_finite):
            raise UnprovedError(f"{value} is not a real number")
    elif isinstance(value, Pow):
        yield from numbers(value.base)
        yield from numbers(value.exp)
        if not value.exp.is_integer:
            yield Ge(value.base, 0) if value.exp.is_positive else Gt(value.base, 0)
        elif not value.exp.is_nonnegative:
            yield different(value.base)
    elif isinstance(value, log):
        yield from numbers(value.args[0])
        yield Gt(value.args[0], 0)
    elif isinstance(value, Sum | Product) and len(value.limits) == 1:
        letter, *ends = value.limits[0].args
        if len(ends) != 2 or not letter.is_integer or not all(end.is_integer for end in ends):
            raise UnprovedError(f"{value} is not a finite sum or product")
        for part in (*ends, value.function.xreplace({letter: whichever(letter)})):
            yield from numbers(part)
        yield Ge(ends[1], ends[0] - 1)
    elif isinstance(value, _TOTAL) or (isinstance(value, AppliedUndef) and value.is_real):
        for part in value.args:
            yield from numbers(part)
    else:
        raise UnprovedError(f"it is not known when {value} is a real number")
