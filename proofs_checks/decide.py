"""From a claim to its report: every check, the misprint, and every mutant."""

from time import perf_counter

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points
from lastiterate.proofs_checks.verdict import (
    ClaimReport,
    Outcome,
    Status,
    verdict_of,
    weakest,
)
from lastiterate.symbolic.claim import Claim

__all__ = ["decide"]


def decide(claim: Claim) -> ClaimReport:
    """Decide a claim and all its mutants, here and now; `runner.run` adds the cache and the workers.

    Never raises for what a claim holds: an engine that fails is recorded as an error of its check.
    """
    started = perf_counter()
    impossible = _impossible(claim)
    if impossible:
        outcomes = tuple(Outcome(check.name, check.engine, Status.ERROR, detail=impossible) for check in claim.checks)
    else:
        outcomes = tuple(decide_check(check, claim.assumptions) for check in claim.checks)
    misprint = None if claim.misprint is None else decide_check(claim.misprint, claim.assumptions)
    mutants = tuple(decide_check(mutant, claim.assumptions) for mutant in claim.mutants)
    return ClaimReport(
        key=claim.key,
        verdict=verdict_of(claim, outcomes, misprint),
        grade=weakest(outcomes),
        outcomes=outcomes,
        misprint=misprint,
        mutants=mutants,
        seconds=perf_counter() - started,
    )


def _impossible(claim: Claim) -> str:
    """Why the assumptions cannot be met, or "" when a sample meets them all."""
    try:
        next(points(free_symbols(claim.assumptions), claim.assumptions, 1, tries=20_000))
    except NoPointError as error:
        return str(error)
    return ""
