"""Guaranteed enclosures of Sympy expressions, and of their gradients.

`Tape` compiles an expression once into a list of interval operations; running it gives an enclosure of the
exact value over a box, and a reverse sweep an enclosure of every partial derivative. `enclose` is the short
way for one evaluation.
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count

import sympy as sp
from flint import arb, ctx

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import WHOLE, Interval
from lastiterate.numeric.enclosure.limits import enclosed, is_limit
from lastiterate.numeric.enclosure.operations import (
    ONE,
    REWRITTEN,
    Operation,
    UnsupportedError,
    choose,
    number,
    operation_of,
)

MAX_TERMS = 5000
"""A sum of more terms than this is not written out."""


def _number(expression: sp.Expr) -> arb:
    """A Sympy number at the working precision."""
    return enclosed(expression) if is_limit(expression) else number(expression)


class Tape:
    """An expression, compiled to interval operations over named symbols.

    Attributes:
        symbols: the inputs, in the order in which `value` and `gradient` take them.

    Raises:
        UnsupportedError: on compiling something that has no enclosure here (an integral that may not exist, a sum whose
            limits are not whole numbers, a free symbol that is not among the inputs).

    >>> from sympy.abc import x
    >>> low, high = Tape(x**2 - x, (x,)).value([(arb(2), arb(3))])
    >>> low <= 2 and high >= 6
    True
    """

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.symbols = tuple(symbols)
        self._slots: dict[sp.Expr, int] = {symbol: i for i, symbol in enumerate(self.symbols)}
        self._numbers: list[tuple[int, sp.Expr]] = []
        self._steps: list[tuple[int, Operation, tuple[int, ...]]] = []
        self._next = count(len(self.symbols))
        self._output = self._compile(sp.sympify(expression, strict=True))
        self._size = next(self._next)
        self._cache: dict[int, list[tuple[int, Interval]]] = {}

    def value(self, box: Sequence[Interval]) -> Interval:
        """An enclosure of the expression wherever on the box it is defined; the box has one interval a symbol."""
        return self._run(box)[self._output]

    def gradient(self, box: Sequence[Interval]) -> tuple[Interval, tuple[Interval, ...]]:
        """Enclosures of the value and of each partial derivative over the box.

        At a kink (minimum, maximum, absolute value) they enclose Clarke's generalized gradient, for which the
        mean value theorem holds.
        """
        values = self._run(box)
        zero = (arb(0), arb(0))
        slopes: list[Interval] = [zero] * self._size
        slopes[self._output] = ONE
        for slot, operation, inputs in reversed(self._steps):
            outer = slopes[slot]
            if outer[0] == 0 and outer[1] == 0:
                continue
            partials = operation.partials([values[i] for i in inputs], values[slot])
            for i, inner in zip(inputs, partials, strict=True):
                slopes[i] = iv.add(slopes[i], iv.multiply(outer, inner))
        return values[self._output], tuple(slopes[: len(self.symbols)])

    def _run(self, box: Sequence[Interval]) -> list[Interval]:
        values: list[Interval] = [WHOLE] * self._size
        values[: len(self.symbols)] = box
        bits = ctx.prec
        if bits not in self._cache:
            self._cache[bits] = [(slot, iv.point(_number(one))) for slot, one in self._numbers]
        for slot, constant in self._cache[bits]:
            values[slot] = constant
        for slot, operation, inputs in self._steps:
            values[slot] = operation.value([values[i] for i in inputs])
        return values

    def _compile(self, expression: sp.Expr) -> int:
        if expression in self._slots:
            return self._slots[expression]
        if expression.is_Symbol:
            raise UnsupportedError(f"no value was given for the symbol {expression}")
        if is_limit(expression) or (expression.is_number and not expression.args):
            _number(expression)
            slot = next(self._next)
            self._numbers.append((slot, expression))
        elif isinstance(expression, sp.Sum | sp.Product):
            slot = self._compile(_written_out(expression))
        elif isinstance(expression, sp.Piecewise):
            slot = self._piecewise(expression)
        elif type(expression) in REWRITTEN:
            slot = self._compile(REWRITTEN[type(expression)](*expression.args))
        else:
            operation, parts = operation_of(expression)
            slot = self._step(operation, tuple(self._compile(part) for part in parts))
        self._slots[expression] = slot
        return slot

    def _step(self, operation: Operation, inputs: tuple[int, ...]) -> int:
        slot = next(self._next)
        self._steps.append((slot, operation, inputs))
        return slot

    def _piecewise(self, expression: sp.Piecewise) -> int:
        """Nested choices, from the last piece to the first; a last piece is taken to hold otherwise."""
        *pieces, last = [piece.args for piece in expression.args]
        slot = self._compile(last[0])
        for value, condition in reversed(pieces):
            slot = self._choice(condition, self._compile(value), slot)
        return slot

    def _choice(self, condition: sp.Basic, value: int, otherwise: int) -> int:
        """``value`` where the condition holds, else ``otherwise``: by the sign of the difference of its sides."""
        if isinstance(condition, sp.And):
            for part in condition.args:
                value = self._choice(part, value, otherwise)
            return value
        if isinstance(condition, sp.Or):
            for part in condition.args:
                otherwise = self._choice(part, value, otherwise)
            return otherwise
        if isinstance(condition, sp.Eq | sp.Ne):
            relation, gap = type(condition), self._compile(condition.lhs - condition.rhs)
        elif isinstance(condition, sp.Rel):
            relation = sp.Gt if isinstance(condition, sp.Gt | sp.Lt) else sp.Ge
            gap = self._compile(condition.gts - condition.lts)
        else:
            raise UnsupportedError(f"no enclosure of a piece under the condition {condition}")
        return self._step(choose(relation), (gap, value, otherwise))


def _written_out(expression: sp.Sum | sp.Product) -> sp.Expr:
    """A sum or product with whole limits as its terms."""
    body, *limits = expression.args
    terms = [body]
    for index, low, high in (limit.args for limit in limits):
        if not (low.is_Integer and high.is_Integer):
            raise UnsupportedError(f"{expression} needs whole limits to be enclosed")
        if (high - low + 1) * len(terms) > MAX_TERMS:
            raise UnsupportedError(f"{expression} has more than {MAX_TERMS} terms")
        terms = [term.xreplace({index: sp.Integer(i)}) for term in terms for i in range(int(low), int(high) + 1)]
    return (sp.Add if isinstance(expression, sp.Sum) else sp.Mul)(*terms)


@lru_cache(maxsize=512)
def _tape(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Tape:
    return Tape(expression, symbols)


def enclose(expression: sp.Expr, values: Mapping[sp.Symbol, arb]) -> arb:
    """A ball that certainly holds the expression's value, for every point of the given balls.

    Symbols in the limits of a sum need exact whole values. The ball is the whole line where the expression
    leaves its domain. Precision is python-flint's ``ctx.prec``.

    Raises:
        UnsupportedError: see `Tape`.

    >>> from sympy import sqrt
    >>> from sympy.abc import x
    >>> enclose(sqrt(x) - x, {x: arb(2)}).overlaps(arb(2).sqrt() - 2)
    True
    """
    whole = {
        symbol: sp.Integer(int(number))
        for symbol, ball in values.items()
        if symbol.is_integer and ball.is_exact() and (number := ball.unique_fmpz()) is not None
    }
    replaced = expression.xreplace(whole) if expression.has(sp.Sum, sp.Product) else expression
    free = replaced.free_symbols
    rest = tuple(symbol for symbol in values if symbol in free)
    low, high = _tape(replaced, rest).value([iv.point(values[symbol]) for symbol in rest])
    return low if low == high else low.union(high)
