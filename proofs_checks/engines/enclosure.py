"""Transcendental inequalities on a box and printed values, by ball arithmetic.

If boxes leave an inequality undecided, the sign of a derivative may decide it.

Lemma 1. The map x = low - 1 + 1/t takes 0 < t <= 1 onto low <= x < oo, and x = high + 1 - 1/t takes these t
onto x <= high. The real line is the union of two such ranges. A relation holds for all x if it holds for all
t. Near t = 0, balls enclose the range of each operation over an interval [X, oo], and no slope is taken.

Lemma 2. A gap that is defined on low <= x <= high (or low <= x < oo), with a derivative that is nowhere
negative on this range, is least at x = low. If both facts are shown on the whole box without the conditions,
only the face x = low remains to be decided. A sign shown only at whole numbers, or only away from 0, says
nothing about the other points.

Branch and bound shows that a gap is nonnegative (or positive) on a box cut by conditions. Each box is tried with
its natural enclosure, the mean value form, and monotonicity: if a partial derivative keeps its sign, only one
face matters. On a face of the root box, Sympy may show exactly that the gap vanishes identically. Undecided
boxes are split.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import product, starmap
from math import sqrt
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq
from sympy.logic.boolalg import And, Boolean, Or

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import Interval
from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits_value, allows_interval
from lastiterate.proofs_checks.declared import conditions as conditions_of
from lastiterate.proofs_checks.defined import defined_at, in_words, needs, unmet
from lastiterate.proofs_checks.engines.answers import closest, held, refuted, refuted_at, undecided, variant
from lastiterate.proofs_checks.engines.inequality import fails
from lastiterate.proofs_checks.engines.z3_answers import entails, require_possible
from lastiterate.proofs_checks.exact_values import (
    Point,
    enclosures,
    rational,
    sign_at,
    to_fmpq,
    truth,
    truth_at,
    value_at,
    written_out,
)
from lastiterate.proofs_checks.feasible_points import connected, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.checks import Check, IntervalInequality, Relation, Sign, Value
from lastiterate.symbolic.kernel.profiles import new_letter

Edges = tuple[tuple[fmpq, fmpq], ...]
"""Box with exact ends (low, high) for each symbol."""


@dataclass
class BoxProblem:
    """Problem: the gap must be nonnegative (positive if strict) on the root box wherever the conditions hold.

    Attributes:
        boxes: number of boxes examined so far, at most ``budget``.
        zero_tests: number of exact zero tests left, each of which may take a long time.
        sides: expressions that must be defined at a point where the claim fails; if empty, the gap.
    """

    gap: sp.Expr
    strict: bool
    symbols: tuple[sp.Symbol, ...]
    conditions: tuple[Boolean, ...]
    root: Edges
    budget: int
    boxes: int = 0
    zero_tests: int = 12
    sides: tuple[sp.Expr, ...] = ()


@dataclass
class BoxAnswer:
    """Answer: ``witness`` is a point where the claim fails; ``stuck`` describes an undecided box."""

    held: bool
    witness: Point | None = None
    boxes: int = 0
    stuck: str = ""


def interval_of(edge: tuple[fmpq, fmpq]) -> Interval:
    """Enclose an edge at the working precision, rounded outwards."""
    low = arb(edge[0])
    return low.lower(), (low if edge[0] == edge[1] else arb(edge[1])).upper()


def edge_of(ends: tuple[sp.Rational, sp.Rational]) -> tuple[fmpq, fmpq]:
    """Convert an interval of Sympy rationals to an edge."""
    return to_fmpq(ends[0]), to_fmpq(ends[1])


def split_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """Midpoint of an edge, or a point near its geometric mean if the edge spans several scales."""
    low, high = edge
    if low > 0 and high > 16 * low:
        middle = sp.Rational(sqrt(float(rational(low)) * float(rational(high)))).limit_denominator(10**6)
        if low < to_fmpq(middle) < high:
            return to_fmpq(middle)
    return (low + high) / 2


def short_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """Number near the middle of an edge, with a small denominator for readability."""
    middle = split_point(edge)
    shorter = (to_fmpq(rational(middle).limit_denominator(limit)) for limit in (2, 10, 100, 1000))
    return next((short for short in shorter if edge[0] < short < edge[1]), middle)


@lru_cache(maxsize=4096)
def _tape_of(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Tape:
    return Tape(expression, symbols)


def status_on(condition: Boolean, symbols: tuple[sp.Symbol, ...], box: Sequence[Interval]) -> bool | None:
    """Tell whether a condition holds on the whole box (True) or nowhere on it (False); None if unclear."""

    def on_box(relation: sp.Rel) -> bool | None:
        equation = isinstance(relation, sp.Eq | sp.Ne)
        gap = relation.lhs - relation.rhs if equation else relation.gts - relation.lts
        low, high = _tape_of(gap, symbols).value(box)
        if equation:
            return isinstance(relation, sp.Ne) if low > 0 or high < 0 else None
        if isinstance(relation, sp.Gt | sp.Lt):
            return True if low > 0 else False if high <= 0 else None
        return True if low >= 0 else False if high < 0 else None

    return truth(condition, on_box)


def witness_at(problem: BoxProblem, corner: Sequence[fmpq]) -> Point | None:
    """Corner as a point if it is admissible and the claim certainly fails at it; else None."""
    low, high = _tape_of(problem.gap, problem.symbols).value([interval_of((v, v)) for v in corner])
    if low > 0 or (low >= 0 and not problem.strict):
        return None
    if not high < 0:
        if problem.zero_tests == 0:
            return None
        problem.zero_tests -= 1
    point: Point = {s: rational(v) for s, v in zip(problem.symbols, corner, strict=True)}
    sign = sign_at(problem.gap, point)
    fails = sign is not None and (sign < 0 or (sign == 0 and problem.strict))
    admissible = all(starmap(admits_value, point.items())) and all(
        truth_at(c, point) for c in problem.conditions
    )
    return point if fails and admissible and defined_at(problem.sides or (problem.gap,), point) else None


def _corners(box: Edges) -> Iterator[tuple[fmpq, ...]]:
    yield tuple(short_point(edge) for edge in box)
    for index in range(min(2 ** len(box), 32)):
        yield tuple(edge[(index >> k) & 1] for k, edge in enumerate(box))


Box = Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]]
"""Interval of each symbol."""

_MOST_BALLS = 1000
"""Largest number of boxes for ball arithmetic if z3 has no answer."""


def inside_of(box: Box) -> tuple[Boolean, ...]:
    """Conditions for a point to lie in the box, and the declared signs of its symbols."""
    ends = (c for s, (low, high) in box.items() for c in (sp.Ge(s, low), sp.Le(s, high)))
    return tuple(c for c in (*ends, *(c for s in box for c in conditions_of(s))) if c != sp.true)


def shown_on(box: Box) -> Callable[[Sequence[Boolean], Boolean], bool]:
    """Function that tests, by z3 or ball arithmetic, whether premises imply a condition on the box."""
    real = tuple(s for s, (low, high) in box.items() if low != high)
    point = {s: low for s, (low, high) in box.items() if low == high}
    edges: Edges = tuple(edge_of(box[s]) for s in real)

    def shown(premises: Sequence[Boolean], condition: Boolean) -> bool:
        if entails((*premises, *inside_of(box)), condition):
            return True
        if isinstance(condition, And | Or):
            return (all if isinstance(condition, And) else any)(
                shown(premises, part) for part in condition.args
            )
        gaps: tuple[sp.Expr, ...] = ()
        if isinstance(condition, sp.Ne):
            gaps = (condition.lhs - condition.rhs, condition.rhs - condition.lhs)
        elif isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
            gaps = (condition.gts - condition.lts,)
        strict = not isinstance(condition, sp.Ge | sp.Le)
        known = tuple(
            p for p in (premise.xreplace(point) for premise in premises) if p.free_symbols <= set(real)
        )
        prove = partial(
            prove_on_box, symbols=real, box=edges, conditions=known, strict=strict, budget=_MOST_BALLS
        )
        try:
            return any(prove(value_at(gap, point)).held for gap in gaps)
        except UnsupportedError:
            return False

    return shown


@lru_cache(maxsize=2048)
def _on_face(gap: sp.Expr, fixed: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> sp.Expr:
    """Substitute ends of the root box into the gap; return 0 if the result simplifies to 0."""
    value = gap.xreplace(dict(fixed))
    if value.has(sp.zoo, sp.nan):
        return gap
    return sp.S.Zero if value.count_ops() < 200 and sp.simplify(value) == 0 else value


def _face_tape(problem: BoxProblem, edges: Edges) -> Tape | None:
    """Tape of the gap on the root box's faces around a box; None if the gap is 0 on them and is allowed to be 0."""
    fixed = tuple(
        (symbol, rational(edge[0]))
        for symbol, edge, first in zip(problem.symbols, edges, problem.root, strict=True)
        if edge[0] == edge[1] and edge[0] in first
    )
    gap = _on_face(problem.gap, fixed) if fixed else problem.gap
    return None if fixed and gap == 0 and not problem.strict else _tape_of(gap, problem.symbols)


