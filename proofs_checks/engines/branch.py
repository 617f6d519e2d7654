"""Branch and bound: prove that an expression is nonnegative (or positive) on a box cut by conditions.

Each box is tried with its natural enclosure, the mean value form, and monotonicity: if a partial derivative
keeps its sign, only one face matters. On a face of the root box, Sympy may show exactly that the expression
vanishes identically. Undecided boxes are split.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
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
from lastiterate.proofs_checks.defined import defined_at
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, rational, sign_at, to_fmpq, truth, truth_at, value_at

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
    return tuple(c for c in (*ends, *(c for s in box for c in declared(s))) if c != sp.true)


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
