"""Polynomial and algebraic inequalities: z3 decides whether the negation can be satisfied.

If the negation has no solution under the premises, the check is proved. A solution refutes the check only if
exact evaluation confirms it at an admissible point. Both sides must be defined under the premises alone.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import add

import sympy as sp
import z3
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.declared import admits_value
from lastiterate.proofs_checks.defined import defined_at, unmet
from lastiterate.proofs_checks.engines.answers import (
    LESS,
    MORE,
    Term,
    changed,
    closest,
    equation,
    few_points,
    first_middle_last,
    held,
    refuted,
    refuted_at,
    undecided,
)
from lastiterate.proofs_checks.engines.z3_answers import (
    Terms,
    ask_z3,
    consistent,
    entails,
    require_possible,
    solve,
    usable,
)
from lastiterate.proofs_checks.exact_values import Point, relation_at, truth_at
from lastiterate.proofs_checks.feasible_points import find_points, free_symbols
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Check, Inequality, Relation, TwoSided

SPOTS = 60
"""Number of admissible points tried if z3's counterexample is not admissible."""

_NEGATION = {
    Relation.AT_MOST: lambda a, b: a > b,
    Relation.TIGHT: lambda a, b: a > b,
    Relation.BELOW: lambda a, b: a >= b,
    Relation.EQUAL: lambda a, b: a != b,
}


def _formulas(
    check: Inequality, premises: tuple[Boolean, ...], *, whole: bool
) -> tuple[Terms, list[z3.BoolRef]]:
    terms = Terms(whole=whole)
    left, right = terms.term(check.left), terms.term(check.right)
    formulas = [terms.condition(premise) for premise in premises]
    return terms, [*formulas, _NEGATION[check.relation](left, right)]


def fails(check: TwoSided, premises: tuple[Boolean, ...], point: Point) -> bool:
    """Tell whether the point is certainly admissible and violates the relation."""
    return _stands(check, check.relation, premises, point) is False


def _stands(check: TwoSided, relation: Relation, premises: tuple[Boolean, ...], point: Point) -> bool | None:
    """Tell whether the relation holds at a point; None if unclear or the point is not admissible."""
    try:
        if not all(admits_value(symbol, value) for symbol, value in point.items()):
            return None
        known = all(truth_at(premise, point) for premise in premises)
        found = relation_at(check.left, relation, check.right, point) if known else None
        return found if found is not None and defined_at((check.left, check.right), point) else None
    except (UnsupportedError, KeyError):
        return None


def _possible(
    check: Inequality, premises: tuple[Boolean, ...], *, nonzero: bool, equal: bool
) -> z3.CheckSatResult:
    """Tell whether the sides can be equal (or differ) under the premises; unknown unless confirmed."""
    terms = Terms(whole=True)
    left, right = terms.term(check.left), terms.term(check.right)
    formulas = [left == right if equal else left != right, *(terms.condition(premise) for premise in premises)]
    if nonzero:
        formulas += [variable != 0 for symbol, variable in terms.variables.items() if not symbol.is_zero]
    answer, model = solve(terms, formulas) if terms.loose else (ask_z3(terms, formulas), None)
    if model is not None and _stands(check, Relation.EQUAL, premises, terms.point(model)) is not equal:
        return z3.unknown
    return answer


def _not_attained(check: Inequality, premises: tuple[Boolean, ...]) -> Outcome | None:
    """Outcome of a tight check whose equality is not known to be attained; None if it is.

    If the sides are equal only at points with a zero symbol, as in 1 <= 1 + 2 L, ``attained`` must name such
    a point.
    """
    if check.attained:
        there = (*premises, *check.attained)
        values = {c.lhs: c.rhs for c in check.attained if isinstance(c, sp.Eq) and c.lhs.is_Symbol}
        same = sp.simplify((check.left - check.right).xreplace(values)) == 0
        if not same and _possible(check, there, nonzero=False, equal=False) != z3.unsat:
            return undecided(
                check, "the bound holds, but the sides were not shown to be equal where the check says"
            )
        if _possible(check, there, nonzero=False, equal=True) != z3.sat:
            return undecided(
                check,
                "the bound holds, but no admissible point was found where the check says the sides are equal",
            )
        return None
    if _possible(check, premises, nonzero=True, equal=True) == z3.sat:
        return None
    if _possible(check, premises, nonzero=False, equal=True) == z3.unsat:
        return refuted(check, None, "the bound holds, but z3 shows that the sides are nowhere equal")
    return undecided(
        check,
        "the bound holds, but no admissible point was found where the sides are equal and no symbol is zero",
    )