BITS = (64, 160)
"""Working precisions of the two attempts."""


def prove_on_box(
    gap: sp.Expr,
    symbols: Sequence[sp.Symbol],
    box: Edges,
    conditions: tuple[Boolean, ...] = (),
    *,
    strict: bool = False,
    budget: int = 8000,
    sides: tuple[sp.Expr, ...] = (),
) -> BoxAnswer:
    """Show ``gap >= 0`` (``> 0`` if strict) on the box, if the conditions hold and the gap is defined.

    The conditions contain only ``symbols``, one for each edge, and may cut the box. ``budget`` is the largest
    number of boxes in each of two attempts; ``sides`` is as in `BoxProblem`. Raises UnsupportedError if the
    gap cannot be enclosed.
    """
    problem = BoxProblem(gap, strict, tuple(symbols), conditions, box, budget, sides=sides)
    for corner in _corners(box):
        if (point := witness_at(problem, corner)) is not None:
            return BoxAnswer(held=False, witness=point)
    before = ctx.prec
    try:
        for bits in BITS:
            ctx.prec, problem.boxes = bits, 0
            answer = _branch(problem)
            if answer.held or answer.witness is not None:
                break
        return answer
    finally:
        ctx.prec = before


def _branch(problem: BoxProblem) -> BoxAnswer:
    stack: list[Edges] = [problem.root]
    while stack:
        edges = stack.pop()
        problem.boxes += 1
        if problem.boxes > problem.budget:
            return BoxAnswer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        box = [interval_of(edge) for edge in edges]
        states = [status_on(c, problem.symbols, box) for c in problem.conditions]
        if False in states:
            continue
        tape = _face_tape(problem, edges)
        if tape is None or _positive(problem, tape.value(box)):
            continue
        point = witness_at(problem, tuple(split_point(edge) for edge in edges))
        if point is not None:
            return BoxAnswer(held=False, witness=point, boxes=problem.boxes)
        _, slopes = tape.gradient(box)
        if _positive(problem, _mean_value(tape, edges, box, slopes)):
            continue
        face = _monotone(edges, slopes)
        if face != edges:
            if all(states):
                stack.append(face)
                continue
            on_face = _face_tape(problem, face)
            if on_face is None or _positive(problem, on_face.value([interval_of(edge) for edge in face])):
                continue
        parts = _split(problem, edges, box, slopes)
        if not parts:
            return BoxAnswer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        stack += parts
    return BoxAnswer(held=True, boxes=problem.boxes)


