"""From a claim to its report: every check, the misprint, and every mutant."""

from dataclasses import replace
from time import perf_counter

from z3 import sat

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.z3_terms import Terms, ask
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points
from lastiterate.proofs_checks.verdict import (
    ClaimReport,
    Outcome,
    Status,
    verdict_of,
    weakest,
)
from lastiterate.symbolic.claim import Check, Claim

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
    mutants = tuple(_tried(mutant, claim) for mutant in claim.mutants)
    return ClaimReport(
        key=claim.key,
        verdict=verdict_of(claim, outcomes, misprint),
        grade=weakest(outcomes),
        outcomes=outcomes,
        misprint=misprint,
        mutants=mutants,
        seconds=perf_counter() - started,
    )


def _tried(mutant: Check, claim: Claim) -> Outcome:
    """The outcome of a mutant, once it is known to differ from every check of its claim."""
    if any(replace(check, name=mutant.name, mutants=()) == mutant for check in claim.checks):
        return Outcome(mutant.name, mutant.engine, Status.ERROR, detail="the mutant is a check of the claim itself")
    return decide_check(mutant, claim.assumptions)


def _impossible(claim: Claim) -> str:
    """Why the assumptions cannot be met, or "" when a sample meets them all."""
    try:
        next(points(free_symbols(claim.assumptions), claim.assumptions, 1, tries=20_000))
    except NoPointError as error:
        terms = Terms(whole=True)
        try:
            answer, _ = ask(terms, [terms.condition(condition) for condition in claim.assumptions])
        except UnsupportedError:
            return str(error)
        return "" if answer == sat and not terms.loose else str(error)
    return ""
