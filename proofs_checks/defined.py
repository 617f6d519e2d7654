"""Definedness of expressions: the condition of each part, shown on a region or tested at a point.

A check holds only if every condition of both sides is shown, and is refuted only at a point that meets all
conditions. The condition of a function that is not listed here cannot be shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.numeric.enclosure.tape import exists, is_limit
from lastiterate.proofs_checks.exact_values import Point, truth_at
from lastiterate.symbolic.formulas.divergences import SampledDown, SampledUp
from lastiterate.symbolic.unevaluated import carried_out

_TOTAL: Final = (
    sp.Add, sp.Mul, sp.exp, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.sech, sp.asinh, sp.atan, sp.erf, sp.erfc,
    sp.Abs, sp.sign, sp.Min, sp.Max, sp.floor, sp.ceiling, sp.frac, sp.Heaviside, sp.KroneckerDelta,
)  # fmt: skip
"""Functions that are defined for every real argument."""

_KINKED: Final = (
    sp.Abs,
    sp.sign,
    sp.Min,
    sp.Max,
    sp.floor,
    sp.ceiling,
    sp.frac,
    sp.Heaviside,
    sp.Mod,
    sp.Piecewise,
)
"""Functions that are not differentiable everywhere; formulas with such a function are not differentiated."""

_PARTIAL: Final[Mapping[type, Callable[..., Boolean]]] = {
    sp.log: lambda x: x > 0,
    sp.tan: lambda x: sp.Ne(sp.cos(x), 0),
    sp.sec: lambda x: sp.Ne(sp.cos(x), 0),
    sp.cot: lambda x: sp.Ne(sp.sin(x), 0),
    sp.csc: lambda x: sp.Ne(sp.sin(x), 0),
    sp.coth: lambda x: sp.Ne(x, 0),
    sp.csch: lambda x: sp.Ne(x, 0),
    sp.asin: lambda x: And(x >= -1, x <= 1),
    sp.acos: lambda x: And(x >= -1, x <= 1),
    sp.acosh: lambda x: x >= 1,
    sp.atanh: lambda x: And(x > -1, x < 1),
    sp.gamma: lambda x: x > 0,
    sp.loggamma: lambda x: x > 0,
    sp.digamma: lambda x: x > 0,
    sp.factorial: lambda x: x >= 0,
    sp.binomial: lambda n, k: And(n >= 0, k >= 0) if n.is_integer and k.is_integer else sp.false,
    sp.Mod: lambda _, y: sp.Ne(y, 0),
    sp.LambertW: lambda x: x >= 0,
    SampledUp: lambda rate, noise, order: And(rate > 0, rate < 1, noise > 0, order > 1),
    SampledDown: lambda rate, noise, order: And(rate > 0, rate < 1, noise > 0, order > 1),
}
"""Conditions under which a function is defined at real arguments; gamma only on the positive axis."""

MOST_TERMS: Final = 5000


@dataclass(frozen=True)
class Need:
    """A part and the condition for it to be defined; ``given`` is the case or the sum's range around the part."""

    part: sp.Basic
    condition: Boolean
    given: tuple[Boolean, ...] = ()


@lru_cache(maxsize=8192)
def needs(expression: sp.Basic) -> tuple[Need, ...]:
    """Needs of the parts of an expression, inner parts first, except needs that Sympy evaluates to true."""
    return tuple(dict.fromkeys(n for n in _needs(expression, ()) if n.condition != sp.true))


def _needs(part: sp.Basic, given: tuple[Boolean, ...]) -> Iterator[Need]:
    if is_limit(part) and not part.free_symbols and exists(part):
        return
    if isinstance(part, sp.Sum | sp.Product):
        yield from _of_sum(part, given)
    elif isinstance(part, sp.Piecewise):
        yield from _of_cases(part, given)
    elif isinstance(part, sp.Subs):
        values = dict(zip(part.variables, part.point, strict=True))
        for need in (need for inner in part.point for need in _needs(inner, given)):
            yield need
        for need in _needs(part.expr, ()):
            inside = tuple(case.xreplace(values) for case in need.given)
            yield Need(need.part, need.condition.xreplace(values), (*given, *inside))
    elif isinstance(part, sp.Derivative):
        yield from _needs(part.expr, given)
        yield Need(part, sp.false if part.has(*_KINKED) else sp.true, given)
        for power in part.expr.atoms(sp.Pow):  # at an end of the domain a derivative is one-sided
            if power.base.has(*part.variables) and not power.exp.is_integer:
                yield Need(part, power.base > 0, given)
        taken = carried_out(part)
        if taken.has(sp.Derivative):  # the derivative of an unknown function
            yield Need(part, sp.false, given)
        else:
            yield from _needs(taken, given)
    else:
        for inner in part.args:
            yield from _needs(inner, given)
        try:
            condition = _condition(part)
        except TypeError:  # a part that is compared is not real
            condition = sp.false
        yield Need(part, condition, given)


def _condition(part: sp.Basic) -> Boolean:
    if isinstance(part, Boolean) or (part.is_Symbol and part.is_finite is not False):
        return sp.true
    if part.is_number and not part.args:
        return sp.true if part.is_real else sp.false
    if isinstance(part, sp.Pow):
        return _power(part.base, part.exp)
    if isinstance(part, (*_TOTAL, AppliedUndef)):
        return sp.true
    known = _PARTIAL.get(type(part))
    return known(*part.args) if known else sp.false