def decide(check: Inequality, assumptions: tuple[Boolean, ...], *, refute: bool = True) -> Outcome:
    """Decide an `Inequality`; without ``refute``, leave it undecided at once if z3 does not prove it."""
    if check.relation not in _NEGATION:
        raise UnsupportedError(f"the inequality engine cannot decide the relation {check.relation}")
    everything = (*assumptions, *check.given)
    premises = usable(everything)
    symbols = free_symbols(check.left, check.right, everything)
    for whole in (False, True) if any(symbol.is_integer for symbol in symbols) else (False,):
        terms, formulas = _formulas(check, premises, whole=whole)
        answer, model = solve(terms, formulas) if refute else (ask_z3(terms, formulas), None)
        if answer == z3.unsat:
            return _proved(check, everything)
        if model is not None and fails(check, everything, point := dict(terms.point(model))):
            return refuted_at(check, point)
    if not refute:
        return undecided(check, "z3 does not prove it")
    for candidate in find_points(symbols, everything, SPOTS):
        if fails(check, everything, candidate):
            return refuted_at(check, candidate)
    undefined = unmet((check.left, check.right), everything, entails)
    detail = undefined or "z3 gave up, and no counterexample was found among admissible samples"
    if answer == z3.sat and not undefined:
        detail = "z3 has a solution of the negation that is not at an admissible rational point"
        if check.left.atoms(sp.Float) | check.right.atoms(sp.Float):
            detail += "; write Rational(1, 2) for 0.5, which is a rounded number"
    return undecided(check, detail)


confirm = partial(decide, refute=False)


def refute_by_drawing(check: Inequality, assumptions: tuple[Boolean, ...]) -> Outcome | None:
    """Refute an `Inequality` at one of a few points drawn at random; None if it holds there."""
    everything = (*assumptions, *check.given)
    points = few_points(free_symbols(check.left, check.right, everything), everything)
    return next((refuted_at(check, point) for point in points if fails(check, everything, point)), None)


def _proved(check: Inequality, premises: tuple[Boolean, ...]) -> Outcome:
    taken = usable(premises)
    if not consistent(taken) or len(taken) < len(premises):
        require_possible(premises)
    undefined = unmet((check.left, check.right), premises, entails)
    if undefined:
        return undecided(check, undefined)
    loose = _not_attained(check, taken) if check.relation is Relation.TIGHT else None
    if loose is not None:
        return loose
    return held(check, Grade.PROVED, "z3: the negation has no solution under the premises")


def near_misses(check: Inequality, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Right side reduced by more than its room; in equations and tight checks, terms 3 % off."""
    if check.relation is Relation.TIGHT:
        return first_middle_last(list(_attained(check, assumptions)))
    return (
        equation(check, "left", "right")
        if check.relation is Relation.EQUAL
        else tuple(closest(check, assumptions))
    )


def _attained(check: Inequality, assumptions: tuple[Boolean, ...]) -> Iterator[Check]:
    """Left side raised or right side reduced by 3 % of a term that is nonzero at equality."""
    nonzero = (sp.Ne(s, 0, evaluate=False) for s in free_symbols(check.left, check.right) if not s.is_zero)
    there = (*assumptions, *check.given, *(check.attained or nonzero))
    loose = replace(check, sign="<=", attained=())
    for field, up, down in (("left", MORE, LESS), ("right", LESS, MORE)):
        side = sp.sympify(getattr(check, field), strict=True)
        for term in sp.Add.make_args(side):
            for factor, signed in ((up, term), (down, -term)):
                if _positive(signed, there, sure=not check.attained):
                    yield changed(loose, Term(field, term, partial(add, side - term)), factor)


def _positive(term: sp.Expr, there: tuple[Boolean, ...], *, sure: bool) -> bool:
    """Tell whether a term is positive or, unless ``sure``, never negative and not always zero."""
    if sure:
        return entails(there, sp.Gt(term, 0, evaluate=False))
    return entails(there, sp.Ge(term, 0, evaluate=False)) and not entails(there, sp.Eq(term, 0, evaluate=False))