def _positive(problem: BoxProblem, value: Interval) -> bool:
    return bool(value[0] > 0 or (value[0] >= 0 and not problem.strict))


def _mean_value(tape: Tape, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]) -> Interval:
    centre = [interval_of(((low + high) / 2,) * 2) for low, high in edges]
    total = tape.value(centre)
    for part, middle, slope in zip(box, centre, slopes, strict=True):
        total = iv.add(total, iv.multiply(slope, iv.add(part, iv.negative(middle))))
    return total


def _monotone(edges: Edges, slopes: Sequence[Interval]) -> Edges:
    """Face of the box on which the gap is least, as far as the signs of the slopes are known."""
    return tuple(
        (low, low) if slope[0] >= 0 else (high, high) if slope[1] <= 0 else (low, high)
        for (low, high), slope in zip(edges, slopes, strict=True)
    )


def _split(
    problem: BoxProblem, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]
) -> list[Edges]:
    """Halves of a box, split on the edge of largest variation or, at times, on the widest edge; [] if no edge is split.

    An edge too narrow to decide anything is not split; otherwise, a zero of the gap would use up the budget.
    """
    steep = [iv.absolute(slope)[1] for slope in slopes]
    even = problem.boxes % 3 == 0 or not all(slope.is_finite() for slope in steep)

    def variation(index: int) -> tuple[float, float]:
        width = float(rational(edges[index][1] - edges[index][0]))
        relative = width / (1 + abs(float(box[index][0])))
        return (relative if even else float(steep[index]) * width), relative

    wide = [
        index
        for index, (edge, whole) in enumerate(zip(edges, problem.root, strict=True))
        if (edge[1] - edge[0]) * 4**ctx.prec > min(whole[1] - whole[0], fmpq(1))
    ]
    if not wide:
        return []
    widest = max(wide, key=variation)
    middle = split_point(edges[widest])
    halves = ((edges[widest][0], middle), (middle, edges[widest][1]))
    return [(*edges[:widest], half, *edges[widest + 1 :]) for half in reversed(halves)]


