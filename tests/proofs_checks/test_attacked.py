"""No value of `bound` is below the best solved run, and a value of an altered run is."""

import pytest
from attacking import ASSUMPTIONS, ATTACKED

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status


@pytest.mark.parametrize("scheme", ATTACKED)
def test_bounds_are_not_below_the_best_solved_run(scheme: str) -> None:
    checks = ATTACKED[scheme]
    assert len(checks) == 10
    for check in checks:
        outcome = decide_check(check, ASSUMPTIONS)
        assert outcome.status is Status.HELD, outcome
        assert [decide_check(mutant, ASSUMPTIONS).rejected for mutant in check.mutants] == [True], check.name
