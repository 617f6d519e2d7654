"""Faces of a box: where a monotone gap is least, and whether it is continuous all the way there."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import sympy as sp
from sympy.logic.boolalg import And, Boolean, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.proofs_checks.declared import conditions as declared
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.boxes import (
    Answer,
    Edges,
    Problem,
    edge_of,
    interval_of,
    rational,
    status,
    tape_of,
)
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import at

Box = Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]]
"""Each symbol with its interval."""

_FEW, _MANY = 20, 1000
"""Boxes that balls may look at before z3 is asked, and after."""

Prover = Callable[..., Answer]
"""`branch.prove`."""


def inside_of(box: Box) -> tuple[Boolean, ...]:
    """A box and the declared signs of its symbols as conditions."""
    ends = (c for s, (low, high) in box.items() for c in (sp.Ge(s, low), sp.Le(s, high)))
    return tuple(c for c in (*ends, *(c for s in box for c in declared(s))) if c != sp.true)


def shown_on(box: Box, prove: Prover) -> Callable[[Sequence[Boolean], Boolean], bool]:
    """Tell whether a condition follows from premises on the box: by a few balls, by z3, and else by many balls."""
    real = tuple(s for s, (low, high) in box.items() if low != high)
    point = {s: low for s, (low, high) in box.items() if low == high}
    edges: Edges = tuple(edge_of(box[s]) for s in real)

    def positive(gap: sp.Expr, premises: Sequence[Boolean], budget: int, *, strict: bool) -> bool:
        gap = at(gap, point)
        known = tuple(p for p in (premise.xreplace(point) for premise in premises) if p.free_symbols <= set(real))
        return prove(gap, real, edges, known, strict=strict, budget=budget, ladder=0).held

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
        if by_balls(premises, condition, budget=_FEW) or entails((*premises, *inside_of(box)), condition):
            return True
        if isinstance(condition, And | Or):
            return (all if isinstance(condition, And) else any)(shown(premises, part) for part in condition.args)
        return by_balls(premises, condition, budget=_MANY)

    return shown


@lru_cache(maxsize=2048)
def _on_face(gap: sp.Expr, fixed: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> sp.Expr:
    """The gap with some symbols at an end of the first box, simplified so that an identical zero shows."""
    value = gap.xreplace(dict(fixed))
    if value.has(sp.zoo, sp.nan):
        return sp.nan
    shorter = sp.simplify(value) if value.count_ops() < 200 else value
    return sp.S.Zero if shorter == 0 else value


def face_tape(problem: Problem, edges: Edges) -> Tape | None:
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


def reduced(problem: Problem, ladder: int, prove: Prover) -> Answer | None:
    """Show that one derivative keeps its sign on the whole box, and go on with the face where the gap is least.

    For a strict claim that face may carry the value zero where the conditions exclude it. Then the derivative
    must not be negative on the whole box, so that the gap grows from the face on, and must be positive wherever
    the conditions hold, so that it has grown when it arrives there.
    """
    if not _smooth(problem, prove):
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


SMOOTH = (
    sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.atan, sp.erf,
    sp.erfc, sp.tan, sp.acosh, sp.asin, sp.acos, sp.atanh, sp.loggamma,
)  # fmt: skip


def _smooth(problem: Problem, prove: Prover) -> bool:
    """Tell whether the gap is continuous on the whole first box, conditions aside, with a derivative that says all.

    A derivative says nothing across a pole or a jump.
    """
    parts = sp.preorder_traversal(problem.gap)
    if not all(part.is_Symbol or part.is_number or isinstance(part, SMOOTH) for part in parts):
        return False
    box = {s: tuple(map(rational, edge)) for s, edge in zip(problem.symbols, problem.root, strict=True)}
    return not unmet((problem.gap,), (), shown_on(box, prove))


def _excluded(problem: Problem, face: Edges) -> bool:
    """Tell whether the conditions fail all over the face, and so cut the box along this coordinate."""
    box = [interval_of(edge) for edge in face]
    return False in [status(c, problem.symbols, box) for c in problem.conditions]
