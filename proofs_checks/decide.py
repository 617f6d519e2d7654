"""Decision of a claim: its checks, misprint, mutants, and the near misses of the checks that hold."""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.declared import misfit
from lastiterate.proofs_checks.engines import decide_check, engine_of, sentence_of
from lastiterate.proofs_checks.engines.time_limit import limited
from lastiterate.proofs_checks.engines.z3_answers import impossible
from lastiterate.proofs_checks.implies import left_open
from lastiterate.proofs_checks.verdict import ClaimReport, Outcome, Status, Verdict, verdict_of, weakest
from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.claim import Claim

ROOMS: Final = (sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100))
"""Shares of a bound, tried in turn as the ``room`` of `near_misses` while a near miss holds."""


def decide(claim: Claim) -> ClaimReport:
    """Decide a claim and its mutants in this process; `runner.run` adds the cache and the workers.

    No claim raises an exception: a field of another type, an engine that fails, and a question to z3 after
    the time limit of `time_limit.allowing` become errors of the claim's checks.
    """
    started = perf_counter()
    try:
        report = _decided(claim)
    except Exception as error:
        report = _in_error(claim, sentence_of(error))
    return replace(report, seconds=perf_counter() - started)


def _decided(claim: Claim) -> ClaimReport:
    with limited():
        why = misfit(claim) or impossible(claim.assumptions)
    if why:
        return _in_error(claim, why)
    outcomes = tuple(_asked(check, claim) for check in claim.checks)
    misprint = None if claim.misprint is None else decide_check(claim.misprint, claim.assumptions)
    shown = None if claim.refutation is None else decide_check(claim.refutation.check, ())
    mutants = tuple(_asked(mutant, claim, wrong=True) for mutant in claim.mutants)
    with limited():
        left = left_open(claim) if weakest(outcomes) else ""
    held = (
        check for check, outcome in zip(claim.checks, outcomes, strict=True) if outcome.status is Status.HELD
    )
    beside = [outcome for check in held for outcome in _near_misses(check, claim)]
    return ClaimReport(
        key=claim.key,
        verdict=verdict_of(claim, outcomes, misprint, left, shown),
        grade=weakest(outcomes),
        outcomes=outcomes,
        misprint=misprint,
        mutants=mutants,
        near_misses=tuple(beside),
        left_open=left,
        seconds=0,
        shown=shown,
    )


def _asked(check: Check, claim: Claim, *, wrong: bool = False, near: bool = False) -> Outcome:
    named: dict[str, Any] = {"name": check.name, "mutants": ()}
    if wrong and any(replace(one, **named) == check for one in claim.checks):
        return Outcome(
            check.name, check.engine, Status.ERROR, detail="the mutant is a check of the claim itself"
        )
    return decide_check(check, claim.assumptions, by_drawing=near)


def _in_error(claim: Claim, why: str) -> ClaimReport:
    named = [
        (str(getattr(check, "name", check)), getattr(check, "engine", Engine.IDENTITY))
        for check in claim.checks
    ]
    outcomes = tuple(Outcome(name, engine, Status.ERROR, detail=why) for name, engine in named)
    return ClaimReport(claim.key, Verdict.UNDECIDED, None, outcomes, None, (), (), "", 0)


def near_misses(check: Check, assumptions: tuple[Boolean, ...], room: sp.Expr = sp.S.Zero) -> tuple[Check, ...]:
    """At most `answers.MOST` wrong variants of a check.

    A near miss is stronger than the check by more than ``room``, the share by which the bound could be smaller.

    >>> from sympy import Symbol
    >>> from lastiterate.symbolic.checks import Identity
    >>> x = Symbol("x")
    >>> [wrong.name for wrong in near_misses(Identity(x * (x + 1), x**2 + x), ())]
    ['x*(x + 1) times 103/100 on the left', 'x times 103/100 on the left', 'x**2 times 103/100 on the right']
    """
    with limited():
        made: tuple[Check, ...] = engine_of(check).near_misses(check, assumptions, room)
    return made


def _near_misses(check: Check, claim: Claim) -> Iterator[Outcome]:
    """Outcomes of the near misses of a check; if a near miss holds, a stronger variant is tried."""
    for place, wrong in enumerate(near_misses(check, claim.assumptions)):
        last, scope = wrong, ""
        for room in (sp.S.Zero, *ROOMS):
            if room != 0:
                stronger = near_misses(check, claim.assumptions, room)[place]
                if stronger == last:
                    break
                last, scope = stronger, f"the bound could be smaller by a share of {room}"
            outcome = _asked(last, claim, wrong=True, near=True)
            if outcome.status is not Status.HELD:
                break
        yield replace(outcome, counterexample=None, scope=scope or outcome.scope)
