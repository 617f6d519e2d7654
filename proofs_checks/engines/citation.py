"""Citations: a result of another work is taken over, and nothing is decided."""

from dataclasses import replace

from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.answers import held
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.citation import Cited


def decide(check: Cited, assumptions: tuple[Boolean, ...]) -> Outcome:  # noqa: ARG001
    """Name the work."""
    return replace(held(check, Grade.CITED, f"taken from {check.source}"), rests_on=(str(check.source),))
