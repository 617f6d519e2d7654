"""Branch and bound: is an expression nonnegative (or positive) on a box, cut by conditions?

Each box is tried by its natural enclosure, by the mean value form, and by monotonicity: where a partial
derivative keeps its sign, only one face of the box matters. A face of the first box on which the expression
vanishes identically is recognised exactly, by Sympy. What resists is split, up to a budget; whatever is left
then is undecided, never passed.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import starmap
from math import sqrt

import sympy as sp
from flint import arb, ctx, fmpq
from sympy.logic.boolalg import And, Boolean, Or

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import Interval
from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.proofs_checks.declared import admits_value
from lastiterate.proofs_checks.declared import conditions as declared
from lastiterate.proofs_checks.defined import defined_at, unmet
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, sign_at, to_fmpq, truth, truth_at, value_at

Edges = tuple[tuple[fmpq, fmpq], ...]
"""A box: exact (low, high) for each symbol."""


@dataclass
class BoxProblem:
    """A problem: the gap is to be nonnegative (positive if strict) on the root box, where the conditions hold.

    Attributes:
        gap: an expression in the symbols.
        strict: whether zero is a failure.
        symbols: one for each edge of the box.
        conditions: premises that may cut the box.
        root: the box.
        budget: most boxes to look at.
        boxes: boxes looked at so far.
        zero_tests: exact tests of a zero that are left; each may take long.
        sides: what must be defined at a point for the claim to fail there; the gap, where it is empty.
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
    """Answer of branch and bound.

    Attributes:
        held: shown on the whole admissible part of the box.
        witness: an admissible point where the claim certainly fails.
        boxes: number of boxes looked at.
        stuck: a box that could not be decided, for the reader.
    """

    held: bool
    witness: Point | None = None
    boxes: int = 0
    stuck: str = ""


def interval_of(edge: tuple[fmpq, fmpq]) -> Interval:
    """The edge at the working precision, rounded outwards."""
    low = arb(edge[0])
    return low.lower(), (low if edge[0] == edge[1] else arb(edge[1])).upper()


def rational(value: fmpq) -> sp.Rational:
    """The same number in Sympy."""
    return sp.Rational(int(value.p), int(value.q))


def edge_of(ends: tuple[sp.Rational, sp.Rational]) -> tuple[fmpq, fmpq]:
    """An interval of Sympy's rationals as an edge."""
    return to_fmpq(ends[0]), to_fmpq(ends[1])


def split_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """The middle, or near the geometric mean where the edge spans scales."""
    low, high = edge
    if low > 0 and high > 16 * low:
        middle = sp.Rational(sqrt(float(rational(low)) * float(rational(high)))).limit_denominator(10**6)
        if low < to_fmpq(middle) < high:
            return to_fmpq(middle)
    return (low + high) / 2


def short_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """A number with a short name near the middle, for a counterexample that reads well."""
    middle = rational(split_point(edge))
    for limit in (2, 10, 100, 1000):
        short = to_fmpq(middle.limit_denominator(limit))
        if edge[0] < short < edge[1]:
            return short
    return split_point(edge)


