"""Outcomes of a check as its engine states them."""

from lastiterate.proofs_checks.exact_values import Point, as_text, side
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.checks import Check, Inequality, IntervalInequality, RandomPoints, Relation


def held(check: Check, grade: Grade, detail: str, scope: str = "") -> Outcome:
    """The check holds; ``scope`` is what the evidence rests on, where that is less than the assumptions leave."""
    return Outcome(check.name, check.engine, Status.HELD, grade, detail, scope=scope)


def undecided(check: Check, detail: str) -> Outcome:
    """Neither shown nor refuted, and why."""
    return Outcome(check.name, check.engine, Status.UNDECIDED, detail=detail)


def refuted(check: Check, found: Counterexample | None, detail: str = "") -> Outcome:
    """Refuted by a counterexample, or by a proof that has none."""
    return Outcome(check.name, check.engine, Status.REFUTED, detail=detail, counterexample=found)


def refuted_at(check: Inequality | IntervalInequality | RandomPoints, point: Point) -> Outcome:
    """Refuted at an exact point, with an enclosure of either side."""
    left, right = side(check.left, point), side(check.right, point)
    relation = Relation.AT_MOST if check.relation is Relation.TIGHT else check.relation
    return refuted(check, Counterexample(as_text(point), left, relation, right, "left, right"))
