"""Counterexamples come out again from their stored parameters, for every kind of check and on the real ledger."""

from dataclasses import replace

import pytest
import sympy as sp
from counterexamples import recompute

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import select
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Identity,
    Inequality,
    IntervalInequality,
    Printed,
    Recursion,
    Units,
    UpperBound,
    Value,
)
from lastiterate.symbolic.notation import PREVIOUS, D, K, alpha, c, s, t, x, y

CLAIMS = ledger.claims()

CHECKS = (
    Identity((x + y) ** 2, x**2 + y**2),
    Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c ** (t + 1)) / (1 - c)),
    Inequality(x * y, "<=", x + y),
    Inequality(x, "<", x),
    IntervalInequality(sp.exp(x), "<=", 1 + x, {x: (0, 1)}),
    Value(sp.pi, "3.15"),
    UpperBound("composition", ("linear",), {K: K / 2}),
    UpperBound("output_perturbation", ("clamped_linear",)),
    Units(x + K, D),
)


def counterexample(key, digits=50):
    (claim,) = select(CLAIMS, keys=(key,))
    (report,) = run([claim], jobs=1, cache=ReportCache())
    return recompute(claim, report, digits)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: type(check).__name__)
def test_every_kind_of_check(make_claim, check):
    claim = make_claim(check, assumptions=(alpha > 1 if isinstance(check, UpperBound) else c < 1,))
    report = decide(claim)
    assert report.verdict is Verdict.REFUTED
    stored = report.outcomes[0].counterexample
    (again,) = recompute(claim, report, digits=60)
    assert again.certain
    assert again.found.at == stored.at
    assert again.found.relation == stored.relation


def test_more_digits_are_more_digits(make_claim):
    claim = make_claim(Value(sp.pi, "3.15"))
    (again,) = recompute(claim, decide(claim), digits=100)
    assert again.found.left.startswith(
        "[3.14159265358979323846264338327950288419716939937510582097494459230781640628620"
    )


def test_parameters_that_do_not_refute_are_not_certain(make_claim):
    claim = make_claim(CHECKS[0])
    report = decide(claim)
    outcome = report.outcomes[0]
    harmless = replace(outcome.counterexample, at={"x": "0", "y": "1"})
    changed = replace(report, outcomes=(replace(outcome, counterexample=harmless),))
    assert not recompute(claim, changed)[0].certain


def test_what_holds_has_no_counterexample_and_a_misprint_has(make_claim):
    right = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
    claim = make_claim(right)
    assert recompute(claim, decide(claim)) == ()
    printed = make_claim(right, misprint=CHECKS[0])
    assert [again.certain for again in recompute(printed, decide(printed))] == [True]


def _wrong(*verdicts):
    locked = read_lock()
    return [claim.key for claim in CLAIMS if locked[claim.key].verdict in verdicts]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("part", range(6))
def test_every_wrong_claim_of_the_ledger_has_counterexamples_that_come_out_again(part):
    stopped = {claim.key for claim in CLAIMS if all(isinstance(check, Printed) for check in claim.checks)}
    # a printed proof stops at a line, not at numbers
    for key in sorted(set(_wrong("REFUTED", "GAP", "TYPO")) - stopped)[part::6]:
        found = counterexample(key)
        assert found, key
        assert all(again.certain for again in found), key


def test_what_is_refuted_is_so_by_two_means():
    for key in _wrong("REFUTED"):
        means = {again.check for again in counterexample(key, digits=5)}
        assert len(means) >= 2, key
