"""The operations of a tape: functions on intervals, with enclosures of their partial derivatives.

For M = (1 - q) N(0, s^2) + q N(1, s^2), the divergences D(M || N(0, s^2)) and D(N(0, s^2) || M) of the
sampled Gaussian are nondecreasing in q and in the order, and nonincreasing in s.

Source: docs/proofs/divergences.md; Van Erven & Harremoes 2014, theorems 3, 9 and 13.
"""

# Sympy and z3 have no stubs; pyright infers wider types from their sources than they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import Final

import sympy as sp
from flint import arb, ctx, fmpq, fmpz

from lastiterate.numeric.divergences.mixtures import Components, renyi_moment
from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import UNIT, WHOLE, Interval
from lastiterate.numeric.rounding import precision
from lastiterate.symbolic.formulas.divergences import SampledDown, SampledUp

_LEAST_BITS = 96
_MOST_WIDTHS = 1000
"""Largest distance between means, in units of the noise; quadrature is too slow for larger distances."""

_RISING: Interval = (arb(0), arb("inf"))
_FALLING: Interval = (-arb("inf"), arb(0))

_End = tuple[fmpz, fmpz]


def sampled_value(args: list[Interval], *, up: bool) -> Interval:
    """Divergence over a box of (rate, noise, order): D(mixture || base) if ``up``, else D(base || mixture)."""
    rate, noise, order = args
    ends = [end for interval in args for end in interval]
    inside = rate[0] > 0 and rate[1] < 1 and noise[0] * _MOST_WIDTHS > 1 and order[0] > 1
    if not (inside and all(end.is_finite() for end in ends)):
        return WHOLE
    at = partial(_at, up, max(ctx.prec, _LEAST_BITS))
    low = at(rate[0].man_exp(), noise[1].man_exp(), order[0].man_exp())
    high = at(rate[1].man_exp(), noise[0].man_exp(), order[1].man_exp())
    return low.lower(), high.upper()


def sampled_partials(args: list[Interval], value: Interval) -> list[Interval]:
    """Signs of the three slopes inside the domain; whole lines outside."""
    if not value[1].is_finite():
        return [WHOLE] * len(args)
    return [_RISING, _FALLING, _RISING]


@lru_cache(maxsize=8192)
def _at(up: bool, bits: int, *point: _End) -> arb:
    with precision(bits):
        rate, noise, order = map(arb, point)
        base: Components = ((arb(1), arb(0)),)
        mixture: Components = ((1 - rate, arb(0)), (rate, 1 / noise))
        laws = (mixture, base) if up else (base, mixture)
        return renyi_moment(*laws, order, bits).log() / (order - 1)


class UnsupportedError(ValueError):
    """The expression contains a part that cannot be enclosed."""


@dataclass(frozen=True)
class Operation:
    """A function on intervals: enclosures of its value, and of its partial derivatives given the value."""

    value: Callable[[list[Interval]], Interval]
    partials: Callable[[list[Interval], Interval], list[Interval]]


ONE: Final = (arb(1), arb(1))


def _unary(function: Callable[[Interval], Interval], slope: Callable[[Interval], Interval]) -> Operation:
    return Operation(lambda args: function(args[0]), lambda args, _: [slope(args[0])])


