"""Branch and bound: is an expression nonnegative (or positive) on a box, cut by conditions?

Each box is tried by its natural enclosure, by the mean value form, and by monotonicity: where a partial
derivative keeps its sign, only one face of the box matters. A face of the first box on which the expression
vanishes identically is recognised exactly, by Sympy. What resists is split, up to a budget; whatever is left
then is undecided, never passed.
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
from flint import ctx
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import Interval
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.proofs_checks.engines.boxes import Edges, Problem, interval_of, rational, split_point, status, tape_of
from lastiterate.proofs_checks.engines.failing_point import breaks, failing_point
from lastiterate.proofs_checks.feasible_points import Point
from lastiterate.symbolic.sampled_gaussian import SampledDown, SampledUp

__all__ = ["Answer", "prove"]

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
    problem = Problem(gap, strict, tuple(symbols), conditions, box, budget)
    ladder = max(2, 5 - len(box)) if ladder is None else ladder
    witness = failing_point(problem)
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


@lru_cache(maxsize=2048)
def _on_face(gap: sp.Expr, fixed: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> sp.Expr:
    """The gap with some symbols at an end of the first box, simplified so that an identical zero shows."""
    value = gap.xreplace(dict(fixed))
    if value.has(sp.zoo, sp.nan):
        return sp.nan
    shorter = sp.simplify(value) if value.count_ops() < 200 else value
    return sp.S.Zero if shorter == 0 else value


def _branch(problem: Problem) -> Answer:
    stack: list[Edges] = [problem.root]
    while stack:
        edges = stack.pop()
        problem.boxes += 1
        if problem.boxes > problem.budget:
            return Answer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        box = [interval_of(edge) for edge in edges]
        states = [status(c, problem.symbols, box) for c in problem.conditions]
        if False in states:
            continue
        tape = _face_tape(problem, edges)
        if tape is None or _positive(problem, tape.value(box)):
            continue
        point = breaks(problem, tuple(split_point(edge) for edge in edges))
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
            if on_face is None or _positive(problem, on_face.value([interval_of(edge) for edge in face])):
                continue
        parts = _split(problem, edges, box, slopes)
        if not parts:
            return Answer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        stack += parts
    return Answer(held=True, boxes=problem.boxes)


def _positive(problem: Problem, value: Interval) -> bool:
    return bool(value[0] > 0 or (value[0] >= 0 and not problem.strict))


def _face_tape(problem: Problem, edges: Edges) -> Tape | None:
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


def _split(problem: Problem, edges: Edges, box: Sequence[Interval], slopes: Sequence[Interval]) -> list[Edges]:
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


def _reduce(problem: Problem, ladder: int) -> Answer | None:
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
            gap = _on_face(problem.gap, ((symbol, rational(end)),))
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


def _excluded(problem: Problem, face: Edges) -> bool:
    """Whether the conditions fail all over the face, and so cut the box along this coordinate."""
    box = [interval_of(edge) for edge in face]
    return False in [status(c, problem.symbols, box) for c in problem.conditions]


def _describe(problem: Problem, edges: Edges) -> str:
    ends = ", ".join(
        f"{symbol} in [{float(rational(low)):.6g}, {float(rational(high)):.6g}]"
        for symbol, (low, high) in zip(problem.symbols, edges, strict=True)
    )
    return f"undecided near {ends}"
