"""The example's lemmas: each is proved for all parameters, and its near misses are refuted."""

import importlib.util
from pathlib import Path

import pytest

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import Verdict

_FILE = Path(__file__).parents[2] / "examples/convex_optimization/claims/first_order.py"
_SPEC = importlib.util.spec_from_file_location("first_order", _FILE)
_EXAMPLE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_EXAMPLE)


@pytest.mark.parametrize("claim", _EXAMPLE.CLAIMS, ids=lambda claim: claim.key)
def test_a_lemma_is_proved_and_its_near_misses_are_refuted(claim) -> None:
    report = decide(claim)
    assert report.verdict is Verdict.PROVED
    assert report.near_rejected == len(report.near_misses) > 0
