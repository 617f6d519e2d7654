"""Inequalities on unbounded ranges: by an exact change of variable, else by the sign of a derivative on the range.

Lemma 1. x = low - 1 + 1/t maps 0 < t <= 1 onto low <= x < oo, and x = high + 1 - 1/t onto x <= high; a whole line is
two such ranges. So the relation holds for all x when it holds for all t with t > 0. Next to t = 0 balls give the
range of each operation over [X, oo], and no slope is taken there.

Lemma 2. A gap that is defined on low <= x < oo, with a derivative that is nowhere negative there, is least at low. So
where both are shown on the whole box, conditions aside, the face x = low is all that is left to show; low may be any
point of the range, with the part before it shown on its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits, conditions
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.answers import held, refuted_at, undecided
from lastiterate.proofs_checks.engines.branch import prove
from lastiterate.proofs_checks.engines.faces import SMOOTH, shown_on
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, relation_at, truth_at
from lastiterate.proofs_checks.feasible_points import connected, free_symbols
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.checks import IntervalInequality

Bounded = Callable[[IntervalInequality, tuple[Boolean, ...], int], Outcome]
"""The engine on a box with finite ends, and at most so many boxes that it is split into."""

_BOXES = 400
"""Next to an infinite end either few boxes do or none."""

_STARTS = (0, 4, 32)
"""Distances from the finite end at which the slope may begin to keep its sign."""

_LADDER = 3
"""Derivatives of derivatives that may be shown to keep their sign."""


def is_unbounded(check: IntervalInequality) -> bool:
    """Tell whether an end of the box is infinite."""
    return any(end in (sp.oo, -sp.oo) for ends in check.box.values() for end in ends)


def decide(check: IntervalInequality, assumptions: tuple[Boolean, ...], bounded: Bounded) -> Outcome:
    """Decide an `IntervalInequality` with infinite ends, by the engine for finite ones.

    Raises:
        InputError: an interval runs backwards, or leaves what its symbol is declared to be.
    """
    for symbol, (low, high) in check.box.items():
        if low is sp.oo or high is -sp.oo:
            raise InputError(f"box needs ends low <= high, got {symbol}=({low}, {high}); turn them round.")
    outcomes = [_decided(part, assumptions, bounded, _LADDER) for part in _halves(check)]
    for outcome in outcomes:
        if outcome.status is not Status.HELD:
            return outcome
    return held(
        check, Grade.CERTIFIED, "; ".join(dict.fromkeys(o.detail for o in outcomes)), _scope(check, assumptions)
    )


def _scope(check: IntervalInequality, assumptions: tuple[Boolean, ...]) -> str:
    """The finite ends and signs that the assumptions do not give."""
    inside = [one for one in assumptions if one.free_symbols <= check.box.keys()]
    used = free_symbols(check.left, check.right)
    used = free_symbols(used, connected(inside, used))
    ends = [end for s, (low, high) in check.box.items() if s in used for end in (sp.Ge(s, low), sp.Le(s, high))]
    return ", ".join(str(end) for end in ends if end != sp.true and not entails(assumptions, end))


def _halves(check: IntervalInequality) -> Iterator[IntervalInequality]:
    """The check on boxes with at most one infinite end to a symbol."""
    for symbol, ends in check.box.items():
        if ends == (-sp.oo, sp.oo):
            for half in ((-sp.oo, sp.S.Zero), (sp.S.Zero, sp.oo)):
                yield from _halves(replace(check, box={**check.box, symbol: half}))
            return
    yield check


def _decided(check: IntervalInequality, assumptions: tuple[Boolean, ...], bounded: Bounded, ladder: int) -> Outcome:
    finite, values = _finite(check, assumptions)
    there = tuple(c for c in (one.xreplace(values) for one in _known(check, assumptions)) if c != sp.true)
    if sp.false in there:
        return undecided(check, "no point of the range meets the assumptions")
    outcome = bounded(finite, there, _BOXES)
    if outcome.status is Status.HELD:
        return replace(outcome, detail=f"{outcome.detail}, infinite ends by 1/t", scope="")
    if outcome.status is Status.REFUTED and outcome.counterexample is not None:
        at = {str(s): sp.Rational(v) for s, v in outcome.counterexample.at.items()}
        numbers = {s: at[str(s)] for s in finite.box if str(s) in at}
        point: Point = {s: values.get(s, s).xreplace(numbers) for s in check.box}
        return (
            refuted_at(check, point) if _fails(check, assumptions, point) else undecided(check, "fails between points")
        )
    if not _is_defined(check):
        return outcome
    starts = _STARTS if ladder == _LADDER else _STARTS[:1]
    sloped = (_by_slope(check, assumptions, bounded, ladder, start) for start in starts)
    return next((found for found in sloped if found is not None), outcome)


def _known(check: IntervalInequality, assumptions: tuple[Boolean, ...]) -> tuple[Boolean, ...]:
    return (*assumptions, *(c for s in check.box for c in conditions(s)))


def _finite(
    check: IntervalInequality, assumptions: tuple[Boolean, ...] = ()
) -> tuple[IntervalInequality, dict[sp.Symbol, sp.Expr]]:
    """The check in a new letter t for each symbol with an infinite end, and what each such symbol is in it."""
    taken = {s.name for one in (check.left, check.right, *check.box, *assumptions) for s in one.atoms(sp.Symbol)}
    values: dict[sp.Symbol, sp.Expr] = {}
    box = {}
    for symbol, (low, high) in check.box.items():
        if sp.oo in (low, high) or -sp.oo in (low, high):
            t = sp.Symbol(next(n for k in count(1) if (n := f"t{'_' * k}{symbol}") not in taken), positive=True)
            taken.add(t.name)
            values[symbol] = low - 1 + 1 / t if high is sp.oo else high + 1 - 1 / t
            box[t] = (sp.S.Zero, sp.S.One)
        else:
            box[symbol] = (low, high)
    left, right = (side.xreplace(values) for side in (check.left, check.right))
    return replace(check, left=left, right=right, box=box, mutants=()), values


def _fails(check: IntervalInequality, assumptions: tuple[Boolean, ...], point: Point) -> bool:
    return (
        all(admits(symbol, value) for symbol, value in point.items())
        and all(truth_at(one, point) for one in assumptions if one.free_symbols <= point.keys())
        and relation_at(check.left, check.relation, check.right, point) is False
    )


def _by_slope(
    check: IntervalInequality, assumptions: tuple[Boolean, ...], bounded: Bounded, ladder: int, start: int
) -> Outcome | None:
    """The outcome by Lemma 2 from a distance of a symbol's finite end on; None where no symbol allows it."""
    gap = check.right - check.left
    parts = sp.preorder_traversal(gap)
    if not ladder or not all(part.is_Symbol or part.is_number or isinstance(part, SMOOTH) for part in parts):
        return None
    for symbol, (low, high) in check.box.items():
        if sp.oo not in (low, high) and -sp.oo not in (low, high):
            continue
        direction, end = (1, low) if high is sp.oo else (-1, high)
        begin = end + direction * start
        far = (begin, sp.oo) if direction == 1 else (-sp.oo, begin)
        slope = sp.factor_terms(sp.diff(gap, symbol) * direction)
        rising = replace(check, left=sp.S.Zero, right=slope, sign="<=", box={**check.box, symbol: far}, mutants=())
        try:
            rises = _decided(rising, (), bounded, ladder - 1).status is Status.HELD
            if not rises or not _face(check, assumptions, bounded, symbol, begin, ladder):
                continue
            near = replace(check, box={**check.box, symbol: (min(begin, end), max(begin, end))}, mutants=())
            if not start or _small(near, assumptions, bounded, ladder):
                return held(check, Grade.CERTIFIED, f"from {symbol} = {begin} on the slope keeps its sign")
        except UnsupportedError:
            continue
    return None