def _describe(problem: BoxProblem, edges: Edges) -> str:
    ends = ", ".join(
        f"{symbol} in [{float(rational(low)):.6g}, {float(rational(high)):.6g}]"
        for symbol, (low, high) in zip(problem.symbols, edges, strict=True)
    )
    return f"undecided near {ends}"


_LITTLE = 200
"""Budget of boxes if the sides are not shown to be defined, so that a check can only be refuted."""

MAX_GRID = 4000
"""Largest number of points that the integer symbols may take together."""


def _box_of(check: IntervalInequality) -> dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]:
    """Box with rational ends for all free symbols; InputError if unordered or outside declarations."""
    box: dict[sp.Symbol, tuple[sp.Rational, sp.Rational]] = {}
    for symbol, ends in check.box.items():
        low, high = (
            sp.nsimplify(end) if isinstance(end, float) else sp.sympify(end, strict=True) for end in ends
        )
        if not (low.is_Rational and high.is_Rational) or low > high:
            raise InputError(
                f"box needs rational ends low <= high, got {symbol}=({low}, {high}); write Rational numbers."
            )
        if not allows_interval(symbol, low, high):
            raise InputError(
                f"box needs intervals that the declarations of their symbols allow, got {symbol}=({low}, {high}) for "
                f"a symbol with {' and '.join(map(str, conditions_of(symbol)))}; shorten the interval."
            )
        box[symbol] = (low, high)
    for symbol in free_symbols(check.left, check.right):
        if symbol not in box:
            raise InputError(f"box needs an interval for every symbol, got none for symbol={symbol}; add one.")
    return box


def _scope(check: IntervalInequality, assumptions: tuple[Boolean, ...]) -> str:
    """Intervals narrower than the assumptions and declarations allow, as text; "" if there are none."""
    inside = [one for one in assumptions if one.free_symbols <= check.box.keys()]
    seen = free_symbols(check.left, check.right)
    unbounded = any(end in (sp.oo, -sp.oo) for ends in check.box.values() for end in ends)
    used, found = free_symbols(seen, connected(inside, seen)), list[str]()
    for symbol, (low, high) in check.box.items():
        ends = [one for one in (sp.Ge(symbol, low), sp.Le(symbol, high)) if not entails(assumptions, one)]
        if symbol in used and unbounded:
            found += map(str, ends)
        elif symbol in used and ends:
            found.append(f"{symbol} = {low}" if low == high else f"{low} <= {symbol} <= {high}")
    return ", ".join(found)


