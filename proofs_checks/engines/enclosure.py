"""Transcendental inequalities on a box and printed values, by ball arithmetic."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import product

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits, within
from lastiterate.proofs_checks.declared import conditions as conditions_of
from lastiterate.proofs_checks.defined import complex_valued, defined_at, in_words, needs, unmet
from lastiterate.proofs_checks.engines.answers import held, refuted, refuted_at, undecided
from lastiterate.proofs_checks.engines.boxes import Edges, edge_of
from lastiterate.proofs_checks.engines.branch import FEW, prove
from lastiterate.proofs_checks.engines.faces import Box, inside_of, shown_on
from lastiterate.proofs_checks.engines.possible import some_point
from lastiterate.proofs_checks.engines.unbounded import decide as decide_unbounded
from lastiterate.proofs_checks.engines.unbounded import is_unbounded
from lastiterate.proofs_checks.engines.variants import closest, variant
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, at, enclosures, exact, truth_at, written_out
from lastiterate.proofs_checks.feasible_points import connected, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, IntervalInequality, RandomPoints, Relation, Value

_LITTLE = 200
"""Boxes for a point that fails where the sides are not defined all over the box: there nothing can hold."""

MAX_GRID = 4000
"""Most combinations of the integer symbols."""


def box_of(check: IntervalInequality | RandomPoints) -> dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]:
    """The box with rational ends.

    Raises:
        InputError: an end is not rational, the ends are in the wrong order, an interval leaves what its symbol is
            declared to be, or a free symbol has no interval.
    """
    box: dict[sp.Symbol, tuple[sp.Rational, sp.Rational]] = {}
    for symbol, ends in check.box.items():
        low, high = (sp.nsimplify(end) if isinstance(end, float) else sp.sympify(end, strict=True) for end in ends)
        if not (low.is_Rational and high.is_Rational) or low > high:
            raise InputError(
                f"box needs rational ends low <= high, got {symbol}=({low}, {high}); write Rational numbers."
            )
        if not within(symbol, low, high):
            raise InputError(
                f"box needs intervals within what their symbols are declared to be, got {symbol}=({low}, {high}) for "
                f"a symbol with {' and '.join(map(str, conditions_of(symbol)))}; shorten it."
            )
        box[symbol] = (low, high)
    for symbol in free_symbols(check.left, check.right):
        if symbol not in box:
            raise InputError(f"box needs an interval for every symbol, got none for symbol={symbol}; add it.")
    return box


def scope_of(
    symbols: Sequence[sp.Symbol], box: Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]], premises: Sequence[Boolean]
) -> str:
    """The intervals that are narrower than what the premises and the declarations leave, "" where none is."""
    return ", ".join(
        f"{symbol} = {low}" if low == high else f"{low} <= {symbol} <= {high}"
        for symbol, (low, high) in box.items()
        if symbol in symbols and not (entails(premises, symbol >= low) and entails(premises, symbol <= high))
    )


def _cut(
    symbol: sp.Symbol, ends: tuple[sp.Rational, sp.Rational], conditions: Sequence[Boolean]
) -> tuple[sp.Rational, sp.Rational]:
    """The part of an interval that conditions on the symbol alone leave."""
    low, high = ends
    for condition in conditions:
        if isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
            if condition.gts == symbol and condition.lts.is_Rational:
                low = max(low, condition.lts)
            if condition.lts == symbol and condition.gts.is_Rational:
                high = min(high, condition.gts)
    return low, high


def _holds(check: IntervalInequality, assumptions: tuple[Boolean, ...], budget: int = 8000) -> Outcome:
    if check.relation not in (Relation.AT_MOST, Relation.BELOW):
        raise UnsupportedError(f"the enclosure engine cannot decide the relation {check.relation} on a box")
    box = box_of(check)
    inside = tuple(a for a in assumptions if a.free_symbols <= box.keys())
    outside = [a for a in assumptions if a.free_symbols & box.keys() and not a.free_symbols <= box.keys()]
    whole = [s for s, (low, high) in box.items() if s.is_integer or low == high]
    real = tuple(s for s in box if s not in whole)
    some_point(tuple(box), (*inside, *inside_of(box)), 20_000)
    declared = tuple(condition for s in real for condition in conditions_of(s))
    edges: Edges = tuple(edge_of(_cut(s, box[s], inside)) for s in real)
    columns = [
        [sp.Integer(i) for i in range(int(sp.ceiling(box[s][0])), int(sp.floor(box[s][1])) + 1)]
        if s.is_integer
        else [box[s][0]]
        for s in whole
    ]
    columns = [[v for v in column if admits(s, v)] for s, column in zip(whole, columns, strict=True)]
    combinations = list(product(*columns))
    if len(combinations) > MAX_GRID:
        raise UnsupportedError(f"the box has {len(combinations)} integer points, at most {MAX_GRID} are tried")
    strict, looked, admissible = check.relation is Relation.BELOW, 0, 0
    undefined: str | None = None
    for values in combinations:
        fixed: Point = dict(zip(whole, values, strict=True))
        conditions = tuple(c.xreplace(fixed) for c in inside)
        closed = {c: truth_at(c, {}) for c in conditions if not c.free_symbols}
        if False in closed.values():
            continue
        admissible += 1
        left, right = (at(e, fixed) for e in (check.left, check.right))
        cut = (*(c for c in conditions if not closed.get(c)), *declared)
        asked = partial(prove, right - left, real, edges, cut, strict=strict, sides=(left, right))
        answer = asked(budget=min(FEW, budget))
        if not answer.held and answer.witness is None:
            undefined = _undefined(check, inside, box) if undefined is None else undefined
            answer = asked(budget=min(_LITTLE, budget) if undefined else budget)
        looked += answer.boxes
        if answer.witness is not None and outside:
            return undecided(check, f"fails at a point, but the box says nothing of {', '.join(map(str, outside))}")
        if answer.witness is not None:
            return refuted_at(check, {**fixed, **answer.witness})
        if not answer.held and not _by_z3(check, (*inside, *inside_of(box))):
            here = ", ".join(f"{s}={v}" for s, v in fixed.items())
            detail = f"{answer.stuck} {f'at {here} ' if here else ''}after {looked} boxes"
            return undecided(check, undefined or detail)
    undefined = _undefined(check, inside, box) if undefined is None else undefined
    if undefined:
        return undecided(check, undefined)
    detail = f"certified on {looked} boxes" + (f" for {admissible} integer points" if columns else "")
    seen = free_symbols(check.left, check.right)
    scope = scope_of(free_symbols(seen, connected(inside, seen)), box, assumptions)
    return held(check, Grade.CERTIFIED, detail, scope)


def _undefined(check: IntervalInequality, premises: Sequence[Boolean], box: Box) -> str:
    """The first part of the sides that is not shown to be defined on the box, in a sentence; "" where all are.

    Values are put into each part by itself: in a whole side, 0 (1/r) is 0, and (-1)^(3/2) has a name of its own.
    """
    fixed = {symbol: low for symbol, (low, high) in box.items() if low == high}
    shown = shown_on(box, prove)
    for need in dict.fromkeys(need for side in (check.left, check.right) for need in needs(side)):
        part, here = need.part.xreplace(fixed), (*premises, *need.given)
        if part == need.part:
            known = need.condition != sp.false and shown(here, need.condition)
        else:
            known = not (complex_valued(part) or part.has(sp.nan, sp.zoo)) and not unmet((part,), here, shown)
        if not known:
            asks = "" if need.condition == sp.false else f": it needs {in_words(need.condition)}"
            return f"{need.part} is not shown to be defined on the box{asks}"
    return ""


def _by_z3(check: IntervalInequality, premises: Sequence[Boolean]) -> bool:
    """Tell whether z3 shows what boxes do not: a relation that is attained inside, or across jumps."""
    relation = sp.Lt if check.relation is Relation.BELOW else sp.Le
    return entails(premises, relation(check.left, check.right, evaluate=False))


def _value(check: Value) -> Outcome:
    if check.digits is None:
        raise InputError(
            f"printed needs a decimal number, got printed={check.printed!r}; copy the digits of the paper."
        )
    if check.expression.free_symbols:
        raise InputError(
            f"Value needs an expression without free symbols, got expression={check.expression}; put the parameters in."
        )
    expression = written_out(check.expression)
    if not defined_at((check.expression, expression), {}):
        return undecided(check, f"{check.expression} is not shown to be defined")
    target, half = check.digits
    if expression.is_Rational and abs(expression - target) <= half:
        return held(check, Grade.CERTIFIED, f"the value is {expression}")
    for ball in enclosures(expression, {}):
        off, allowed = abs(ball - exact(target)), exact(half)
        if off <= allowed:
            return held(check, Grade.CERTIFIED, f"the value is {ball.str(20)}")
        if off > allowed:
            return refuted(check, Counterexample({}, ball.str(20), "==", check.printed, "value, printed"))
    return undecided(check, "the last digit could not be told at the highest precision")


def decide(check: IntervalInequality | Value, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `IntervalInequality` on its box, cut by the assumptions, or a `Value`.

    Raises:
        NoPointError: no point of the box satisfies the assumptions.
        UnsupportedError: the expression cannot be enclosed.
        InputError: the box or the printed number is not usable.
    """
    if isinstance(check, Value):
        return _value(check)
    return decide_unbounded(check, assumptions, _holds) if is_unbounded(check) else _holds(check, assumptions)


def near_misses(
    check: IntervalInequality | Value,
    assumptions: tuple[Boolean, ...],
    room: sp.Expr,  # noqa: ARG001
) -> tuple[Check, ...]:
    """The last digit printed one more and one less, or the right side less by more than the room."""
    if isinstance(check, Value):
        return _digits(check)
    return tuple(closest(check, assumptions)) if check.relation in (Relation.AT_MOST, Relation.BELOW) else ()


def _digits(check: Value) -> tuple[Check, ...]:
    """The last printed digit one more and one less."""
    printed = Decimal(check.printed)
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    return tuple(variant(check, f"printed {value}", printed=str(value)) for value in (printed - unit, printed + unit))