@lru_cache(maxsize=4096)
def tape_of(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Tape:
    """The compiled expression, kept for the next time."""
    return Tape(expression, symbols)


def status_on(condition: Boolean, symbols: tuple[sp.Symbol, ...], box: Sequence[Interval]) -> bool | None:
    """Tell whether a condition holds all over the box, nowhere in it, or neither is clear."""

    def on_box(relation: sp.Rel) -> bool | None:
        if isinstance(relation, sp.Eq | sp.Ne):
            low, high = tape_of(relation.lhs - relation.rhs, symbols).value(box)
            return isinstance(relation, sp.Ne) if low > 0 or high < 0 else None
        low, high = tape_of(relation.gts - relation.lts, symbols).value(box)
        if isinstance(relation, sp.Gt | sp.Lt):
            return True if low > 0 else False if high <= 0 else None
        return True if low >= 0 else False if high < 0 else None

    return truth(condition, on_box)


_CLOSE = (fmpq(1, 10), fmpq(1, 100), fmpq(1, 1000), fmpq(1, 10**5))
"""Distances from a corner, as shares of an edge."""


def witness_at(problem: BoxProblem, corner: Sequence[fmpq]) -> Point | None:
    """The point, if it is admissible and the claim certainly fails there."""
    low, high = tape_of(problem.gap, problem.symbols).value([interval_of((v, v)) for v in corner])
    if low > 0 or (low >= 0 and not problem.strict):
        return None
    if not high < 0:
        if problem.zero_tests == 0:
            return None
        problem.zero_tests -= 1
    point: Point = {s: rational(v) for s, v in zip(problem.symbols, corner, strict=True)}
    sign = sign_at(problem.gap, point)
    fails = sign is not None and (sign < 0 or (sign == 0 and problem.strict))
    if (
        not fails
        or not all(starmap(admits_value, point.items()))
        or not all(truth_at(c, point) for c in problem.conditions)
    ):
        return None
    return point if defined_at(problem.sides or (problem.gap,), point) else None


def _corners(problem: BoxProblem) -> Iterator[tuple[fmpq, ...]]:
    """Middle and some corners of the first box."""
    box = problem.root
    yield tuple(short_point(edge) for edge in box)
    for index in range(min(2 ** len(box), 32)):
        yield tuple(edge[(index >> k) & 1] for k, edge in enumerate(box))


def _first_failing(problem: BoxProblem, candidates: Iterable[tuple[fmpq, ...]]) -> BoxAnswer | None:
    """The first of the points at which the claim certainly fails."""
    found = next((point for one in candidates if (point := witness_at(problem, one)) is not None), None)
    return None if found is None else BoxAnswer(held=False, witness=found)


def _near_corners(problem: BoxProblem) -> Iterator[tuple[fmpq, ...]]:
    """Points on the edges of the first box, close to corners: where both sides vanish, the gap is small."""
    for corner in list(_corners(problem))[1:]:
        for index, (low, high) in enumerate(problem.root):
            step = (high - low) * (1 if corner[index] == low else -1)
            for share in _CLOSE:
                yield (*corner[:index], corner[index] + share * step, *corner[index + 1 :])


_SAMPLES = 256


def _samples(problem: BoxProblem) -> Iterator[tuple[fmpq, ...]]:
    """Random points of the first box, half of the coordinates denser towards the low end."""
    pick = random.Random(7)  # noqa: S311
    for _ in range(_SAMPLES):
        shares = [(fmpq(pick.randint(0, 64), 64), pick.choice((1, 3))) for _ in problem.root]
        yield tuple(low + (high - low) * u**power for (low, high), (u, power) in zip(problem.root, shares, strict=True))


Box = Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]]
"""Each symbol with its interval."""

_FEW_BALLS, _MANY_BALLS = 20, 1000
"""Boxes that balls may look at before z3 is asked, and after."""


def inside_of(box: Box) -> tuple[Boolean, ...]:
    """A box and the declared signs of its symbols as conditions."""
    ends = (c for s, (low, high) in box.items() for c in (sp.Ge(s, low), sp.Le(s, high)))
    return tuple(c for c in (*ends, *(c for s in box for c in declared(s))) if c != sp.true)


def shown_on(box: Box) -> Callable[[Sequence[Boolean], Boolean], bool]:
    """Tell whether a condition follows from premises on the box: by a few balls, by z3, and else by many balls."""
    real = tuple(s for s, (low, high) in box.items() if low != high)
    point = {s: low for s, (low, high) in box.items() if low == high}
    edges: Edges = tuple(edge_of(box[s]) for s in real)

    def positive(gap: sp.Expr, premises: Sequence[Boolean], budget: int, *, strict: bool) -> bool:
        gap = value_at(gap, point)
        known = tuple(p for p in (premise.xreplace(point) for premise in premises) if p.free_symbols <= set(real))
        return prove_on_box(gap, real, edges, known, strict=strict, budget=budget, ladder=0).held

    def by_balls(premises: Sequence[Boolean], condition: Boolean, budget: int) -> bool:
        if isinstance(condition, And | Or):
            combined = all if isinstance(condition, And) else any
            return combined(by_balls(premises, part, budget) for part in condition.args)
        try:
            if isinstance(condition, sp.Ne):
                gap = condition.lhs - condition.rhs
                return any(positive(side, premises, budget, strict=True) for side in (gap, -gap))
            if isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
                strict = isinstance(condition, sp.Gt | sp.Lt)
                return positive(condition.gts - condition.lts, premises, budget, strict=strict)
        except UnsupportedError:
            return False
        return False

    def shown(premises: Sequence[Boolean], condition: Boolean) -> bool:
        if by_balls(premises, condition, budget=_FEW_BALLS) or entails((*premises, *inside_of(box)), condition):
            return True
        if isinstance(condition, And | Or):
            return (all if isinstance(condition, And) else any)(shown(premises, part) for part in condition.args)
        return by_balls(premises, condition, budget=_MANY_BALLS)

    return shown


