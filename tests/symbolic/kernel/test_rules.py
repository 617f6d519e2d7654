"""The rules survive random finite chains, and the attack finds every fault that is planted in their premises."""

from random import Random

import pytest
from counted_rules_on_chains import COUNTED
from rules_on_chains import ATTACKED, BETTER, violations

_FAULTS = [(rule, fault) for rule, attacked in ATTACKED.items() for fault in (*attacked.faults, *BETTER[rule])]


@pytest.mark.parametrize("rule", ATTACKED)
def test_no_instance_violates_a_rule(rule: str) -> None:
    assert violations(rule, 60) == 0


@pytest.mark.sweep(24)
@pytest.mark.parametrize(("rule", "fault"), _FAULTS, ids=[f"{rule}: {fault}" for rule, fault in _FAULTS])
def test_a_planted_fault_is_found(rule: str, fault: str) -> None:
    assert any(violations(rule, 10, fault, seed) for seed in range(300))


@pytest.mark.nightly
@pytest.mark.parametrize("rule", ATTACKED)
def test_no_instance_of_ten_thousand_violates_a_rule(rule: str) -> None:
    assert violations(rule, 10_000, seed=7) == 0


@pytest.mark.parametrize("rule", COUNTED)
def test_a_rule_for_any_number_holds_at_a_few(rule: str) -> None:
    random = Random(1)  # noqa: S311 no secret is drawn
    assert not any(COUNTED[rule].violated(random, "") for _ in range(40))


@pytest.mark.parametrize("rule", COUNTED)
def test_a_better_rule_for_any_number_is_refuted(rule: str) -> None:
    for fault in COUNTED[rule].faults:
        random = Random(1)  # noqa: S311 no secret is drawn
        assert any(COUNTED[rule].violated(random, fault) for _ in range(400)), fault
