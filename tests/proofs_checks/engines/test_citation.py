"""Consequences of cited results: premises, constants, the sum of probabilities, and what must not follow."""

from dataclasses import replace

import pytest
from sympy import Abs, Integer, Symbol, exp, sqrt

from lastiterate.proofs_checks.decide import near_misses
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.statement import as_text, of_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Cited, Consequence
from lastiterate.symbolic.notation import u, v, x, y, z
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import Constant, LeastGradient, Probability, Smooth

BOOK = Source("A book", "Theorem 1")
RATE = Cited(LeastGradient(u) <= Constant(v + sqrt(u)), BOOK, (Smooth(v), u <= 4))
SMALL = Cited(Probability(x >= 1) <= exp(-5) / v, BOOK, (v >= 1,))
AT_MOST = Consequence(LeastGradient(u) <= Constant(v + 2), (RATE,), (Smooth(v), u <= 4))
UNION = Consequence(
    Probability(z < 2) >= Integer(99) / 100, (SMALL,), (z <= x + y, y < 1, v >= 1), (x >= 1,), name="union"
)


def status(check, *assumptions):
    return decide_check(check, assumptions).status


@pytest.mark.parametrize("check", [AT_MOST, UNION, replace(UNION, covers=())])
def test_what_follows_from_what_is_cited_is_cited_and_names_its_source(check):
    outcome = decide_check(check, ())
    assert (outcome.status, outcome.grade) == (Status.HELD, Grade.CITED)
    assert outcome.rests_on == ("A book, Theorem 1",)


@pytest.mark.parametrize(
    "check",
    [
        replace(AT_MOST, given=(u <= 4,)),
        replace(AT_MOST, given=(Smooth(v), u <= 5)),
        replace(AT_MOST, conclusion=LeastGradient(u) <= Constant(v + Integer(199) / 100)),
        replace(AT_MOST, conclusion=LeastGradient(u) <= Constant(v + 2 - v / 100)),
        replace(AT_MOST, conclusion=LeastGradient(u) <= Constant(v + 2 - u)),
        replace(AT_MOST, conclusion=LeastGradient(u + 1) <= Constant(v + 2)),
        replace(AT_MOST, conclusion=LeastGradient(u) <= Constant(v + 2 + 1 / (u - 1))),
        replace(AT_MOST, conclusion=LeastGradient(u) < Constant(v + 2)),
        replace(UNION, conclusion=Probability(z < 2) >= Integer(994) / 1000),
        replace(UNION, given=(z <= x + y, y <= 2, v >= 1)),
        replace(UNION, given=(z <= x + y, y < 1)),
        replace(UNION, conclusion=Probability(z / (v - 1) < 2) >= Integer(99) / 100),
    ],
)
def test_what_does_not_follow_is_undecided(check):
    assert status(check) is Status.UNDECIDED


def test_a_cited_number_that_may_be_undefined_is_no_fact():
    cited = Cited(Probability(x >= 1) <= exp(-5) / (v - 1) ** 2, BOOK)
    check = Consequence(Probability(x >= 1) <= exp(-5) / (v - 1) ** 2, (cited,), (v >= 1,))
    assert status(check) is Status.UNDECIDED
    assert (
        status(replace(check, given=(v > 1,), conclusion=Probability(x >= 1) <= 1 / (v - 1) ** 2))
        is Status.HELD
    )


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (replace(AT_MOST, cited=(RATE, RATE)), "Exactly one cited result must have"),
        (replace(UNION, conclusion=Abs(z) <= 1), "covers needs one probability"),
        (replace(AT_MOST, given=(Smooth(v), u <= 4, u > 5)), "no sample"),
    ],
)
def test_errors(check, said):
    outcome = decide_check(check, ())
    assert outcome.status is Status.ERROR
    assert said in outcome.detail


@pytest.mark.parametrize("check", [AT_MOST, UNION])
def test_near_misses_are_rejected(check):
    tried = [decide_check(wrong, ()) for wrong in near_misses(check, ())]
    assert len(tried) >= 3
    assert all(outcome.rejected for outcome in tried)


def test_letters_of_cited_results_are_renamed_with_those_of_the_check():
    other = Symbol("u", real=True)
    cited = Cited(Probability(x >= 1) <= u, BOOK, (u >= other,))
    assert status(Consequence(Probability(x >= 1) <= u, (cited,), (u >= 3, other <= 2))) is Status.HELD
    assert status(Consequence(Probability(x >= 1) <= other, (cited,), (u >= 3, other <= 2))) is Status.UNDECIDED


def test_a_result_at_values_of_its_letters_loses_what_is_met_and_keeps_what_is_not():
    assert RATE.at({u: Integer(4)}).given == (Smooth(v),)
    never = RATE.at({u: Integer(5)})
    assert status(Consequence(LeastGradient(5) <= Constant(v + 3), (never,), (Smooth(v),))) is Status.ERROR


def test_the_cited_results_are_printed_with_what_they_suppose():
    shown = as_text(of_check(UNION))
    assert "taken from A book, Theorem 1" in shown
    assert "which supposes v >= 1" in shown
    assert "Where it fails, one of x >= 1" in shown
