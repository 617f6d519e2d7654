"""Means of random quantities: each is evaluated by its rule, and what is left is an equation or an inequality."""

from dataclasses import replace

from sympy import Basic, Expr, Le, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import identity, inequality
from lastiterate.proofs_checks.engines.answers import undecided
from lastiterate.proofs_checks.engines.vectors import MOST, gram
from lastiterate.proofs_checks.engines.z3_terms import entails
from lastiterate.proofs_checks.verdict import Outcome, Status
from lastiterate.symbolic.claim import Expected, Identity, Inequality, Relation
from lastiterate.symbolic.expectations import MEAN, SQUARES, Mean
from lastiterate.symbolic.vectors import Inner, Norm, Vector


def decide(check: Expected, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Expected` under the assumptions and its own premises.

    Raises:
        InputError: a mean that no rule evaluates.
        NoPointError: no sample satisfies the premises.
    """
    premises = (*assumptions, *check.given)
    means = sorted(check.left.atoms(Mean) | check.right.atoms(Mean), key=str)
    for mean in means:
        for condition in mean.conditions():
            if not entails(premises, condition):
                return undecided(check, f"the rule for {mean} supposes {condition}, which is not shown")
    try:
        values = {mean: mean.value() for mean in means}
    except ValueError as error:
        raise InputError(str(error)) from None
    left, right = (side.xreplace(values) for side in (check.left, check.right))
    letters = sorted(set[Vector]().union(*(one.atoms(Vector) for one in (left, right, *premises))), key=str)
    if len(letters) > MOST:
        raise InputError(f"A mean needs at most {MOST} vectors in its value, got {', '.join(map(str, letters))}.")
    known = [*check.given, *gram(letters)]
    if left.has(SQUARES) or right.has(SQUARES):
        known.append(Le(Norm(MEAN) ** 2, SQUARES))
    names = _numbers((left, right, *assumptions, *known))
    left, right = left.xreplace(names), right.xreplace(names)
    given = tuple(one.xreplace(names) for one in known)
    supposed = tuple(one.xreplace(names) for one in assumptions)
    if check.relation is Relation.EQUAL:
        outcome = identity.decide(Identity(left, right, check.name, given), supposed)
    else:
        outcome = inequality.decide(Inequality(left, check.sign, right, given, check.name), supposed)
    rules = f"{len(means)} mean{'s' * (len(means) != 1)} by rule"
    detail = f"{rules}; {outcome.detail}" if outcome.status is Status.HELD else outcome.detail
    return replace(outcome, engine=check.engine, detail=detail)


def _numbers(said: tuple[Basic, ...]) -> dict[Expr, Symbol]:
    """A letter for every length and every inner product; those of vectors that stand alone have none."""
    found = sorted(set[Expr]().union(*(one.atoms(Norm, Inner) for one in said)), key=str)
    names = {one: Symbol(str(one), real=True, nonnegative=True if isinstance(one, Norm) else None) for one in found}
    if any(one.xreplace(names).atoms(Vector) for one in said):
        raise InputError(
            "A mean needs vectors within lengths and inner products, got one that stands alone; use inner."
        )
    return names