def _power(base: sp.Expr, exponent: sp.Expr) -> Boolean:
    if exponent.is_integer:
        return Or(sp.Ne(base, 0), exponent >= 0)
    if exponent.is_nonnegative:
        return base >= 0
    return Or(base > 0, And(base >= 0, exponent > 0))


def _of_cases(part: sp.Piecewise, given: tuple[Boolean, ...]) -> Iterator[Need]:
    earlier: list[Boolean] = []
    for value, condition in (piece.args for piece in part.args):
        here = (*given, *(Not(other) for other in earlier))
        yield from _needs(condition, here)
        yield from _needs(value, (*here, condition))
        earlier.append(condition)
    yield Need(part, Or(*earlier), given)


def _of_sum(part: sp.Sum | sp.Product, given: tuple[Boolean, ...]) -> Iterator[Need]:
    """Needs of a sum or product: integer limits, high >= low - 1, and a body defined on the range."""
    body, *limits = part.args
    here = given
    names: dict[sp.Symbol, sp.Symbol] = {}
    for index, *ends in (limit.args for limit in reversed(limits)):
        if len(ends) != 2:
            yield Need(part, sp.false, given)
            return
        low, high = (end.xreplace(names) for end in ends)
        yield from (need for end in (low, high) if end is not sp.oo for need in _needs(end, here))
        if high is sp.oo:
            yield Need(part, sp.true if low.is_integer and _converges(part) else sp.false, here)
        else:
            yield Need(part, sp.true if low.is_integer and high.is_integer else sp.false, here)
            # Sympy negates sums that run backwards; readers take them as empty.
            yield Need(part, sp.Ge(high, low - 1), here)
        facts = {"integer": True} | {f: True for f in ("positive", "nonnegative") if getattr(low, f"is_{f}")}
        names[index] = running = sp.Dummy(index.name, **facts)
        here = (*here, sp.Ge(running, low), *(() if high is sp.oo else (sp.Le(running, high),)))
    yield from _needs(body.xreplace(names), tuple(g for g in here if g != sp.true))


def _converges(part: sp.Sum | sp.Product) -> bool:
    try:
        return bool(part.is_convergent() == sp.true)
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return False


def _terms(part: sp.Basic) -> Iterator[sp.Basic]:
    """A numerical expression with its sums and products replaced by 1, and each of their terms."""
    sums = part.atoms(sp.Sum, sp.Product)
    outer = next(
        (s for s in sums if not any(s in other.args[0].atoms(sp.Sum, sp.Product) for other in sums)), None
    )
    if outer is None:
        yield part
        return
    yield from _terms(part.xreplace({outer: sp.S.One}))
    body, *limits = outer.args
    index, low, high = limits[-1].args
    rest = type(outer)(body, *limits[:-1]) if limits[:-1] else body
    if low.is_Integer and high.is_Integer and low - 1 <= high <= low + MOST_TERMS:
        for k in range(int(low), int(high) + 1):
            yield from _terms(rest.xreplace({index: sp.Integer(k)}))
    else:
        yield outer


def defined_at(expressions: Sequence[sp.Basic], point: Point) -> bool:
    """Tell whether every need of the expressions is certainly met at an exact point."""
    for expression in expressions:
        here = expression.xreplace(point) if expression.has(sp.Sum, sp.Product) else expression
        for term in _terms(here) if expression.has(sp.Sum, sp.Product) else (here,):
            for need in needs(term):
                counts = [truth_at(case, point) for case in need.given]
                if False not in counts and not (all(counts) and truth_at(need.condition, point)):
                    return False
    return True


def in_words(condition: Boolean) -> str:
    """A condition in words, with a hint if the declaration of its letter nearly implies it.

    >>> x, y = sp.Symbol("x", nonnegative=True), sp.Symbol("y", real=True)
    >>> in_words(sp.Ne(x, 0)), in_words(Or(sp.Ne(y, 0), y > 1))
    ('x != 0; x is declared nonnegative, so x > 0 has to be assumed', 'y > 1 or y != 0')
    """
    if isinstance(condition, And | Or):
        return (" and " if isinstance(condition, And) else " or ").join(map(in_words, condition.args))
    if not isinstance(condition, sp.Ne):
        return str(condition)
    letter = condition.lhs
    known = letter.is_Symbol and letter.is_nonnegative and not condition.rhs
    assume = f"; {letter} is declared nonnegative, so {letter} > 0 has to be assumed" if known else ""
    return f"{letter} != {condition.rhs}{assume}"


def unmet(
    expressions: Sequence[sp.Basic],
    premises: Sequence[Boolean],
    shown: Callable[[Sequence[Boolean], Boolean], bool],
    where: str = "wherever the assumptions hold",
) -> str:
    """Sentence about the first need that is not ``shown`` under the premises; "" if there is none."""
    for need in dict.fromkeys(n for expression in expressions for n in needs(expression)):
        if need.condition == sp.false or not shown((*premises, *need.given), need.condition):
            asks = "" if need.condition == sp.false else f": it needs {in_words(need.condition)}"
            return f"{need.part} is not shown to be defined {where}{asks}"
    return ""
