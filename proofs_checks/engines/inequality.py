"""Polynomial and algebraic inequalities: z3 decides whether the negation can be satisfied.

No solution of the negation under the premises is a proof. A solution is only a suggestion: it is evaluated
again, exactly, at an admissible point before the check is called refuted. Effort is counted in z3's own
resource units, so the answer does not depend on how busy the machine is.
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

import z3
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.z3_terms import Terms, algebraic, ask
from lastiterate.proofs_checks.feasible_points import (
    NoPointError,
    Point,
    as_text,
    free_symbols,
    points,
    relation_at,
    side,
    truth_at,
)
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.claim import Check, Engine, Inequality, Relation

__all__ = ["decide"]

SPOTS = 60
"""Admissible points tried for a counterexample where z3's own is not admissible."""

_NEGATION = {
    Relation.AT_MOST: lambda a, b: a > b,
    Relation.TIGHT: lambda a, b: a > b,
    Relation.BELOW: lambda a, b: a >= b,
    Relation.EQUAL: lambda a, b: a != b,
}


def _question(check: Inequality, premises: tuple[Boolean, ...], *, whole: bool) -> tuple[z3.CheckSatResult, Point]:
    """Can the negation hold? With the model's point where it can."""
    terms = Terms(whole=whole)
    left, right = terms.term(check.left), terms.term(check.right)
    formulas = [terms.condition(premise) for premise in premises]
    answer, model = ask(terms, [*formulas, _NEGATION[check.relation](left, right)])
    return answer, dict(terms.point(model)) if model is not None else {}


def _fails(check: Inequality, premises: tuple[Boolean, ...], point: Point) -> bool:
    """Whether the point is certainly admissible and certainly breaks the relation."""
    try:
        declared = all(
            (not s.is_integer or v.is_Integer) and (not s.is_positive or v > 0) and (not s.is_nonnegative or v >= 0)
            for s, v in point.items()
        )
        return (
            declared
            and all(truth_at(premise, point) for premise in premises)
            and relation_at(check.left, check.relation, check.right, point) is False
        )
    except (UnsupportedError, KeyError):
        return False


def _refuted(check: Inequality, point: Point) -> Outcome:
    found = Counterexample(
        as_text(point), side(check.left, point), check.relation, side(check.right, point), "left, right"
    )
    return Outcome(check.name, Engine.INEQUALITY, Status.REFUTED, counterexample=found)


def _possible(check: Inequality, premises: tuple[Boolean, ...], *, nonzero: bool, equal: bool) -> z3.CheckSatResult:
    """Whether the sides can be equal (or differ) under the premises (integers kept)."""
    terms = Terms(whole=True)
    left, right = terms.term(check.left), terms.term(check.right)
    formulas = [left == right if equal else left != right, *(terms.condition(premise) for premise in premises)]
    if nonzero:
        formulas += [variable > 0 for symbol, variable in terms.variables.items() if symbol.is_nonnegative]
    answer, _ = ask(terms, formulas)
    return answer


def _not_attained(check: Inequality, premises: tuple[Boolean, ...]) -> tuple[Status, str] | None:
    """Why a tight check is not known to be one; None where it is.

    Sides that are equal only where a symbol is zero say little: 1 <= 1 + 2 L is equal at L = 0. A check that means
    such a point names it in ``attained``.
    """
    if check.attained:
        there = (*premises, *check.attained)
        if _possible(check, there, nonzero=False, equal=False) != z3.unsat:
            return Status.UNDECIDED, "at most, but the sides were not shown to be equal where the check says"
        if _possible(check, there, nonzero=False, equal=True) != z3.sat:
            return Status.UNDECIDED, "at most, but no admissible point was found where the check says they are equal"
        return None
    if _possible(check, premises, nonzero=True, equal=True) == z3.sat:
        return None
    if _possible(check, premises, nonzero=False, equal=True) == z3.unsat:
        return Status.REFUTED, "at most, but z3 shows that the sides are nowhere equal"
    detail = "at most, but no admissible point was found where the sides are equal and no symbol is zero"
    return Status.UNDECIDED, detail


def decide(check: Check, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Inequality` under the assumptions and its own premises.

    Raises:
        NoPointError: no sample satisfies the premises.
        UnsupportedError: the inequality is not algebraic.
        TypeError: the check is of another type.
    """
    if not isinstance(check, Inequality):
        raise TypeError(f"the inequality engine decides Inequality, got {type(check).__name__}")
    if check.relation not in _NEGATION:
        raise UnsupportedError(f"the inequality engine cannot decide the relation {check.relation}")
    premises = (*algebraic(assumptions), *check.given)
    everything = (*assumptions, *check.given)
    answer, point = _question(check, premises, whole=False)
    if answer == z3.unsat:
        return _proved(check, premises)
    symbols = free_symbols(check.left, check.right, everything)
    if point and _fails(check, everything, point):
        return _refuted(check, point)
    if any(symbol.is_integer for symbol in symbols):
        answer, point = _question(check, premises, whole=True)
        if answer == z3.unsat:
            return _proved(check, premises)
        if point and _fails(check, everything, point):
            return _refuted(check, point)
    for candidate in points(symbols, everything, SPOTS):
        if _fails(check, everything, candidate):
            return _refuted(check, candidate)
    detail = "z3 gives up, and no admissible sample breaks it"
    if answer == z3.sat:
        detail = "z3 has a solution of the negation that is not at an admissible rational point"
    return Outcome(check.name, Engine.INEQUALITY, Status.UNDECIDED, detail=detail)


def _proved(check: Inequality, premises: tuple[Boolean, ...]) -> Outcome:
    terms = Terms(whole=True)
    consistent, _ = ask(terms, [terms.condition(premise) for premise in premises])
    if consistent == z3.unsat:
        raise NoPointError(f"no sample satisfies the premises {', '.join(map(str, premises))}.")
    if consistent == z3.unknown:
        next(points(free_symbols(check.left, check.right, premises), premises, 1))
    loose = _not_attained(check, premises) if check.relation is Relation.TIGHT else None
    if loose is not None:
        return Outcome(check.name, Engine.INEQUALITY, loose[0], detail=loose[1])
    detail = "z3: the negation has no solution under the premises"
    return Outcome(check.name, Engine.INEQUALITY, Status.HELD, Grade.PROVED, detail)
