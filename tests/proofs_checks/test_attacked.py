"""No value of `bound` is below the best solved run, and a value of an altered run is."""

import pytest
from attacking import ATTACKED

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import Grade, Verdict


@pytest.mark.parametrize("scheme", ATTACKED)
def test_bounds_are_not_below_the_best_solved_run(scheme: str) -> None:
    report = decide(ATTACKED[scheme])
    assert (report.verdict, report.grade) == (Verdict.SUPPORTED, Grade.NOT_REFUTED), report
    assert (len(report.outcomes), report.rejected) == (10, 10)
