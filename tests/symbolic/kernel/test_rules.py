"""The rules survive random finite chains, and the attack finds every fault that is planted in their premises."""

import pytest
from rules_on_chains import ATTACKED, violations

_FAULTS = [(rule, fault) for rule, attacked in ATTACKED.items() for fault in attacked.faults]


@pytest.mark.parametrize("rule", ATTACKED)
def test_no_instance_violates_a_rule(rule: str) -> None:
    assert violations(rule, 60) == 0


@pytest.mark.parametrize(("rule", "fault"), _FAULTS, ids=[f"{rule}: {fault}" for rule, fault in _FAULTS])
def test_a_planted_fault_is_found(rule: str, fault: str) -> None:
    assert any(violations(rule, 10, fault, seed) for seed in range(300))


@pytest.mark.nightly
@pytest.mark.parametrize("rule", ATTACKED)
def test_no_instance_of_ten_thousand_violates_a_rule(rule: str) -> None:
    assert violations(rule, 10_000, seed=7) == 0
