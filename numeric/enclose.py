"""Guaranteed enclosures of Sympy expressions, and of their gradients.

`Tape` compiles an expression once into a list of interval operations; running it gives an enclosure of the
exact value over a box, and a reverse sweep an enclosure of every partial derivative. `enclose` is the short
way for one evaluation.
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Final

import sympy as sp
from flint import arb, ctx, fmpq, fmpz

from lastiterate.numeric import interval as iv
from lastiterate.numeric.enclose_sampled import sampled_partials, sampled_value
from lastiterate.numeric.interval import UNIT, WHOLE, Interval
from lastiterate.symbolic.sampled_gaussian import SampledDown, SampledUp

__all__ = ["Tape", "UnsupportedError", "enclose"]

MAX_TERMS = 5000
"""A sum of more terms than this is not written out."""


class UnsupportedError(ValueError):
    """The expression holds something that has no enclosure here."""


@dataclass(frozen=True)
class _Operation:
    """One step of a tape: its value from the values of its arguments, and its partial derivatives."""

    value: Callable[[list[Interval]], Interval]
    partials: Callable[[list[Interval], Interval], list[Interval]]


def _one(x: Interval) -> Interval:  # noqa: ARG001
    return arb(1), arb(1)


def _unary(function: Callable[[Interval], Interval], slope: Callable[[Interval], Interval]) -> _Operation:
    return _Operation(lambda args: function(args[0]), lambda args, _: [slope(args[0])])


def _swing(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    """Sine and cosine are not monotone: one ball, cut to [-1, 1]."""

    def lifted(x: Interval) -> Interval:
        if not (x[0].is_finite() and x[1].is_finite()):
            return -arb(1), arb(1)
        low, high = iv.point(function(x[0].union(x[1])))
        return (low if low >= -1 else -arb(1)), (high if high <= 1 else arb(1))

    return lifted


def _cosh(x: Interval) -> Interval:
    return iv.increasing(arb.cosh)(iv.absolute(x))


_plus_one = (arb(1), arb(1))


def _square(x: Interval) -> Interval:
    return iv.integer_power(x, 2)


def _one_plus_square(x: Interval) -> Interval:
    return iv.add(_plus_one, _square(x))


def _one_minus_square(x: Interval) -> Interval:
    return iv.add(_plus_one, iv.negative(_square(x)))


def _rsqrt(x: Interval) -> Interval:
    return iv.inverse(iv.increasing(arb.sqrt)(x)) if x[0] > 0 else WHOLE


def _bell(x: Interval) -> Interval:
    """2/sqrt(pi) exp(-x^2), the derivative of erf."""
    scale = iv.point(2 / arb.pi().sqrt())
    return iv.multiply(scale, iv.increasing(arb.exp)(iv.negative(_square(x))))


_sign_like: Final = (-arb(1), arb(1))


def _sign(x: Interval) -> Interval:
    if x[0] > 0:
        return _plus_one
    if x[1] < 0:
        return iv.negative(_plus_one)
    return (arb(0), arb(0)) if x[0] == x[1] == 0 else _sign_like


def _step_slope(x: Interval) -> Interval:  # noqa: ARG001
    return WHOLE


_exp, _log = iv.increasing(arb.exp), iv.increasing(arb.log)
_sinh, _tanh, _tan = iv.increasing(arb.sinh), iv.increasing(arb.tanh), arb.tan
_UNARY: Final[dict[type, _Operation]] = {
    sp.exp: _unary(_exp, _exp),
    sp.log: _unary(_log, lambda x: iv.inverse(x) if x[0] >= 0 else WHOLE),
    sp.sinh: _unary(_sinh, _cosh),
    sp.cosh: _unary(_cosh, _sinh),
    sp.tanh: _unary(_tanh, lambda x: _one_minus_square(_tanh(x))),
    sp.asinh: _unary(iv.increasing(arb.asinh), lambda x: _rsqrt(_one_plus_square(x))),
    sp.acosh: _unary(
        iv.increasing(arb.acosh), lambda x: _rsqrt(iv.negative(_one_minus_square(x))) if x[0] >= 1 else WHOLE
    ),
    sp.atanh: _unary(iv.increasing(arb.atanh), lambda x: iv.inverse(_one_minus_square(x))),
    sp.sin: _unary(_swing(arb.sin), _swing(arb.cos)),
    sp.cos: _unary(_swing(arb.cos), lambda x: iv.negative(_swing(arb.sin)(x))),
    sp.asin: _unary(iv.increasing(arb.asin), lambda x: _rsqrt(_one_minus_square(x))),
    sp.acos: _unary(iv.decreasing(arb.acos), lambda x: iv.negative(_rsqrt(_one_minus_square(x)))),
    sp.atan: _unary(iv.increasing(arb.atan), lambda x: iv.inverse(_one_plus_square(x))),
    sp.erf: _unary(iv.increasing(arb.erf), _bell),
    sp.erfc: _unary(iv.decreasing(arb.erfc), lambda x: iv.negative(_bell(x))),
    sp.Abs: _unary(iv.absolute, lambda x: _sign(x) if x[0] != 0 or x[1] != 0 else _sign_like),
    sp.sign: _unary(_sign, _step_slope),
    sp.floor: _unary(iv.increasing(arb.floor), _step_slope),
    sp.ceiling: _unary(iv.increasing(arb.ceil), _step_slope),
}


def _sum(args: list[Interval]) -> Interval:
    total = args[0]
    for part in args[1:]:
        total = iv.add(total, part)
    return total


def _product(args: list[Interval]) -> Interval:
    total = args[0]
    for part in args[1:]:
        total = iv.multiply(total, part)
    return total


def _product_partials(args: list[Interval], _: Interval) -> list[Interval]:
    return [_product([_plus_one, *(other for k, other in enumerate(args) if k != skip)]) for skip in range(len(args))]


def _choice_partials(args: list[Interval], chosen: Interval) -> list[Interval]:
    """Each argument of a minimum or maximum gets weight 1, 0, or anything between (Clarke's gradient)."""
    possible = [arg[0] <= chosen[1] and arg[1] >= chosen[0] for arg in args]
    if sum(possible) == 1:
        return [_plus_one if p else (arb(0), arb(0)) for p in possible]
    return [UNIT if p else (arb(0), arb(0)) for p in possible]


def _integer_power(n: int) -> _Operation:
    def slope(args: list[Interval], _: Interval) -> list[Interval]:
        return [iv.multiply((arb(n), arb(n)), iv.integer_power(args[0], n - 1))]

    return _Operation(lambda args: iv.integer_power(args[0], n), slope)


def _power_partials(args: list[Interval], value: Interval) -> list[Interval]:
    base, exponent = args
    less = iv.add(exponent, (-arb(1), -arb(1)))
    in_base = iv.multiply(exponent, iv.power(base, less))
    in_exponent = iv.multiply(value, _log(base)) if base[0] > 0 else WHOLE
    return [in_base, in_exponent]


_SUM = _Operation(_sum, lambda args, _: [_plus_one] * len(args))
_PRODUCT = _Operation(_product, _product_partials)
_POWER = _Operation(lambda args: iv.power(args[0], args[1]), _power_partials)
_LEAST = _Operation(iv.least, _choice_partials)
_GREATEST = _Operation(iv.greatest, _choice_partials)
_SAMPLED: Final[dict[type, _Operation]] = {
    SampledUp: _Operation(partial(sampled_value, up=True), sampled_partials),
    SampledDown: _Operation(partial(sampled_value, up=False), sampled_partials),
}


def _number(expression: sp.Expr) -> arb:
    """A Sympy number at the working precision."""
    if isinstance(expression, sp.Rational):
        return arb(fmpq(int(expression.p), int(expression.q)))
    if isinstance(expression, sp.Float):
        sign, mantissa, exponent, _ = expression._mpf_
        return arb(fmpz(-int(mantissa) if sign else int(mantissa))) * arb(2) ** int(exponent)
    known: dict[sp.Expr, Callable[[], arb]] = {
        sp.pi: arb.pi,
        sp.E: arb.const_e,
        sp.EulerGamma: arb.const_euler,
        sp.oo: lambda: arb("inf"),
    }
    if expression in known:
        constant: arb = known[expression]()
        return constant
    if expression is sp.S.NegativeInfinity:
        return -arb("inf")
    raise UnsupportedError(f"no enclosure of the number {expression}")


class Tape:
    """An expression, compiled to interval operations over named symbols.

    Attributes:
        symbols: the inputs, in the order in which `value` and `gradient` take them.

    Raises:
        UnsupportedError: on compiling something that has no enclosure here (an integral, a sum whose limits
            are not whole numbers, a free symbol that is not among the inputs).

    >>> from sympy.abc import x
    >>> low, high = Tape(x**2 - x, (x,)).value([(arb(2), arb(3))])
    >>> low <= 2 and high >= 6
    True
    """

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.symbols = tuple(symbols)
        self._slots: dict[sp.Expr, int] = {symbol: i for i, symbol in enumerate(self.symbols)}
        self._numbers: list[tuple[int, sp.Expr]] = []
        self._steps: list[tuple[int, _Operation, tuple[int, ...]]] = []
        self._next = count(len(self.symbols))
        self._output = self._compile(sp.sympify(expression, strict=True))
        self._size = next(self._next)
        self._cache: dict[int, list[tuple[int, Interval]]] = {}

    def value(self, box: Sequence[Interval]) -> Interval:
        """An enclosure of the expression over the box, one interval a symbol."""
        return self._run(box)[self._output]

    def gradient(self, box: Sequence[Interval]) -> tuple[Interval, tuple[Interval, ...]]:
        """Enclosures of the value and of each partial derivative over the box.

        At a kink (minimum, maximum, absolute value) they enclose Clarke's generalized gradient, for which the
        mean value theorem holds.
        """
        values = self._run(box)
        zero = (arb(0), arb(0))
        slopes: list[Interval] = [zero] * self._size
        slopes[self._output] = _plus_one
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
            self._cache[bits] = [(slot, iv.point(_number(number))) for slot, number in self._numbers]
        for slot, number in self._cache[bits]:
            values[slot] = number
        for slot, operation, inputs in self._steps:
            values[slot] = operation.value([values[i] for i in inputs])
        return values

    def _compile(self, expression: sp.Expr) -> int:
        if expression in self._slots:
            return self._slots[expression]
        if expression.is_Symbol:
            raise UnsupportedError(f"no value was given for the symbol {expression}")
        if expression.is_number and not expression.args:
            _number(expression)
            slot = next(self._next)
            self._numbers.append((slot, expression))
        elif isinstance(expression, sp.Sum | sp.Product):
            slot = self._compile(_written_out(expression))
        elif isinstance(expression, sp.Piecewise):
            slot = self._piecewise(expression)
        else:
            operation, parts = _operation(expression)
            slot = self._step(operation, tuple(self._compile(part) for part in parts))
        self._slots[expression] = slot
        return slot

    def _step(self, operation: _Operation, inputs: tuple[int, ...]) -> int:
        slot = next(self._next)
        self._steps.append((slot, operation, inputs))
        return slot

    def _piecewise(self, expression: sp.Piecewise) -> int:
        """Nested choices, from the last piece to the first, each by the sign of its condition's sides."""
        pieces = list(expression.args)
        last_value, last_condition = pieces.pop().args
        if last_condition != sp.true:
            raise UnsupportedError("a Piecewise needs a last piece that holds otherwise")
        slot = self._compile(last_value)
        for value, condition in reversed([piece.args for piece in pieces]):
            if not isinstance(condition, sp.Rel) or isinstance(condition, sp.Eq | sp.Ne):
                raise UnsupportedError(f"no enclosure of a piece under the condition {condition}")
            gap = self._compile(condition.gts - condition.lts)
            chosen = _choose(strict=isinstance(condition, sp.Gt | sp.Lt))
            slot = self._step(chosen, (gap, self._compile(value), slot))
        return slot


def _choose(*, strict: bool) -> _Operation:
    """First value where the gap is positive (or zero, unless strict), else the second; both where unclear."""

    def pick(gap: Interval) -> int:
        if gap[0] > 0 or (gap[0] >= 0 and not strict):
            return 1
        if gap[1] < 0 or (gap[1] <= 0 and strict):
            return 2
        return 0

    def value(args: list[Interval]) -> Interval:
        chosen = pick(args[0])
        return args[chosen] if chosen else iv.hull(args[1], args[2])

    def partials(args: list[Interval], _: Interval) -> list[Interval]:
        zero = (arb(0), arb(0))
        chosen = pick(args[0])
        if not chosen:
            return [WHOLE, WHOLE, WHOLE]
        return [zero, _plus_one if chosen == 1 else zero, _plus_one if chosen == 2 else zero]

    return _Operation(value, partials)


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


def _operation(expression: sp.Expr) -> tuple[_Operation, tuple[sp.Expr, ...]]:
    if isinstance(expression, sp.Add):
        return _SUM, expression.args
    if isinstance(expression, sp.Mul):
        return _PRODUCT, expression.args
    if isinstance(expression, sp.Pow):
        base, exponent = expression.args
        if exponent.is_Integer:
            return _integer_power(int(exponent)), (base,)
        return _POWER, (base, exponent)
    if isinstance(expression, sp.Min | sp.Max):
        return (_LEAST if isinstance(expression, sp.Min) else _GREATEST), expression.args
    operation = _UNARY.get(type(expression)) or _SAMPLED.get(type(expression))
    if operation is None:
        raise UnsupportedError(f"no enclosure of {type(expression).__name__} in {expression}")
    return operation, expression.args


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
    rest = tuple(symbol for symbol in values if symbol in replaced.free_symbols)
    low, high = _tape(replaced, rest).value([iv.point(values[symbol]) for symbol in rest])
    return low if low == high else low.union(high)
