"""Outcomes and near misses of engines.

Near misses are wrong variants of a check, a few percent off, which the engine must refute; they are the same
in every run. If a check has no room (an equation, a recursion, a printed value, a length, a derived profile,
an attained inequality), one term of a side is 3 % off. Other inequalities are strengthened by 3 % more than
the least room at some points.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple, TypeVar

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.exact_values import Point, enclosures, point_text, side, truth_at
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.checks import Check, Inequality, IntervalInequality, Relation
from lastiterate.symbolic.unevaluated import carried_out


def held(check: Check, grade: Grade, detail: str, scope: str = "") -> Outcome:
    """Outcome of a check that holds; for ``scope`` see `Outcome`."""
    return Outcome(check.name, check.engine, Status.HELD, grade, detail, scope=scope)


def undecided(check: Check, detail: str) -> Outcome:
    """Outcome of a check that is neither shown nor refuted."""
    return Outcome(check.name, check.engine, Status.UNDECIDED, detail=detail)


def refuted(check: Check, found: Counterexample | None, detail: str = "") -> Outcome:
    """Refutation by a counterexample, or by a proof without one."""
    return Outcome(check.name, check.engine, Status.REFUTED, detail=detail, counterexample=found)


def refuted_at(check: Inequality | IntervalInequality, point: Point) -> Outcome:
    """Refutation at an exact point, with an enclosure of each side."""
    left, right = side(check.left, point), side(check.right, point)
    relation = Relation.AT_MOST if check.relation is Relation.TIGHT else check.relation
    return refuted(check, Counterexample(point_text(point), left, relation, right, "left, right"))


MOST: Final = 3
"""Largest number of near misses of one check."""

MORE, LESS = sp.Rational(103, 100), sp.Rational(97, 100)
_TINY, _BITS = 1e-25, (256,)
_Kind = TypeVar("_Kind")


class Term(NamedTuple):
    """Term of a side of a check, and the side as a function of what replaces the term."""

    field: str
    term: sp.Expr
    side: Callable[[sp.Expr], sp.Expr]


def without_near_misses(check: Check, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """No near misses, for a check without variants known to be wrong."""
    return ()


def equation(check: Check, *sides: str) -> tuple[Check, ...]:
    """Increase one term of a side by 3 %, in each of up to `MOST` variants."""
    found = list(terms_of(check, *sides))
    if any(_lost(check, term) for term in first_middle_last(found)):
        found = [term for term in found if not _lost(check, term)]
    return tuple(changed(check, term, MORE) for term in first_middle_last(found))


def lessened(check: Check, field: str, what: str, room: sp.Expr) -> tuple[Check, ...]:
    """Reduce a bound by the share ``room``, then by 3 %."""
    less = LESS * (1 - room)
    return (variant(check, f"{what} {100 - 100 * less} percent less", **{field: less * getattr(check, field)}),)


def variant(check: _Kind, name: str, **changes: Any) -> _Kind:
    """Copy of a check with some fields changed and without mutants."""
    made: _Kind = replace(check, name=name, mutants=(), **changes)  # type: ignore[type-var]
    return made


def first_middle_last(found: Sequence[_Kind]) -> tuple[_Kind, ...]:
    """First, middle and last element, without repetition."""
    places = dict.fromkeys((0, len(found) // 2, len(found) - 1))
    return tuple(found[place] for place in places) if found else ()


def changed(check: _Kind, place: Term, factor: sp.Expr) -> _Kind:
    """Multiply a term of a check by a factor."""
    side = {"left": "on the left", "right": "on the right"}.get(place.field, f"in {place.field}")
    return variant(
        check, f"{place.term} times {factor} {side}", **{place.field: place.side(factor * place.term)}
    )


def terms_of(check: Check, *names: str) -> Iterator[Term]:
    """Terms of the sides, except a whole side that is only compared with zero."""
    sides = {name: sp.sympify(getattr(check, name), strict=True) for name in names}
    for name, whole in sides.items():
        against_zero = len(sides) == 2 and any(
            other.is_zero for another, other in sides.items() if another != name
        )
        for place in terms(name, whole, lambda new: new):
            if place.term != 0 and not (against_zero and place.term == whole):
                yield place


def terms(
    field: str, side: sp.Expr, whole: Callable[[sp.Expr], sp.Expr], *, inside: bool = False
) -> Iterator[Term]:
    """Terms of an expression and of the sums inside its factors, bases, exponents and logarithms."""
    if not inside and not isinstance(side, sp.Add):
        yield Term(field, side, whole)
    if not isinstance(side, sp.Add | sp.Mul | sp.Pow | sp.exp | sp.log | sp.Subs | sp.Derivative):
        return
    for i, part in enumerate(side.args[:1] if isinstance(side, sp.Subs | sp.Derivative) else side.args):

        def around(new: sp.Expr, i: int = i) -> sp.Expr:
            return whole(side.func(*side.args[:i], new, *side.args[i + 1 :]))

        if isinstance(side, sp.Add) or part.has(sp.Add):
            yield from terms(field, part, around, inside=not isinstance(side, sp.Add))


def _lost(check: Check, place: Term) -> bool:
    """Tell whether changing a term has no effect at a test point, because the term cancels."""
    side = carried_out(sp.sympify(getattr(check, place.field), strict=True))
    other = carried_out(place.side(MORE * place.term))
    if side == other or side.has(sp.Sum, sp.Integral, sp.Derivative):
        return bool(side == other)
    point = {
        s: sp.Integer(k) if s.is_integer else sp.Rational(4 * k + 3, 10)
        for k, s in enumerate(free_symbols(side), 2)
    }
    off = (other.xreplace(point) - side.xreplace(point)).evalf()
    return bool(off.is_comparable and abs(off) < _TINY)


def closest(check: Inequality | IntervalInequality, assumptions: tuple[Boolean, ...]) -> Iterator[Check]:
    """Reduce the right side by slightly more than its room at the point with the least relative room."""
    rooms: list[tuple[float, float]] = []
    for point in _some(check, assumptions):
        try:
            left, right = (next(enclosures(side, point, _BITS)) for side in (check.left, check.right))
        except UnsupportedError:
            continue
        size = abs(left) + abs(right)
        if right.is_finite() and float(size) > 0:
            room = float(max(right - left, size / 100))
            rooms.append((room / float(size), room))
    if rooms:
        less = sp.Rational(f"{1.03 * min(rooms)[1]:.2e}")
        yield replace(check, name=f"{float(less):g} less on the right", mutants=(), right=check.right - less)


def _some(check: Inequality | IntervalInequality, assumptions: tuple[Boolean, ...]) -> Iterator[Point]:
    """Points that meet an inequality's premises, or corners of a box that meet the assumptions."""
    if isinstance(check, IntervalInequality):
        ends = (
            [sp.sympify(end, strict=True) for end in pair if abs(end) is not sp.oo] or [sp.S.Zero]
            for pair in check.box.values()
        )
        corners = (dict(zip(check.box, corner, strict=True)) for corner in product(*ends))
        yield from (corner for corner in corners if all(truth_at(one, corner) for one in assumptions))
        return
    premises = (*assumptions, *check.given)
    yield from few_points(free_symbols(check.left, check.right, premises), premises)


@lru_cache(maxsize=64)  # near misses share the premises of their check
def few_points(symbols: tuple[sp.Symbol, ...], premises: tuple[Boolean, ...]) -> tuple[Point, ...]:
    """At most 20 points that meet the premises, none if they are rare."""
    with suppress(NoPointError):
        return tuple(find_points(symbols, premises, 20, tries=30))
    return ()
