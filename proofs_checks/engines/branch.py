"""Branch and bound: is an expression nonnegative (or positive) on a box, cut by conditions?

Each box is tried by its natural enclosure, by the mean value form, and by monotonicity: where a partial
derivative keeps its sign, only one face of the box matters. A face of the first box on which the expression
vanishes identically is recognised exactly, by Sympy. What resists is split, up to a budget; whatever is left
then is undecided, never passed.
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, isnan, sqrt

import sympy as sp
from flint import arb, ctx, fmpq
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.numeric import interval as iv
from lastiterate.numeric.enclose import Tape
from lastiterate.numeric.interval import Interval
from lastiterate.proofs_checks.admissible import Point, sign_at, truth_at
from lastiterate.symbolic.sampled_gaussian import SampledDown, SampledUp

__all__ = ["Answer", "Edges", "prove"]

Edges = tuple[tuple[fmpq, fmpq], ...]
"""A box: exact (low, high) for each symbol."""

SAMPLES = 64
"""Points of the first box tried before it is split."""

BITS = (64, 160)
"""Working precisions: of the first try and of the ladder, and of the last try."""


@dataclass
class Answer:
    """What branch and bound found.

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


@dataclass
class _Problem:
    gap: sp.Expr
    strict: bool
    symbols: tuple[sp.Symbol, ...]
    conditions: tuple[Boolean, ...]
    root: Edges
    budget: int
    boxes: int = 0
    zero_tests: int = 12
    generator: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311


def prove(
    gap: sp.Expr,
    symbols: Sequence[sp.Symbol],
    box: Edges,
    conditions: tuple[Boolean, ...] = (),
    *,
    strict: bool = False,
    budget: int = 8000,
    ladder: int | None = None,
) -> Answer:
    """Show ``gap >= 0`` (``> 0`` if strict) at every point of the box where the conditions hold.

    Args:
        gap: an expression in the symbols.
        symbols: one for each edge of the box.
        box: exact ends.
        conditions: premises that may cut the box; their symbols are among ``symbols``.
        strict: ask for a positive gap.
        budget: most boxes to look at in the last try; the first gets a quarter.
        ladder: how often a derivative may itself be shown to keep its sign; more often in fewer dimensions.

    Raises:
        UnsupportedError: the gap cannot be enclosed.
    """
    problem = _Problem(gap, strict, tuple(symbols), conditions, box, budget)
    ladder = max(2, 5 - len(box)) if ladder is None else ladder
    witness = _search(problem)
    if witness is not None:
        return Answer(held=False, witness=witness)
    before = ctx.prec
    try:
        ctx.prec = BITS[0]
        problem.budget = budget // 4 if ladder else budget
        answer = _branch(problem)
        if answer.held or answer.witness is not None or not ladder:
            return answer
        problem.budget = budget
        reduced = _reduce(problem, ladder)
        if reduced is not None:
            return reduced
        ctx.prec, problem.boxes = BITS[1], 0
        return _branch(problem)
    finally:
        ctx.prec = before


def _interval(edge: tuple[fmpq, fmpq]) -> Interval:
    low = arb(edge[0])
    return low.lower(), (low if edge[0] == edge[1] else arb(edge[1])).upper()


def _rational(value: fmpq) -> sp.Rational:
    return sp.Rational(int(value.p), int(value.q))


def _split_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """The middle, or near the geometric mean where the edge spans scales."""
    low, high = edge
    if low > 0 and high > 16 * low:
        middle = sp.Rational(sqrt(float(_rational(low)) * float(_rational(high)))).limit_denominator(10**6)
        exact = fmpq(int(middle.p), int(middle.q))
        if low < exact < high:
            return exact
    return (low + high) / 2


def _short_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """A number with a short name near the middle, for a counterexample that reads well."""
    middle = _rational(_split_point(edge))
    for limit in (2, 10, 100, 1000):
        short = middle.limit_denominator(limit)
        exact = fmpq(int(short.p), int(short.q))
        if edge[0] < exact < edge[1]:
            return exact
    return _split_point(edge)


