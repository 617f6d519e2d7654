"""The checker recomputes what `bound` says from its choices alone, and refuses what it says of an altered run."""

import pytest
import recomputing
from recomputing import RECOMPUTED, Certified

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status

CHECKS = [check for claim in RECOMPUTED.values() for check in claim.checks]
FEWER = {
    ("shuffled", "clipped, Renyi"): 6,
    ("shuffled", "holder, Renyi"): 5,
    ("shuffled", "clipped, epsilon at delta"): 1,
    ("shuffled", "convex, epsilon at delta"): 1,
    ("shuffled", "strongly_convex, epsilon at delta"): 1,
}
"""Number of certificates, where some settings have none."""


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.scheme}, {check.name}")
def test_certificates_are_recomputed_and_those_of_altered_runs_are_refused(check: Certified) -> None:
    outcome = decide_check(check, ())
    assert outcome.status is Status.HELD, outcome
    every = 2 if check.delta else 8
    assert outcome.scope == f"{FEWER.get((check.scheme, check.name), every)} certificates"
    for mutant in check.mutants:
        assert decide_check(mutant, ()).status is Status.REFUTED


def test_a_bound_that_refuses_a_run_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recomputing.bound_by_shifts

    def refuses(run, assumption, **asked):
        if asked == {"order": 6}:
            raise InputError("A bound was refused.")
        return made(run, assumption, **asked)

    monkeypatch.setattr(recomputing, "bound_by_shifts", refuses)
    outcome = decide_check(Certified("full", "clipped"), ())
    assert (outcome.status, outcome.detail) == (Status.ERROR, "A bound was refused.")
