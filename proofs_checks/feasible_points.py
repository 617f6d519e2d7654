"""Exact rational points that satisfy a claim's assumptions, and certified signs at such points.

Assumptions are used as they stand in the claim: a point is admissible only when every one of them is
certainly true there, and each symbol keeps what its declaration says (integer, positive, nonnegative).
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp
from flint import arb, ctx, fmpq
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.proofs_checks import declared
from lastiterate.symbolic.claim import Relation

Point = dict[sp.Symbol, sp.Rational]
"""Each symbol with its exact value."""

PRECISIONS = (64, 128, 256, 512, 1024)


class NoPointError(ValueError):
    """No sample satisfies the assumptions, so nothing was checked."""


def free_symbols(*parts: sp.Basic | Iterable[sp.Basic]) -> tuple[sp.Symbol, ...]:
    """The free symbols of expressions and conditions, sorted by name."""
    found: set[sp.Symbol] = set()
    for part in parts:
        for item in [part] if isinstance(part, sp.Basic) else part:
            found |= item.free_symbols
    return tuple(sorted(found, key=str))


def as_text(point: Point) -> dict[str, str]:
    """The point as exact text, for a counterexample."""
    return {str(symbol): str(value) for symbol, value in point.items()}


def at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Rational]) -> sp.Expr:
    """The expression at an exact point, sums written out."""
    value = expression.xreplace(dict(point))
    return value.doit() if value.has(sp.Sum, sp.Product) else value


def exact(number: sp.Rational) -> fmpq:
    """The same number in flint."""
    return fmpq(int(number.p), int(number.q))


def enclosures(expression: sp.Expr, point: Point, precisions: Sequence[int] = PRECISIONS) -> Iterator[arb]:
    """Ever tighter balls around the expression's value at the point, one for each precision in bits."""
    before = ctx.prec
    rest = expression.xreplace({s: v for s, v in point.items() if not v.is_Rational or (s.is_integer and v.is_Integer)})
    free = rest.free_symbols
    values = {s: exact(v) for s, v in point.items() if s in free}
    for bits in precisions:
        ctx.prec = bits
        try:
            yield enclose(rest, {s: arb(v) for s, v in values.items()})
        finally:
            ctx.prec = before


def sign_at(expression: sp.Expr, point: Point, *, nearly: bool = False) -> int | None:
    """The certified sign of the expression at an exact point; None where it cannot be told.

    Balls decide first. Zero is certified by exact arithmetic only; ``nearly``, a ball of 1e-60 is zero unless the value
    is rational.
    """
    tiny = False
    try:
        for ball in enclosures(expression, point):
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            tiny = bool(ball.rad() < 1e-60)
            if tiny:
                break
    except UnsupportedError:
        pass
    if not _short_powers(expression, point):
        return None
    value = at(expression, point)
    if value.is_Rational:
        return int(sp.sign(value))
    if value.has(sp.nan, sp.zoo) or value.is_real is False:
        return None
    return 0 if (nearly and tiny) or _is_zero(value) else None


def _short_powers(expression: sp.Expr, point: Point) -> bool:
    """Tell whether exact substitution stays small: Sympy would spell out 2^(123456/7891) digit by digit."""
    for power in expression.atoms(sp.Pow, sp.exp):
        if power.exp.free_symbols <= point.keys():
            exponent = power.exp.xreplace(point)
            if exponent.is_Rational and (exponent.q > 12 or abs(exponent.p) > 400):
                return False
    return True


def _is_zero(value: sp.Expr) -> bool:
    if value.is_zero is not None:
        return bool(value.is_zero)
    roots = [power.exp.q for power in value.atoms(sp.Pow) if power.exp.is_Rational]
    if value.count_ops() > 80 or max(roots, default=1) > 12:
        return bool(sp.powsimp(sp.expand(value)) == 0)
    if value.is_algebraic:
        return bool(sp.minimal_polynomial(value) == sp.Symbol("x"))
    return bool(sp.simplify(value) == 0)


def side(expression: sp.Expr, point: Point) -> str:
    """The value of one side at a point: exact where it is rational and short, else a ball."""
    if _short_powers(expression, point):
        value = at(expression, point)
        if value.is_Rational and len(str(value)) < 40:
            return str(value)
    (ball,) = enclosures(expression, point, PRECISIONS[1:2])
    return ball.str(20)


_NEEDED: dict[Relation, Callable[[int], bool]] = {
    Relation.EQUAL: lambda sign: sign == 0,
    Relation.AT_MOST: lambda sign: sign <= 0,
    Relation.TIGHT: lambda sign: sign <= 0,
    Relation.BELOW: lambda sign: sign < 0,
}


def relation_at(left: sp.Expr, relation: Relation, right: sp.Expr, point: Point) -> bool | None:
    """Tell whether ``left relation right`` certainly holds (or fails) at an exact point; None where unclear."""
    if relation not in _NEEDED:
        return None
    sign = sign_at(left - right, point)
    return None if sign is None else _NEEDED[relation](sign)


def truth_at(condition: Boolean, point: Point) -> bool | None:
    """Tell whether a condition certainly holds (or fails) at an exact point; None where unclear."""
    return truth(condition, by_sign(lambda difference: sign_at(difference, point)))


