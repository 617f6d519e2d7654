"""Consistency of assumptions: whatever follows from a contradiction is not proved."""

from collections.abc import Sequence

import z3
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.z3_terms import Terms, ask
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points

__all__ = ["impossible"]


def impossible(assumptions: Sequence[Boolean], tries: int = 20_000) -> str:
    """Reason why the assumptions cannot be met, or "" where a point meets them, or z3 has one that is not rational."""
    try:
        next(points(free_symbols(assumptions), assumptions, 1, tries=tries))
    except NoPointError as error:
        terms = Terms(whole=True)
        try:
            answer, _ = ask(terms, [terms.condition(condition) for condition in assumptions])
        except UnsupportedError:
            return str(error)
        return "" if answer == z3.sat and not terms.loose else str(error)
    return ""
