"""Occurrences of numbers and symbols in an expression, and the expression with something else in their place."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

STEP: Final = sp.Rational(1, 100)
"""Relative size of a change: one percent."""


class Kind(StrEnum):
    """Kind of place of a number or a symbol."""

    COEFFICIENT = "coefficient"
    EXPONENT = "exponent"
    CONSTANT = "constant"
    RANGE = "range"
    DIGIT = "digit"
    PARAMETER = "parameter"
    PREMISE = "premise"
    ASSUMPTION = "assumption"


class Occurrence(NamedTuple):
    """A number or a symbol in an expression.

    Attributes:
        what: the number or the symbol.
        kind: where it stands.
        around: the smallest product, power or function that holds it, for a reader.
        put: the expression with something else in its place.
    """

    what: sp.Basic
    kind: Kind
    around: sp.Basic
    put: Callable[[sp.Basic], sp.Basic]


def occurrences(expression: sp.Basic) -> Iterator[Occurrence]:
    """Every number but 0 and every symbol of an expression or a condition, each as often as it stands there.

    Bound variables where they are bound, and the sign of a product, are none. The place of a member in a sequence is a
    range of one.

    >>> from sympy.abc import x, y
    >>> sorted((str(one.what), one.kind.value, str(one.put(one.what * 2))) for one in occurrences(3 * x**2))
    [('2', 'exponent', '3*x**4'), ('3', 'coefficient', '6*x**2'), ('x', 'coefficient', '12*x**2')]
    """
    yield from _inside(expression, Kind.CONSTANT, expression, lambda new: new)


def _inside(part: sp.Basic, kind: Kind, around: sp.Basic, put: Callable[[sp.Basic], sp.Basic]) -> Iterator[Occurrence]:
    if part.is_Symbol or part.is_Number or isinstance(part, sp.NumberSymbol):
        if part.is_Symbol and kind is Kind.CONSTANT:
            kind = Kind.COEFFICIENT
        sign = part == -1 and kind is Kind.COEFFICIENT
        if kind is Kind.RANGE or not (part.is_zero or part.is_infinite or sign):
            yield Occurrence(part, kind, around, put)
        return
    limits = type(part) is sp.Tuple
    for place, child in enumerate(part.args):
        if limits and not place:  # the bound variable
            continue
        if isinstance(part, sp.Derivative | sp.Subs | sp.Lambda) and place:
            return
        yield from _inside(child, _kind(part, place, kind), around if limits else part, _within(part, place, put))


def _kind(part: sp.Basic, place: int, kind: Kind) -> Kind:
    """The kind of what stands at a place of a function, whose own kind is given."""
    if type(part) is sp.Tuple or kind is Kind.RANGE:
        return Kind.RANGE
    if isinstance(part, AppliedUndef) and part.args[place].is_integer:
        return Kind.RANGE
    if isinstance(part, sp.exp) or (isinstance(part, sp.Pow) and place):
        return Kind.EXPONENT
    if kind is Kind.EXPONENT:
        return kind
    return Kind.CONSTANT if isinstance(part, sp.Add | Relational) else Kind.COEFFICIENT


def _within(part: sp.Basic, place: int, put: Callable[[sp.Basic], sp.Basic]) -> Callable[[sp.Basic], sp.Basic]:
    def changed(new: sp.Basic) -> sp.Basic:
        args = (*part.args[:place], new, *part.args[place + 1 :])
        whole: sp.Basic = part.func(*args, evaluate=False) if isinstance(part, Relational) else part.func(*args)
        return put(whole)

    return changed