@lru_cache(maxsize=2048)
def _on_face(gap: sp.Expr, fixed: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> sp.Expr:
    """The gap with some symbols at an end of the first box, simplified so that an identical zero shows."""
    value = gap.xreplace(dict(fixed))
    if value.has(sp.zoo, sp.nan):
        return sp.nan
    shorter = sp.simplify(value) if value.count_ops() < 200 else value
    return sp.S.Zero if shorter == 0 else value


def _face_tape(problem: BoxProblem, edges: Edges) -> Tape | None:
    """The gap's tape; on a face of the first box, its own. None where the gap is zero there and may be."""
    fixed = tuple(
        (symbol, rational(edge[0]))
        for symbol, edge, first in zip(problem.symbols, edges, problem.root, strict=True)
        if edge[0] == edge[1] and edge[0] in first
    )
    if not fixed:
        return tape_of(problem.gap, problem.symbols)
    gap = _on_face(problem.gap, fixed)
    if gap is sp.nan:
        return tape_of(problem.gap, problem.symbols)
    if gap == 0 and not problem.strict:
        return None
    return tape_of(gap, problem.symbols)


def _reduced(problem: BoxProblem, ladder: int) -> BoxAnswer | None:
    """Show that one derivative keeps its sign on the whole box, and go on with the face where the gap is least.

    For a strict claim that face may carry the value zero where the conditions exclude it. Then the derivative
    must not be negative on the whole box, so that the gap grows from the face on, and must be positive wherever
    the conditions hold, so that it has grown when it arrives there.
    """
    if not _smooth(problem):
        return None
    for index, symbol in enumerate(problem.symbols):
        low, high = problem.root[index]
        if low == high:
            continue
        slope = sp.diff(problem.gap, symbol)
        for direction, end in ((1, low), (-1, high)):
            face = tuple((end, end) if k == index else edge for k, edge in enumerate(problem.root))
            gap = _on_face(problem.gap, ((symbol, rational(end)),))
            closed_zero = gap == 0 and not problem.strict
            open_zero = gap == 0 and problem.strict and _excluded(problem, face)
            if gap is sp.nan or (gap == 0 and not (closed_zero or open_zero)):
                continue
            signed, less = direction * slope, max(problem.budget // 16, 300)
            shown = prove_on_box(signed, problem.symbols, problem.root, budget=less, ladder=ladder - 1)
            if shown.held and open_zero:
                within = (problem.symbols, problem.root, problem.conditions)
                shown = prove_on_box(signed, *within, strict=True, budget=less, ladder=ladder - 1)
            if not shown.held:
                continue
            if closed_zero or open_zero:
                return BoxAnswer(held=True, boxes=problem.boxes + shown.boxes)
            rest = prove_on_box(
                gap, problem.symbols, face, strict=problem.strict, budget=problem.budget, ladder=ladder - 1
            )
            if rest.held:
                return rest
    return None


_SMOOTH = (
    sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.atan, sp.erf,
    sp.erfc, sp.tan, sp.acosh, sp.asin, sp.acos, sp.atanh, sp.loggamma,
)  # fmt: skip


def is_smooth(gap: sp.Expr) -> bool:
    """Tell whether a gap has a derivative wherever it is defined."""
    parts = sp.preorder_traversal(gap)
    return all(part.is_Symbol or part.is_number or isinstance(part, _SMOOTH) for part in parts)


def _smooth(problem: BoxProblem) -> bool:
    """Tell whether the gap is continuous on the whole first box, conditions aside, with a derivative that says all.

    A derivative says nothing across a pole or a jump.
    """
    if not is_smooth(problem.gap):
        return False
    box = {s: tuple(map(rational, edge)) for s, edge in zip(problem.symbols, problem.root, strict=True)}
    return not unmet((problem.gap,), (), shown_on(box))


def _excluded(problem: BoxProblem, face: Edges) -> bool:
    """Tell whether the conditions fail all over the face, and so cut the box along this coordinate."""
    box = [interval_of(edge) for edge in face]
    return False in [status_on(c, problem.symbols, box) for c in problem.conditions]


BITS = (64, 160)
"""Working precisions: of the first try and of the ladder, and of the last try."""

FEW = 20
"""Boxes looked at before points near corners are: most of what holds is shown on fewer, and no point shows it."""


def prove_on_box(
    gap: sp.Expr,
    symbols: Sequence[sp.Symbol],
    box: Edges,
    conditions: tuple[Boolean, ...] = (),
    *,
    strict: bool = False,
    budget: int = 8000,
    ladder: int | None = None,
    sides: tuple[sp.Expr, ...] = (),
) -> BoxAnswer:
    """Show ``gap >= 0`` (``> 0`` if strict) wherever on the box the conditions hold and the gap is defined.

    Args:
        gap: an expression in the symbols.
        symbols: one for each edge of the box.
        box: exact ends.
        conditions: premises that may cut the box; their symbols are among ``symbols``.
        strict: ask for a positive gap.
        budget: most boxes to look at in the last try; the first gets a quarter.
        ladder: how often a derivative may itself be shown to keep its sign; more often in fewer dimensions.
        sides: what must be defined where the claim is said to fail; the gap, where it is empty.

    Raises:
        UnsupportedError: the gap cannot be enclosed.
    """
    problem = BoxProblem(gap, strict, tuple(symbols), conditions, box, budget, sides=sides)
    ladder = max(2, 5 - len(box)) if ladder is None else ladder
    if (failed := _first_failing(problem, _corners(problem))) is not None:
        return failed
    before = ctx.prec
    try:
        ctx.prec = BITS[0]
        answer = _branch(replace(problem, budget=min(FEW, budget)))
        if answer.held or answer.witness is not None or budget <= FEW:
            return answer
        ctx.prec = before
        if (failed := _first_failing(problem, _near_corners(problem))) is not None:
            return failed
        ctx.prec = BITS[0]
        problem.budget = budget // 4 if ladder else budget
        answer = _branch(problem)
        if answer.held or answer.witness is not None or not ladder:
            return answer
        # Boxes go on being split where the gap touches 0, and never get to where it may be far below.
        if (failed := _first_failing(problem, _samples(problem))) is not None:
            return failed
        problem.budget = budget
        shorter = _reduced(problem, ladder)
        if shorter is not None:
            return shorter
        ctx.prec, problem.boxes = BITS[1], 0
        return _branch(problem)
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
    """The face on which the gap is least, as far as the signs of the slopes tell."""
    return tuple(
        (low, low) if slope[0] >= 0 else (high, high) if slope[1] <= 0 else (low, high)
        for (low, high), slope in zip(edges, slopes, strict=True)
    )


def _split(problem: BoxProblem, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]) -> list[Edges]:
    """Two halves, cut where the gap varies most, and at times where the box is widest; none for a point."""

    def variation(index: int) -> tuple[float, float]:
        low, high = edges[index]
        width = float(rational(high - low))
        slope = iv.absolute(slopes[index])[1]
        relative = width / (1 + abs(float(box[index][0])))
        if width == 0:
            return -1.0, 0.0
        even = problem.boxes % 3 == 0 or not all(iv.absolute(s)[1].is_finite() for s in slopes)
        return (relative if even else float(slope) * width), relative

    widest = max(range(len(edges)), key=variation, default=None)
    if widest is None or edges[widest][0] == edges[widest][1]:
        return []
    middle = split_point(edges[widest])
    halves = ((edges[widest][0], middle), (middle, edges[widest][1]))
    return [(*edges[:widest], half, *edges[widest + 1 :]) for half in reversed(halves)]


def _describe(problem: BoxProblem, edges: Edges) -> str:
    ends = ", ".join(
        f"{symbol} in [{float(rational(low)):.6g}, {float(rational(high)):.6g}]"
        for symbol, (low, high) in zip(problem.symbols, edges, strict=True)
    )
    return f"undecided near {ends}"
