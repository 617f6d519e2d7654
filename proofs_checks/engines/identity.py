"""Equalities, by Sympy and by exact arithmetic; `recursion` decides recursions.

To show an identity, several routes of simplification must reach zero; to refute it, one admissible rational
point where the difference is certainly not zero. A residue that no route removes is "not shown", never
"false". Both sides must be shown to be defined wherever the assumptions hold, and agree at one point at least.
"""

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided
from lastiterate.proofs_checks.engines.equality import compared, differ, shown, vanishes
from lastiterate.proofs_checks.engines.finite_sums import by_induction, summed
from lastiterate.proofs_checks.engines.possible import impossible
from lastiterate.proofs_checks.engines.recursion import recursion
from lastiterate.proofs_checks.engines.variants import equation
from lastiterate.proofs_checks.feasible_points import NoPointError, connected, free_symbols, points
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Check, Identity, Recursion
from lastiterate.symbolic.unevaluated import carried_out

SPOTS = 12
"""Points at which an identity is tried before any simplification."""


def _equal(check: Identity, conditions: tuple[Boolean, ...], symbols: tuple[sp.Symbol, ...]) -> Outcome:
    left, right = summed(carried_out(check.left)), summed(carried_out(check.right))
    confirmed = 0
    for point in points(symbols, conditions, SPOTS):
        same = compared(left, right, point)
        if same is False:
            return refuted(check, differ(left, right, point))
        confirmed += bool(same)
    undefined = unmet((check.left, check.right, left, right), conditions, shown)
    if undefined:
        return undecided(check, undefined)
    if by_induction(left - right, conditions, lambda one: bool(vanishes(one, conditions)[0])):
        route, residue = "induction on the end of its sums", sp.S.Zero
    else:
        undefined = unmet((left.doit(), right.doit()), conditions, shown)
        if undefined:
            return undecided(check, undefined)
        route, residue = vanishes(left - right, conditions)
    if not route:
        return undecided(check, f"not shown; no spot check differs; residue: {residue}")
    if not confirmed:
        return undecided(check, "no admissible point was found at which both sides have a value and agree")
    return held(check, Grade.PROVED, f"the difference is zero by {route}, and at {confirmed} exact points")


def decide(check: Identity | Recursion, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Identity` or a `Recursion` under the assumptions.

    Raises:
        NoPointError: no sample satisfies the assumptions.
    """
    if isinstance(check, Recursion):
        return recursion(check, (*assumptions, *check.given))
    symbols, assumptions = free_symbols(check.left, check.right), (*assumptions, *check.given)
    relevant = connected(assumptions, symbols)
    why = impossible(assumptions, tries=2000) if len(relevant) < len(assumptions) else ""
    if why:
        raise NoPointError(why)
    return _equal(check, relevant, symbols)


def near_misses(check: Identity | Recursion, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Terms of an equation, or of a recursion and its solution, three percent more."""
    return equation(check, *(("left", "right") if isinstance(check, Identity) else ("closed_form", "step", "initial")))
