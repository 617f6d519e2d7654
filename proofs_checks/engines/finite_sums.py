"""Finite sums in closed form by proof, where Sympy may search without an end: the binomial theorem, and induction."""

from collections.abc import Callable, Sequence
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

_EVERY: Final = {"integer", "positive", "nonnegative"}
"""What may be declared of a letter that takes every value from 0 or 1 on."""


def summed(expression: sp.Expr) -> sp.Expr:
    """The expression with every sum that the binomial theorem gives put as the power that it is.

    The theorem holds for all numbers, with 0^0 = 1 as in Sympy, and the sum is over all indices from 0 to n >= 0.

    >>> from sympy.abc import i, x
    >>> n = sp.Symbol("n", integer=True, nonnegative=True)
    >>> summed(sp.Sum(sp.binomial(n, i) * x**i, (i, 0, n)))
    (x + 1)**n
    """
    return expression.replace(lambda part: isinstance(part, sp.Sum), lambda part: _power(part) or part)


def _power(total: sp.Sum) -> sp.Expr | None:
    if len(total.limits) != 1 or len(total.limits[0]) != 3:
        return None
    index, low, high = total.limits[0]
    if low != 0 or not (high.is_integer and high.is_nonnegative):
        return None
    scale, term = total.function.as_independent(index, as_Add=False)
    factors = sp.Mul.make_args(term)
    counts = [one for one in factors if one in (sp.binomial(high, index), sp.binomial(high, high - index))]
    bases = {index: sp.S.One, high - index: sp.S.One}
    for one in factors:
        if one in counts:
            continue
        base, exponent = one.as_base_exp()
        if exponent not in bases or base.has(index):
            return None
        bases[exponent] *= base
    return scale * (bases[index] + bases[high - index]) ** high if len(counts) == 1 else None


def by_induction(difference: sp.Expr, conditions: Sequence[Boolean], is_zero: Callable[[sp.Expr], bool]) -> bool:
    """Tell whether a difference is zero by induction on the letter up to which all its sums go.

    It must be linear in the sums, with factors and summands free of that letter: from one value of it to the next one
    each sum grows by its last summand. No condition may be on the letter, for the steps go over all its values.

    Args:
        difference: defined wherever the conditions hold.
        conditions: what is supposed.
        is_zero: what shows a difference without these sums to be zero where they hold.
    """
    sums = sorted(difference.atoms(sp.Sum), key=sp.default_sort_key)
    if not sums or any(len(one.limits) != 1 or len(one.limits[0]) != 3 for one in sums):
        return False
    for letter in sorted(
        sums[0].limits[0][2].free_symbols - {s for one in conditions for s in one.free_symbols}, key=str
    ):
        start = 1 if letter.is_positive else 0
        every = letter.is_integer and letter.is_nonnegative and set(letter._assumptions_orig) <= _EVERY
        if every and all(_grows(one, letter, start) for one in sums):
            return _inducted(difference, sums, letter, start, is_zero)
    return False


def _grows(total: sp.Sum, letter: sp.Symbol, start: int) -> bool:
    """Tell whether a sum has one summand more for the next value of the letter, and a few for the first one."""
    _, low, high = total.limits[0]
    count = (high - low).xreplace({letter: sp.Integer(start)})
    return (
        (high - letter).is_Integer
        and not total.function.has(letter)
        and not low.has(letter)
        and (count.is_Integer and -1 <= count <= 8)
    )


def _inducted(
    difference: sp.Expr, sums: list[sp.Sum], letter: sp.Symbol, start: int, is_zero: Callable[[sp.Expr], bool]
) -> bool:
    named = {one: sp.Dummy() for one in sums}
    rest = difference.xreplace(named)
    factors = [sp.diff(rest, one) for one in named.values()]
    if any(factor.has(letter, *named.values()) for factor in factors):
        return False
    rest = rest.xreplace(dict.fromkeys(named.values(), sp.S.Zero))
    first = difference.xreplace({letter: sp.Integer(start)})
    last = [one.function.xreplace({one.limits[0][0]: one.limits[0][2]}) for one in sums]
    grown = sum((factor * one for factor, one in zip(factors, last, strict=True)), sp.S.Zero)
    return is_zero(first.doit()) and is_zero(grown + rest - rest.xreplace({letter: letter - 1}))
