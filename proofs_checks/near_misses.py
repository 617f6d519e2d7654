"""Near misses: wrong variants of a check, a few percent off, each of which its engine must refute.

They are made from the check, the same each time. Where it leaves no room (an equation, a recursion, a printed value, a
length, a derived profile, an inequality that is attained) one term of a side is three percent off. Another inequality
is made stronger by three percent more than the least room that it leaves at some points. A term of a unit check is a
length too much, and the mean of a simulation is beyond its tolerance.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import product
from operator import add
from typing import Final, NamedTuple, TypeVar, cast

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.runs import runs
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, enclosures, truth_at
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points
from lastiterate.proofs_checks.near_derivations import near_derivations
from lastiterate.symbolic.claim import (
    Check,
    Consequence,
    Deduced,
    Derived,
    Expected,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    NormBound,
    RandomPoints,
    Recursion,
    Relation,
    RenyiBound,
    Simulated,
    Tracked,
    Units,
    Value,
    VectorInequality,
)
from lastiterate.symbolic.notation import D
from lastiterate.symbolic.unevaluated import carried_out
from lastiterate.symbolic.vectors import Norm

MOST: Final = 3
"""Near misses of one check."""

_Kind = TypeVar("_Kind")

_MORE, _LESS = sp.Rational(103, 100), sp.Rational(97, 100)
_TINY, _BITS = 1e-25, (256,)


class _Term(NamedTuple):
    """A term of a side of a check, and the side as a function of what stands in its place."""

    field: str
    term: sp.Expr
    side: Callable[[sp.Expr], sp.Expr]


ROOMS: Final = (sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100))
"""Shares of a bound that a lemma may leave as room, where the room is not read off points: tried in this order."""


def near_misses(check: Check, assumptions: tuple[Boolean, ...], room: sp.Expr = sp.S.Zero) -> tuple[Check, ...]:
    """At most `MOST` near misses, spread over the check; () where it is not known what would be wrong.

    Args:
        check: one that holds.
        assumptions: of its claim.
        room: the share of its bound that is known to be room; a near miss is stronger by more than that.

    >>> from sympy import Symbol
    >>> x = Symbol("x")
    >>> [wrong.name for wrong in near_misses(Identity(x * (x + 1), x**2 + x), ())]
    ['x*(x + 1) times 103/100 on the left', 'x times 103/100 on the left', 'x**2 times 103/100 on the right']
    """
    if isinstance(check, Value):
        return _digits(check)
    less, percent = _LESS * (1 - room), f"{100 - 97 * (1 - room)} percent less"
    if isinstance(check, Consequence | Derived):
        return tuple(near_derivations(check, less))
    if isinstance(check, Deduced):
        return tuple(_weakened(check))
    if isinstance(check, RenyiBound):
        return (replace(check, name=f"a bound {percent}", mutants=(), bound=less * check.bound),)
    if isinstance(check, Tracked):
        return (replace(check, name=f"a distance {percent}", mutants=(), distance=less * check.distance),)
    if isinstance(check, Expected):
        right = (_MORE if check.relation is Relation.EQUAL else less) * check.right or sp.S.One
        return (replace(check, name=f"{right} on the right", mutants=(), right=right),)
    if isinstance(check, NormBound):
        return (replace(check, name=f"a length {percent}", mutants=(), bound=less * check.bound),)
    if isinstance(check, Induction):
        return tuple(_at_a_run(check, assumptions))
    if isinstance(check, VectorInequality):
        return _spread(list(_lengths(check, assumptions, room)))
    if isinstance(check, Units):
        return tuple(_changed(check, term, D) for term in _spread(list(_terms_of(check, "left", "right"))))
    if isinstance(check, Simulated) and check.relation is Relation.EQUAL and check.tolerance:
        wider = check.value + sp.Rational(21, 10) * check.tolerance
        return (replace(check, name="more by 2.1 tolerances", mutants=(), value=wider),)
    if isinstance(check, Inequality) and check.relation is Relation.TIGHT:
        return _spread(list(_attained(check, assumptions)))
    if isinstance(check, Inequality | IntervalInequality) and check.relation in (Relation.AT_MOST, Relation.BELOW):
        return tuple(_closest(check, assumptions))
    if isinstance(check, Identity) or (
        isinstance(check, Inequality | RandomPoints) and check.relation is Relation.EQUAL
    ):
        sides: tuple[str, ...] = ("left", "right")
    elif isinstance(check, Recursion):
        sides = ("closed_form", "step", "initial")
    else:
        return ()
    terms = list(_terms_of(check, *sides))
    if any(_lost(check, term) for term in _spread(terms)):
        terms = [term for term in terms if not _lost(check, term)]
    return tuple(_changed(check, term, _MORE) for term in _spread(terms))


def _spread(found: Sequence[_Kind]) -> tuple[_Kind, ...]:
    """The first, the middle and the last, and none twice."""
    places = dict.fromkeys((0, len(found) // 2, len(found) - 1))
    return tuple(found[place] for place in places) if found else ()


def _changed(check: Check, place: _Term, factor: sp.Expr) -> Check:
    side = {"left": "on the left", "right": "on the right"}.get(place.field, f"in {place.field}")
    changes = {
        "name": f"{place.term} times {factor} {side}",
        "mutants": (),
        place.field: place.side(factor * place.term),
    }
    return replace(check, **changes)


def _terms_of(check: Check, *names: str) -> Iterator[_Term]:
    """The terms of the sides, but for a whole side that is only compared with zero."""
    sides = {name: sp.sympify(getattr(check, name), strict=True) for name in names}
    for name, side in sides.items():
        against_zero = len(sides) == 2 and any(other.is_zero for another, other in sides.items() if another != name)
        for place in _terms(name, side, lambda new: new):
            if place.term != 0 and not (against_zero and place.term == side):
                yield place


def _terms(field: str, side: sp.Expr, whole: Callable[[sp.Expr], sp.Expr], *, inside: bool = False) -> Iterator[_Term]:
    """The terms of an expression, and those of the sums inside its factors, bases, exponents and logarithms."""
    if not inside and not isinstance(side, sp.Add):
        yield _Term(field, side, whole)
    if not isinstance(side, sp.Add | sp.Mul | sp.Pow | sp.exp | sp.log | sp.Subs | sp.Derivative):
        return
    for i, part in enumerate(side.args[:1] if isinstance(side, sp.Subs | sp.Derivative) else side.args):

        def around(new: sp.Expr, i: int = i) -> sp.Expr:
            return whole(side.func(*side.args[:i], new, *side.args[i + 1 :]))

        if isinstance(side, sp.Add) or part.has(sp.Add):
            yield from _terms(field, part, around, inside=not isinstance(side, sp.Add))


def _lost(check: Check, place: _Term) -> bool:
    """Tell whether a change of the term is none, or is lost where a sum cancels, seen at one point."""
    side = carried_out(sp.sympify(getattr(check, place.field), strict=True))
    changed = carried_out(place.side(_MORE * place.term))
    if side == changed or side.has(sp.Sum, sp.Integral, sp.Derivative):
        return bool(side == changed)
    point = {
        s: sp.Integer(k) if s.is_integer else sp.Rational(4 * k + 3, 10) for k, s in enumerate(free_symbols(side), 2)
    }
    try:
        (ball,) = enclosures(changed - side, point, _BITS)
        return bool(abs(ball) < _TINY)
    except UnsupportedError:
        off = (changed.xreplace(point) - side.xreplace(point)).evalf()
    return bool(off.is_number and off.is_finite and abs(off) < _TINY)


def _attained(check: Inequality, assumptions: tuple[Boolean, ...]) -> Iterator[Check]:
    """The left larger or the right smaller by three percent of a term that is not zero where the sides are equal."""
    nonzero = (sp.Ne(s, 0, evaluate=False) for s in free_symbols(check.left, check.right) if not s.is_zero)
    there = (*assumptions, *check.given, *(check.attained or nonzero))
    loose = replace(check, sign="<=", attained=())
    for field, up, down in (("left", _MORE, _LESS), ("right", _LESS, _MORE)):
        side = sp.sympify(getattr(check, field), strict=True)
        for term in sp.Add.make_args(side):
            for factor, signed in ((up, term), (down, -term)):
                if _positive(signed, there, sure=not check.attained):
                    yield _changed(loose, _Term(field, term, partial(add, side - term)), factor)


def _positive(term: sp.Expr, there: tuple[Boolean, ...], *, sure: bool) -> bool:
    """Tell whether a term is certainly positive there; without ``sure``, never negative and not always zero."""
    if sure:
        return entails(there, sp.Gt(term, 0, evaluate=False))
    return entails(there, sp.Ge(term, 0, evaluate=False)) and not entails(there, sp.Eq(term, 0, evaluate=False))


def _lengths(check: VectorInequality, assumptions: tuple[Boolean, ...], room: sp.Expr) -> Iterator[Check]:
    """A length on the left one percent longer, room aside, or one on the right shorter; in an equation any term."""
    equal = check.relation is Relation.EQUAL
    for place in _terms_of(check, "left", "right"):
        number = place.term.replace(Norm, lambda _: sp.S.One)
        if equal or (place.term.has(Norm) and entails((*assumptions, *check.given), sp.Ge(number, 0, evaluate=False))):
            factor = sp.Rational(101, 100) / (1 - room) if place.field == "left" else sp.Rational(99, 100) * (1 - room)
            yield _changed(check, place, factor)


def _closest(check: Inequality | IntervalInequality, assumptions: tuple[Boolean, ...]) -> Iterator[Check]:
    """The right smaller by a little more than the least room, next to the sides, that there is at some points."""
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


def _at_a_run(check: Induction, assumptions: tuple[Boolean, ...]) -> Iterator[Check]:
    """The larger side three percent less, or by a little more than the least room beside the sides in a run."""
    if isinstance(check.conclusion, sp.Equality):
        left, right = check.conclusion.args
        unequal = sp.Eq(left, _LESS * right or sp.S.One)
        yield replace(check, name="the right side 3/100 of it less", mutants=(), conclusion=unequal)
        return
    less, more = check.conclusion.lts, check.conclusion.gts
    order = 1 if check.conclusion.args[0] == less else -1
    sides = [(run.left, run.right)[::order] for run in runs(check, assumptions)]
    rooms = [((b - a) / (abs(a) + abs(b)), (b - a) / b) for a, b in sides if b != 0]
    if rooms:
        share = max(sp.Rational(3, 100), sp.Rational(103, 100) * min(rooms)[1])
        wrong = check.conclusion.func(*(less, (1 - share) * more)[::order])
        yield replace(check, name=f"the larger side {share} of it less", mutants=(), conclusion=wrong)


def _some(check: Inequality | IntervalInequality, assumptions: tuple[Boolean, ...]) -> Iterator[Point]:
    """Points at which the check holds: some that meet its premises, or the corners of its box that do."""
    if isinstance(check, IntervalInequality):
        ends = (
            [sp.sympify(end, strict=True) for end in pair if abs(end) is not sp.oo] or [sp.S.Zero]
            for pair in check.box.values()
        )
        corners = (dict(zip(check.box, corner, strict=True)) for corner in product(*ends))
        yield from (corner for corner in corners if all(truth_at(one, corner) for one in assumptions))
        return
    premises = (*assumptions, *check.given)
    with suppress(NoPointError):
        yield from points(free_symbols(check.left, check.right, premises), premises, 20, tries=30)


def _weakened(check: Deduced) -> Iterator[Deduced]:
    """The bound with a term three percent less, and the statement without one of its conditions."""
    said = check.statement
    body = cast("sp.Le", said.body)
    for place in _spread([one for one in _terms("right", body.rhs, lambda new: new) if one.term != 0]):
        less = replace(said, body=type(body)(body.lhs, place.side(_LESS * place.term), evaluate=False))
        yield replace(check, name=f"{place.term} times {_LESS} on the right", mutants=(), statement=less)
    for i, condition in enumerate(said.conditions):
        fewer = replace(said, conditions=(*said.conditions[:i], *said.conditions[i + 1 :]))
        yield replace(check, name=f"without {condition}", mutants=(), statement=fewer)


def _digits(check: Value) -> tuple[Check, ...]:
    """The last printed digit one more and one less."""
    printed = Decimal(check.printed)
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    return tuple(
        replace(check, name=f"printed {value}", mutants=(), printed=str(value))
        for value in (printed - unit, printed + unit)
    )
