"""Branch and bound: is an expression nonnegative (or positive) on a box, cut by conditions?

Each box is tried by its natural enclosure, by the mean value form, and by monotonicity: where a partial
derivative keeps its sign, only one face of the box matters. A face of the first box on which the expression
vanishes identically is recognised exactly, by Sympy. What resists is split, up to a budget; whatever is left
then is undecided, never passed.
"""

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp
from flint import ctx
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import Interval
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.proofs_checks.engines.boxes import Answer, Edges, Problem, interval_of, rational, split_point, status
from lastiterate.proofs_checks.engines.faces import face_tape, reduced
from lastiterate.proofs_checks.engines.failing_point import breaks, corners, failing_point, fails_at

__all__ = ["Answer", "prove"]

BITS = (64, 160)
"""Working precisions: of the first try and of the ladder, and of the last try."""

FEW = 20
"""Boxes looked at before many points are: most of what holds is shown on fewer, and no point shows it."""


def prove(
    gap: sp.Expr,
    symbols: Sequence[sp.Symbol],
    box: Edges,
    conditions: tuple[Boolean, ...] = (),
    *,
    strict: bool = False,
    budget: int = 8000,
    ladder: int | None = None,
    sides: tuple[sp.Expr, ...] = (),
) -> Answer:
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
    problem = Problem(gap, strict, tuple(symbols), conditions, box, budget, sides=sides)
    ladder = max(2, 5 - len(box)) if ladder is None else ladder
    witness = fails_at(problem, corners(problem))
    if witness is not None:
        return Answer(held=False, witness=witness)
    before = ctx.prec
    try:
        ctx.prec = BITS[0]
        answer = _branch(replace(problem, budget=min(FEW, budget)))
        if answer.held or answer.witness is not None or budget <= FEW:
            return answer
        ctx.prec = before
        witness = failing_point(problem)
        if witness is not None:
            return Answer(held=False, witness=witness)
        ctx.prec = BITS[0]
        problem.budget = budget // 4 if ladder else budget
        answer = _branch(problem)
        if answer.held or answer.witness is not None or not ladder:
            return answer
        problem.budget = budget
        shorter = reduced(problem, ladder, prove)
        if shorter is not None:
            return shorter
        ctx.prec, problem.boxes = BITS[1], 0
        return _branch(problem)
    finally:
        ctx.prec = before


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
        tape = face_tape(problem, edges)
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
            on_face = face_tape(problem, face)
            if on_face is None or _positive(problem, on_face.value([interval_of(edge) for edge in face])):
                continue
        parts = _split(problem, edges, box, slopes)
        if not parts:
            return Answer(held=False, boxes=problem.boxes, stuck=_describe(problem, edges))
        stack += parts
    return Answer(held=True, boxes=problem.boxes)


def _positive(problem: Problem, value: Interval) -> bool:
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


def _describe(problem: Problem, edges: Edges) -> str:
    ends = ", ".join(
        f"{symbol} in [{float(rational(low)):.6g}, {float(rational(high)):.6g}]"
        for symbol, (low, high) in zip(problem.symbols, edges, strict=True)
    )
    return f"undecided near {ends}"