def _holds(check: IntervalInequality, assumptions: tuple[Boolean, ...], budget: int) -> Outcome:
    box = _box_of(check)
    inside = tuple(a for a in assumptions if a.free_symbols <= box.keys())
    outside = [a for a in assumptions if a.free_symbols & box.keys() and not a.free_symbols <= box.keys()]
    whole = [s for s, (low, high) in box.items() if s.is_integer or low == high]
    real = tuple(s for s in box if s not in whole)
    require_possible((*inside, *inside_of(box)))
    declared = tuple(condition for s in real for condition in conditions_of(s))
    edges: Edges = tuple(edge_of(box[s]) for s in real)
    columns = [
        [sp.Integer(i) for i in range(int(sp.ceiling(box[s][0])), int(sp.floor(box[s][1])) + 1)]
        if s.is_integer
        else [box[s][0]]
        for s in whole
    ]
    columns = [[v for v in column if admits_value(s, v)] for s, column in zip(whole, columns, strict=True)]
    combinations = list(product(*columns))
    if len(combinations) > MAX_GRID:
        raise UnsupportedError(
            f"the box has {len(combinations)} integer points, but at most {MAX_GRID} are tried"
        )
    strict, looked, admissible = check.relation is Relation.BELOW, 0, 0
    undefined = _undefined(check, inside, box)
    most = min(_LITTLE, budget) if undefined else budget
    for values in combinations:
        fixed: Point = dict(zip(whole, values, strict=True))
        conditions = tuple(c.xreplace(fixed) for c in inside)
        closed = {c: truth_at(c, {}) for c in conditions if not c.free_symbols}
        if False in closed.values():
            continue
        admissible += 1
        left, right = (value_at(e, fixed) for e in (check.left, check.right))
        cut = (*(c for c in conditions if not closed.get(c)), *declared)
        answer = prove_on_box(right - left, real, edges, cut, strict=strict, budget=most, sides=(left, right))
        looked += answer.boxes
        if answer.witness is not None and outside:
            return undecided(
                check, f"fails at a point, but the box leaves open whether {', '.join(map(str, outside))}"
            )
        if answer.witness is not None:
            return refuted_at(check, {**fixed, **answer.witness})
        if not answer.held and not entails((*inside, *inside_of(box)), check.formula):
            here = ", ".join(f"{s}={v}" for s, v in fixed.items())
            detail = f"{answer.stuck} {f'at {here} ' if here else ''}after {looked} boxes"
            return undecided(check, undefined or detail)
    if undefined:
        return undecided(check, undefined)
    detail = f"certified on {looked} boxes" + (f" for {admissible} integer points" if columns else "")
    return held(check, Grade.CERTIFIED, detail)


def _undefined(check: IntervalInequality, premises: Sequence[Boolean], box: Box) -> str:
    """Sentence about the first part of the sides not shown to be defined on the box; "" if there is none.

    Parts are evaluated separately, because in a whole side Sympy turns 0 (1/r) into 0 and (-1)^(3/2) into -I.
    """
    fixed = {symbol: low for symbol, (low, high) in box.items() if low == high}
    shown = shown_on(box)
    for need in dict.fromkeys(need for side in (check.left, check.right) for need in needs(side)):
        part, here = need.part.xreplace(fixed), (*premises, *need.given)
        if part == need.part:
            known = need.condition != sp.false and shown(here, need.condition)
        else:
            known = not unmet((part,), here, shown)
        if not known:
            asks = "" if need.condition == sp.false else f": it needs {in_words(need.condition)}"
            return f"{need.part} is not shown to be defined on the box{asks}"
    return ""