def truth(condition: Boolean, of_relation: Callable[[sp.Rel], bool | None]) -> bool | None:
    """Tell whether a condition, relations under and, or and not, certainly holds (or fails); None where unclear.

    Args:
        condition: what is asked.
        of_relation: the answer for one relation.
    """
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


def by_sign(sign_of: Callable[[sp.Expr], int | None]) -> Callable[[sp.Rel], bool | None]:
    """Decide a relation by the sign of its left side minus its right side: -1, 0 or 1, or None where it is unclear."""

    def decided(relation: sp.Rel) -> bool | None:
        sign = sign_of(relation.lhs - relation.rhs)
        return None if sign is None else bool(relation.func(sp.Integer(sign), sp.S.Zero))

    return decided


@dataclass(frozen=True)
class _Range:
    low: sp.Rational
    high: sp.Rational | None
    low_open: bool


def _range(symbol: sp.Symbol, conditions: Sequence[Boolean]) -> _Range:
    """Range by the declaration and the conditions on this symbol alone; the rest is left to rejection."""
    low: sp.Rational | None = sp.S.Zero if symbol.is_nonnegative else None
    open_ = bool(symbol.is_positive)
    high: sp.Rational | None = sp.S.Zero if symbol.is_nonpositive else None
    for condition in conditions:
        if not isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
            continue
        small, large, strict = condition.lts, condition.gts, isinstance(condition, sp.Gt | sp.Lt)
        if large == symbol and small.is_Rational and (low is None or small >= low):
            low, open_ = small, strict or (open_ and small == low)
        if small == symbol and large.is_Rational and (high is None or large < high):
            high = large
    if low is None:
        low = min(sp.Integer(-8), sp.Integer(-8) if high is None else high - 8)
    return _Range(low, high, open_)


def _draw(symbol: sp.Symbol, bounds: _Range, generator: random.Random) -> sp.Expr:
    """A short number of the range, spread over scales; ends included where they are closed."""
    if symbol.is_integer:
        first = int(sp.ceiling(bounds.low)) + (1 if bounds.low_open and bounds.low.is_Integer else 0)
        last = first + 12 if bounds.high is None else min(int(sp.floor(bounds.high)), first + 40)
        return sp.Integer(generator.choice((first, generator.randint(first, max(first, last)))))
    if symbol.is_real is not True:
        parts = [sp.Rational(generator.randint(-16, 16), generator.choice((1, 2, 4))) for _ in range(2)]
        return parts[0] + sp.I * parts[1] * generator.randint(0, 1)
    if not bounds.low_open and generator.random() < 0.05:
        return bounds.low
    if bounds.high is None:
        step = sp.Rational(generator.randint(1, 40), generator.choice((1, 2, 3, 4, 5, 8, 10, 20)))
        return bounds.low + step
    share = sp.Rational(generator.randint(1, 39), 40)
    if generator.random() < 0.2:
        share = sp.Rational(1, generator.choice((50, 200, 1000)))
        share = share if generator.random() < 0.5 else 1 - share
    return bounds.low + share * (bounds.high - bounds.low)


def _defined(conditions: Sequence[Boolean]) -> tuple[dict[sp.Symbol, sp.Expr], list[Boolean]]:
    """Equations ``symbol == expression`` are solved by substitution, the other conditions are tested."""
    definitions: dict[sp.Symbol, sp.Expr] = {}
    rest: list[Boolean] = []
    for condition in conditions:
        if isinstance(condition, sp.Eq):
            for symbol, value in (condition.args, condition.args[::-1]):
                used = {s for d in definitions.values() for s in d.free_symbols}
                if (
                    symbol.is_Symbol
                    and symbol not in definitions
                    and symbol not in value.free_symbols
                    and not (value.free_symbols & definitions.keys())
                    and symbol not in used
                ):
                    definitions[symbol] = value
                    break
        rest.append(condition)
    return definitions, rest


def points(
    symbols: Sequence[sp.Symbol], conditions: Sequence[Boolean], wanted: int, *, seed: int = 0, tries: int = 200
) -> Iterator[Point]:
    """Up to ``wanted`` admissible points at exact rationals, always the same ones for the same input.

    Raises:
        NoPointError: not one of ``tries * wanted`` candidates satisfies the conditions.
    """
    definitions, tested = _defined(conditions)
    everything = set(symbols) | set(free_symbols(conditions))
    drawn = sorted(everything - definitions.keys(), key=str)
    ranges = {symbol: _range(symbol, conditions) for symbol in drawn}
    generator = random.Random(seed)  # noqa: S311
    found = 0
    for _ in range(tries * wanted):
        point: Point = {symbol: _draw(symbol, ranges[symbol], generator) for symbol in drawn}
        for symbol, value in definitions.items():
            point[symbol] = at(value, point)
        if not all(_is_short(symbol, value) and declared.admits(symbol, value) for symbol, value in point.items()):
            continue
        if all(truth_at(condition, point) for condition in tested):
            found += 1
            yield point
            if found == wanted:
                return
    if not found:
        raise NoPointError(
            f"no sample satisfies the assumptions {', '.join(str(c) for c in conditions)}; "
            "they contradict each other, or leave too small a set."
        )


def _is_short(symbol: sp.Symbol, value: sp.Expr) -> bool:
    """Tell whether a computed value can be written into a report: rational, or complex with rational parts."""
    return bool(
        value.is_Rational or (symbol.is_real is not True and all(part.is_Rational for part in value.as_real_imag()))
    )