def _is_defined(check: IntervalInequality) -> bool:
    """Tell whether both sides are shown to be defined on the whole box, whatever is assumed."""
    finite, _ = _finite(check)
    box = {s: (sp.Rational(low), sp.Rational(high)) for s, (low, high) in finite.box.items()}
    return not unmet((finite.left, finite.right), (), shown_on(box, prove))


def _small(check: IntervalInequality, assumptions: tuple[Boolean, ...], bounded: Bounded, ladder: int) -> bool:
    """Tell whether the relation holds on a smaller box."""
    if is_unbounded(check):
        return _decided(check, assumptions, bounded, ladder - 1).status is Status.HELD
    return bounded(check, assumptions, 20 * _BOXES).status is Status.HELD


def _face(
    check: IntervalInequality,
    assumptions: tuple[Boolean, ...],
    bounded: Bounded,
    symbol: sp.Symbol,
    end: sp.Rational,
    ladder: int,
) -> bool:
    """Tell whether the relation holds where the symbol has its finite end, whatever is assumed of it."""
    at = {symbol: sp.sympify(end, strict=True)}
    rest = {s: ends for s, ends in check.box.items() if s != symbol}
    face = replace(check, left=check.left.xreplace(at), right=check.right.xreplace(at), box=rest, mutants=())
    known = tuple(one for one in assumptions if symbol not in one.free_symbols)
    return _small(face, known, bounded, ladder)