def _swing(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    """Lift sine or cosine, which are not monotone, to intervals: the value on one ball, clipped to [-1, 1]."""

    def lifted(x: Interval) -> Interval:
        if not (x[0].is_finite() and x[1].is_finite()):
            return -arb(1), arb(1)
        low, high = iv.point(function(x[0].union(x[1])))
        return (low if low >= -1 else -arb(1)), (high if high <= 1 else arb(1))

    return lifted


def _cut(low: int, high: int | None, lifted: Callable[[Interval], Interval]) -> Callable[[Interval], Interval]:
    """Restrict a function to the part of an interval in its domain; the whole line if this part is empty."""

    def cut(x: Interval) -> Interval:
        ends = (x[0] if x[0] >= low else arb(low)), (x[1] if high is None or x[1] <= high else arb(high))
        return lifted(ends) if ends[0] <= ends[1] else WHOLE

    return cut


def _cosh(x: Interval) -> Interval:
    return iv.increasing(arb.cosh)(iv.absolute(x))


def _square(x: Interval) -> Interval:
    return iv.integer_power(x, 2)


def _one_plus_square(x: Interval) -> Interval:
    return iv.add(ONE, _square(x))


def _one_minus_square(x: Interval) -> Interval:
    return iv.add(ONE, iv.negative(_square(x)))


def _rpositive(x: Interval) -> Interval:
    """Reciprocal of a positive number, else the whole line, as no slope is valid across a pole."""
    return iv.inverse(x) if x[0] > 0 else WHOLE


def _rsqrt(x: Interval) -> Interval:
    return iv.inverse(iv.increasing(arb.sqrt)(x)) if x[0] > 0 else WHOLE


def _bell(x: Interval) -> Interval:
    """2/sqrt(pi) exp(-x^2), the derivative of erf."""
    scale = iv.point(2 / arb.pi().sqrt())
    return iv.multiply(scale, iv.increasing(arb.exp)(iv.negative(_square(x))))


def _loggamma(x: Interval) -> Interval:
    return iv.point(x[0].union(x[1]).lgamma()) if x[0] > 0 and x[1].is_finite() else WHOLE


_sign_like: Final = (-arb(1), arb(1))


def _sign(x: Interval) -> Interval:
    if x[0] > 0:
        return ONE
    if x[1] < 0:
        return iv.negative(ONE)
    return (arb(0), arb(0)) if x[0] == x[1] == 0 else _sign_like


_exp, _log = iv.increasing(arb.exp), iv.increasing(arb.log)
_sinh, _tanh = iv.increasing(arb.sinh), iv.increasing(arb.tanh)
_UNARY: Final[dict[type, Operation]] = {
    sp.exp: _unary(_exp, _exp),
    sp.log: _unary(_log, _rpositive),
    sp.sinh: _unary(_sinh, _cosh),
    sp.cosh: _unary(_cosh, _sinh),
    sp.tanh: _unary(_tanh, lambda x: _one_minus_square(_tanh(x))),
    sp.asinh: _unary(iv.increasing(arb.asinh), lambda x: _rsqrt(_one_plus_square(x))),
    sp.acosh: _unary(
        _cut(1, None, iv.increasing(arb.acosh)),
        lambda x: _rsqrt(iv.negative(_one_minus_square(x))) if x[0] >= 1 else WHOLE,
    ),
    sp.atanh: _unary(iv.increasing(arb.atanh), lambda x: _rpositive(_one_minus_square(x))),
    sp.sin: _unary(_swing(arb.sin), _swing(arb.cos)),
    sp.cos: _unary(_swing(arb.cos), lambda x: iv.negative(_swing(arb.sin)(x))),
    sp.asin: _unary(_cut(-1, 1, iv.increasing(arb.asin)), lambda x: _rsqrt(_one_minus_square(x))),
    sp.acos: _unary(_cut(-1, 1, iv.decreasing(arb.acos)), lambda x: iv.negative(_rsqrt(_one_minus_square(x)))),
    sp.atan: _unary(iv.increasing(arb.atan), lambda x: iv.inverse(_one_plus_square(x))),
    sp.erf: _unary(iv.increasing(arb.erf), _bell),
    sp.erfc: _unary(iv.decreasing(arb.erfc), lambda x: iv.negative(_bell(x))),
    sp.loggamma: _unary(_loggamma, lambda x: iv.increasing(arb.digamma)(x) if x[0] > 0 else WHOLE),
    sp.Abs: _unary(iv.absolute, lambda x: _sign(x) if x[0] != 0 or x[1] != 0 else _sign_like),
    sp.sign: _unary(_sign, lambda _: WHOLE),
    sp.floor: _unary(iv.increasing(arb.floor), lambda _: WHOLE),
    sp.ceiling: _unary(iv.increasing(arb.ceil), lambda _: WHOLE),
}


REWRITTEN: Final[dict[type, Callable[..., sp.Expr]]] = {
    sp.tan: lambda x: sp.sin(x) / sp.cos(x),
    sp.cot: lambda x: sp.cos(x) / sp.sin(x),
    sp.sec: lambda x: 1 / sp.cos(x),
    sp.csc: lambda x: 1 / sp.sin(x),
    sp.coth: lambda x: sp.cosh(x) / sp.sinh(x),
    sp.sech: lambda x: 1 / sp.cosh(x),
    sp.csch: lambda x: 1 / sp.sinh(x),
    sp.gamma: lambda x: sp.exp(sp.loggamma(x)),
    sp.factorial: lambda x: sp.exp(sp.loggamma(x + 1)),
    sp.frac: lambda x: x - sp.floor(x),
    sp.Mod: lambda x, y: x - y * sp.floor(x / y),
    sp.Heaviside: lambda x, middle: sp.Piecewise((0, x < 0), (middle, sp.Eq(x, 0)), (1, True)),
}
"""Functions expressed by the functions above; the gamma function for positive arguments only."""


def _product(args: list[Interval]) -> Interval:
    return reduce(iv.multiply, args)


def _product_partials(args: list[Interval], _: Interval) -> list[Interval]:
    return [_product([ONE, *(other for k, other in enumerate(args) if k != skip)]) for skip in range(len(args))]


def _choice_partials(args: list[Interval], chosen: Interval) -> list[Interval]:
    """Give each argument of a minimum or maximum the weight 1, 0, or [0, 1] (Clarke's gradient)."""
    possible = [arg[0] <= chosen[1] and arg[1] >= chosen[0] for arg in args]
    if sum(possible) == 1:
        return [ONE if p else (arb(0), arb(0)) for p in possible]
    return [UNIT if p else (arb(0), arb(0)) for p in possible]


def _integer_power(n: int) -> Operation:
    def slope(args: list[Interval], _: Interval) -> list[Interval]:
        if n < 0 and args[0][0] <= 0 <= args[0][1]:
            return [WHOLE]
        return [iv.multiply((arb(n), arb(n)), iv.integer_power(args[0], n - 1))]

    return Operation(lambda args: iv.integer_power(args[0], n), slope)


def _power_partials(args: list[Interval], value: Interval) -> list[Interval]:
    base, exponent = args
    if not (base[0] > 0 or (base[0] == 0 and exponent[0] >= 1)):
        return [WHOLE, WHOLE]
    less = iv.add(exponent, (-arb(1), -arb(1)))
    in_base = iv.multiply(exponent, iv.real_power(base, less))
    in_exponent = iv.multiply(value, _log(base)) if base[0] > 0 else WHOLE
    return [in_base, in_exponent]


_SUM = Operation(partial(reduce, iv.add), lambda args, _: [ONE] * len(args))
_PRODUCT = Operation(_product, _product_partials)
_POWER = Operation(lambda args: iv.real_power(args[0], args[1]), _power_partials)
_LEAST = Operation(iv.minimum, _choice_partials)
_GREATEST = Operation(iv.maximum, _choice_partials)
_SAMPLED: Final[dict[type, Operation]] = {
    SampledUp: Operation(partial(sampled_value, up=True), sampled_partials),
    SampledDown: Operation(partial(sampled_value, up=False), sampled_partials),
}


def choice_operation(relation: type) -> Operation:
    """Choice between two values by the relation of a gap to zero; the hull of both if undecided."""

    def pick(gap: Interval) -> int:
        above, below = gap[0] > 0, gap[1] < 0
        if relation in (sp.Eq, sp.Ne):
            same = bool(gap[0] == gap[1] == 0)
            if not (same or above or below):
                return 0
            return 1 if same == (relation is sp.Eq) else 2
        strict = relation is sp.Gt
        if above or (gap[0] >= 0 and not strict):
            return 1
        if below or (gap[1] <= 0 and strict):
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
        return [zero, ONE if chosen == 1 else zero, ONE if chosen == 2 else zero]

    return Operation(value, partials)


def operation_of(expression: sp.Expr) -> tuple[Operation, tuple[sp.Expr, ...]]:
    """Operation at the root of an expression and its arguments; raises `UnsupportedError` if unknown."""
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


def enclose_number(expression: sp.Expr) -> arb:
    """A ball around a number that is a Sympy atom; raises `UnsupportedError` if the number is unknown."""
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
        -sp.oo: lambda: arb("-inf"),
    }
    if expression not in known:
        raise UnsupportedError(f"no enclosure of the number {expression}")
    return known[expression]()