@lru_cache(maxsize=4096)
def _tape(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Tape:
    return Tape(expression, symbols)


@lru_cache(maxsize=2048)
def _on_face(gap: sp.Expr, fixed: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> sp.Expr:
    """The gap with some symbols at an end of the first box, simplified so that an identical zero shows."""
    value = gap.xreplace(dict(fixed))
    if value.has(sp.zoo, sp.nan):
        return sp.nan
    shorter = sp.simplify(value) if value.count_ops() < 200 else value
    return sp.S.Zero if shorter == 0 else value


def _status(condition: Boolean, symbols: tuple[sp.Symbol, ...], box: Sequence[Interval]) -> bool | None:
    """Whether a condition holds all over the box, nowhere in it, or neither is clear."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, And | Or):
        parts = [_status(part, symbols, box) for part in condition.args]
        decisive = isinstance(condition, Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(condition, Not):
        inner = _status(condition.args[0], symbols, box)
        return None if inner is None else not inner
    if not isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
        return None
    low, high = _tape(condition.gts - condition.lts, symbols).value(box)
    if isinstance(condition, sp.Gt | sp.Lt):
        return True if low > 0 else False if high <= 0 else None
    return True if low >= 0 else False if high < 0 else None


def _breaks(problem: _Problem, corner: Sequence[fmpq]) -> Point | None:
    """The point, if it is admissible and the claim certainly fails there."""
    low, high = _tape(problem.gap, problem.symbols).value([_interval((v, v)) for v in corner])
    if low > 0 or (low >= 0 and not problem.strict):
        return None
    if not high < 0:
        if problem.zero_tests == 0:
            return None
        problem.zero_tests -= 1
    point: Point = {s: _rational(v) for s, v in zip(problem.symbols, corner, strict=True)}
    sign = sign_at(problem.gap, point)
    fails = sign is not None and (sign < 0 or (sign == 0 and problem.strict))
    return point if fails and all(truth_at(c, point) for c in problem.conditions) else None


def _candidates(problem: _Problem) -> Iterator[tuple[fmpq, ...]]:
    """Middle, some corners, and random points of the first box."""
    box, pick = problem.root, problem.generator
    yield tuple(_short_point(edge) for edge in box)
    for index in range(min(2 ** len(box), 32)):
        yield tuple(edge[(index >> k) & 1] for k, edge in enumerate(box))
    for _ in range(SAMPLES):
        yield tuple(_share(edge, fmpq(pick.randint(0, 64), 64), even=pick.random() < 0.5) for edge in box)


def _share(edge: tuple[fmpq, fmpq], share: fmpq, *, even: bool) -> fmpq:
    """A point of the edge, evenly spread or denser towards its low end."""
    return edge[0] + (edge[1] - edge[0]) * (share if even else share**3)


def _search(problem: _Problem) -> Point | None:
    """A failing point among the candidates, or by descent along the axes from the lowest of them."""
    lowest: tuple[float, tuple[fmpq, ...]] = (inf, ())
    for corner in _candidates(problem):
        point = _breaks(problem, corner)
        if point is not None:
            return point
        lowest = min(lowest, (_height(problem, corner), corner))
    share = fmpq(1, 8)
    while lowest[1] and share > fmpq(1, 2000):
        height, corner = lowest
        for index, (low, high) in enumerate(problem.root):
            for step in (share, -share):
                moved = min(max(corner[index] + step * (high - low), low), high)
                near = (*corner[:index], moved, *corner[index + 1 :])
                point = _breaks(problem, near)
                if point is not None:
                    return point
                lowest = min(lowest, (_height(problem, near), near))
        if lowest[0] >= height:
            share /= 2
    return None


def _height(problem: _Problem, corner: Sequence[fmpq]) -> float:
    """The gap at a point where the conditions hold, as a float; infinite elsewhere."""
    box = [_interval((value, value)) for value in corner]
    if not all(_status(condition, problem.symbols, box) for condition in problem.conditions):
        return inf
    value = float(_tape(problem.gap, problem.symbols).value(box)[0])
    return inf if isnan(value) else value


def _branch(problem: _Problem) -> Answer:
    stack: list[Edges] = [problem.root]
    while stack:
        edges = stack.pop()
        problem.boxes += 1
        if problem.boxes > problem.budget:
            return Answer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        box = [_interval(edge) for edge in edges]
        states = [_status(c, problem.symbols, box) for c in problem.conditions]
        if False in states:
            continue
        tape = _face_tape(problem, edges)
        if tape is None or _positive(problem, tape.value(box)):
            continue
        point = _breaks(problem, tuple(_split_point(edge) for edge in edges))
        if point is not None:
            return Answer(held=False, witness=point, boxes=problem.boxes)
        _, slopes = tape.gradient(box)
        if _positive(problem, _mean_value(tape, edges, box, slopes)):
            continue
        face = _monotone(edges, slopes)
        if face != edges:
            if all(states):
                stack.append(face)
                continue
            on_face = _face_tape(problem, face)
            if on_face is None or _positive(problem, on_face.value([_interval(edge) for edge in face])):
                continue
        parts = _split(problem, edges, box, slopes)
        if not parts:
            return Answer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        stack += parts
    return Answer(held=True, boxes=problem.boxes)


def _positive(problem: _Problem, value: Interval) -> bool:
    return bool(value[0] > 0 or (value[0] >= 0 and not problem.strict))


def _face_tape(problem: _Problem, edges: Edges) -> Tape | None:
    """The gap's tape; on a face of the first box, its own. None where the gap is zero there and may be."""
    fixed = tuple(
        (symbol, _rational(edge[0]))
        for symbol, edge, first in zip(problem.symbols, edges, problem.root, strict=True)
        if edge[0] == edge[1] and edge[0] in first
    )
    if not fixed:
        return _tape(problem.gap, problem.symbols)
    gap = _on_face(problem.gap, fixed)
    if gap is sp.nan:
        return _tape(problem.gap, problem.symbols)
    if gap == 0 and not problem.strict:
        return None
    return _tape(gap, problem.symbols)


def _mean_value(tape: Tape, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]) -> Interval:
    centre = [_interval(((low + high) / 2,) * 2) for low, high in edges]
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


def _split(problem: _Problem, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]) -> list[Edges]:
    """Two halves, cut where the gap varies most, and at times where the box is widest; none for a point."""

    def variation(index: int) -> tuple[float, float]:
        low, high = edges[index]
        width = float(_rational(high - low))
        slope = iv.absolute(slopes[index])[1]
        relative = width / (1 + abs(float(box[index][0])))
        if width == 0:
            return -1.0, 0.0
        even = problem.boxes % 3 == 0 or not all(iv.absolute(s)[1].is_finite() for s in slopes)
        return (relative if even else float(slope) * width), relative

    widest = max(range(len(edges)), key=variation, default=None)
    if widest is None or edges[widest][0] == edges[widest][1]:
        return []
    middle = _split_point(edges[widest])
    halves = ((edges[widest][0], middle), (middle, edges[widest][1]))
    return [(*edges[:widest], half, *edges[widest + 1 :]) for half in reversed(halves)]