def _value(check: Value) -> Outcome:
    if check.digits is None:
        raise InputError(
            f"printed needs a decimal number, got printed={check.printed!r}; copy the digits of the paper."
        )
    if check.expression.free_symbols:
        raise InputError(
            f"Value needs an expression without free symbols, got expression={check.expression}; substitute numbers."
        )
    expression = written_out(check.expression)
    if not defined_at((check.expression, expression), {}):
        return undecided(check, f"{check.expression} is not shown to be defined")
    target, half = check.digits
    if expression.is_Rational and abs(expression - target) <= half:
        return held(check, Grade.CERTIFIED, f"the value is {expression}")
    for ball in enclosures(expression, {}):
        off, allowed = abs(ball - to_fmpq(target)), to_fmpq(half)
        if off <= allowed:
            return held(check, Grade.CERTIFIED, f"the value is {ball.str(20)}")
        if off > allowed:
            return refuted(check, Counterexample({}, ball.str(20), "==", check.printed, "value, printed"))
    return undecided(check, "the last digit cannot be decided at the highest precision")


def decide(check: IntervalInequality | Value, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `IntervalInequality` or a `Value`."""
    if isinstance(check, Value):
        return _value(check)
    if check.relation not in (Relation.AT_MOST, Relation.BELOW):
        raise UnsupportedError(f"the enclosure engine cannot decide the relation {check.relation} on a box")
    for symbol, (low, high) in check.box.items():
        if low is sp.oo or high is -sp.oo:
            raise InputError(f"box needs ends low <= high, got {symbol}=({low}, {high}); swap them.")
    outcomes = [_on_range(part, assumptions, _LADDER) for part in _halves(check)]
    failed = next((one for one in outcomes if one.status is not Status.HELD), None)
    detail = "; ".join(dict.fromkeys(one.detail for one in outcomes))
    return failed or held(check, Grade.CERTIFIED, detail, _scope(check, assumptions))


def near_misses(
    check: IntervalInequality | Value,
    assumptions: tuple[Boolean, ...],
    room: sp.Expr,  # noqa: ARG001
) -> tuple[Check, ...]:
    """Last printed digit changed by 1, or the right side reduced by more than its room."""
    if isinstance(check, Value):
        printed = Decimal(check.printed)
        unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
        return tuple(
            variant(check, f"printed {one}", printed=str(one)) for one in (printed - unit, printed + unit)
        )
    return tuple(closest(check, assumptions)) if check.relation in (Relation.AT_MOST, Relation.BELOW) else ()


_FAR, _NEAR = 400, 8000
"""Budgets of boxes for a range with an infinite end (more boxes rarely help) and for a finite range."""

_LADDER = 3
"""Largest depth of nested derivatives whose signs are shown."""

_SMOOTH = (
    sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.atan, sp.erf,
    sp.erfc, sp.tan, sp.acosh, sp.asin, sp.acos, sp.atanh, sp.loggamma,
)  # fmt: skip
"""Functions with a derivative inside their domains."""


def _halves(check: IntervalInequality) -> Iterator[IntervalInequality]:
    for symbol, ends in check.box.items():
        if ends == (-sp.oo, sp.oo):
            for half in ((-sp.oo, sp.S.Zero), (sp.S.Zero, sp.oo)):
                yield from _halves(replace(check, box={**check.box, symbol: half}))
            return
    yield check


def _on_range(check: IntervalInequality, assumptions: tuple[Boolean, ...], ladder: int) -> Outcome:
    finite, values = _finite(check, assumptions)
    known = assumptions
    if values:
        known = (*assumptions, *(c for s in check.box for c in conditions_of(s)))
        known = tuple(c for c in (one.xreplace(values) for one in known) if c != sp.true)
        if sp.false in known:
            return undecided(check, "no point of the range meets the assumptions")
    outcome = _holds(finite, known, _FAR if values else _NEAR)
    if outcome.status is Status.HELD:
        return replace(outcome, detail=f"{outcome.detail}, with 1/t at infinite ends") if values else outcome
    if outcome.status is Status.REFUTED:
        return _refuted(check, assumptions, values, outcome.counterexample) if values else outcome
    box = {s: (sp.Rational(low), sp.Rational(high)) for s, (low, high) in finite.box.items()}
    whole = not unmet((finite.left, finite.right), (), shown_on(box))  # as Lemma 2 requires
    if whole and (found := _by_slope(check, assumptions, ladder)):
        return held(check, Grade.CERTIFIED, found)
    return outcome


def _refuted(
    check: IntervalInequality,
    assumptions: tuple[Boolean, ...],
    values: Mapping[sp.Symbol, sp.Expr],
    found: Counterexample | None,
) -> Outcome:
    """Refutation at the point of the original box that corresponds to values of the letters t."""
    at = {name: sp.Rational(number) for name, number in (found.at if found else {}).items()}
    numbers = {
        s: at[str(s)] for one in (*values.values(), *check.box) for s in one.free_symbols if str(s) in at
    }
    point: Point = {s: values.get(s, s).xreplace(numbers) for s in check.box}
    premises = tuple(one for one in assumptions if one.free_symbols <= point.keys())
    return (
        refuted_at(check, point)
        if fails(check, premises, point)
        else undecided(check, "fails only between the admissible points")
    )


def _finite(
    check: IntervalInequality, assumptions: tuple[Boolean, ...]
) -> tuple[IntervalInequality, dict[sp.Symbol, sp.Expr]]:
    """Check with a new letter t for each symbol with an infinite end, and these symbols in terms of t."""
    values: dict[sp.Symbol, sp.Expr] = {}
    box: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = {}
    for symbol, (low, high) in check.box.items():
        if sp.oo in (low, high) or -sp.oo in (low, high):
            said = (check.left, check.right, *check.box, *box, *assumptions)
            t = new_letter(sp.Symbol(f"t_{symbol}", positive=True), *said)
            values[symbol] = low - 1 + 1 / t if high is sp.oo else high + 1 - 1 / t
            box[t] = (sp.S.Zero, sp.S.One)
        else:
            box[symbol] = (low, high)
    left, right = (side.xreplace(values) for side in (check.left, check.right))
    return replace(check, left=left, right=right, box=box, mutants=()), values


def _by_slope(check: IntervalInequality, assumptions: tuple[Boolean, ...], ladder: int) -> str:
    """Sentence that says how Lemma 2 shows the relation; "" if no symbol allows it."""
    gap = check.right - check.left
    if not ladder or not all(
        part.is_Symbol or part.is_number or isinstance(part, _SMOOTH) for part in sp.preorder_traversal(gap)
    ):
        return ""

    def shown(
        left: sp.Expr, right: sp.Expr, sign: Sign, given: tuple[Boolean, ...], box: dict[sp.Symbol, Any]
    ) -> bool:
        part = replace(check, left=left, right=right, box=box, sign=sign, mutants=())
        try:
            return _on_range(part, given, ladder - 1).status is Status.HELD
        except UnsupportedError:
            return False

    for symbol, (low, high) in check.box.items():
        rest = {s: ends for s, ends in check.box.items() if s != symbol}
        elsewhere = tuple(one for one in assumptions if symbol not in one.free_symbols)
        ends = {direction: end for direction, end in ((1, low), (-1, high)) if end not in (sp.oo, -sp.oo)}
        holes = (
            symbol.is_algebraic
            or symbol.is_noninteger
            or any(isinstance(c, sp.Ne) for c in conditions_of(symbol))
        )
        if low == high or (holes and len(ends) == 2):  # the new letter of an infinite range is any real number
            continue
        for direction, end in ends.items():
            slope = sp.factor_terms(sp.diff(gap, symbol) * direction)
            left, right = (
                side.xreplace({symbol: sp.sympify(end, strict=True)}) for side in (check.left, check.right)
            )
            if shown(sp.S.Zero, slope, "<=", (), dict(check.box)) and shown(
                left, right, check.sign, elsewhere, rest
            ):
                return f"the slope keeps its sign from {symbol} = {end} on"
    return ""