def _reduce(problem: _Problem, ladder: int) -> Answer | None:
    """Show that one derivative keeps its sign on the whole box, and go on with the face where the gap is least.

    For a strict claim that face may carry the value zero where the conditions exclude it. Then the derivative
    must not be negative on the whole box, so that the gap grows from the face on, and must be positive wherever
    the conditions hold, so that it has grown when it arrives there.
    """
    if problem.gap.has(sp.Min, sp.Max, sp.Abs, sp.Piecewise, sp.sign, sp.floor, sp.ceiling, SampledUp, SampledDown):
        return None
    for index, symbol in enumerate(problem.symbols):
        low, high = problem.root[index]
        if low == high:
            continue
        slope = sp.diff(problem.gap, symbol)
        for direction, end in ((1, low), (-1, high)):
            face = tuple((end, end) if k == index else edge for k, edge in enumerate(problem.root))
            gap = _on_face(problem.gap, ((symbol, _rational(end)),))
            closed_zero = gap == 0 and not problem.strict
            open_zero = gap == 0 and problem.strict and _excluded(problem, face)
            if gap is sp.nan or (gap == 0 and not (closed_zero or open_zero)):
                continue
            signed, less = direction * slope, max(problem.budget // 16, 300)
            shown = prove(signed, problem.symbols, problem.root, budget=less, ladder=ladder - 1)
            if shown.held and open_zero:
                shown = prove(
                    signed,
                    problem.symbols,
                    problem.root,
                    problem.conditions,
                    strict=True,
                    budget=less,
                    ladder=ladder - 1,
                )
            if not shown.held:
                continue
            if closed_zero or open_zero:
                return Answer(held=True, boxes=problem.boxes + shown.boxes)
            rest = prove(gap, problem.symbols, face, strict=problem.strict, budget=problem.budget, ladder=ladder - 1)
            if rest.held:
                return rest
    return None


def _excluded(problem: _Problem, face: Edges) -> bool:
    """Whether the conditions fail all over the face, and so cut the box along this coordinate."""
    box = [_interval(edge) for edge in face]
    return False in [_status(c, problem.symbols, box) for c in problem.conditions]


def _describe(problem: _Problem, edges: Edges) -> str:
    ends = ", ".join(
        f"{symbol} in [{float(_rational(low)):.6g}, {float(_rational(high)):.6g}]"
        for symbol, (low, high) in zip(problem.symbols, edges, strict=True)
    )
    return f"undecided near {ends}"
