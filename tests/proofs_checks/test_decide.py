import json

import pytest
import sympy as sp

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.report.formats import limits
from lastiterate.proofs_checks.verdict import ClaimReport, Grade, Outcome, Status, Verdict, limit_by
from lastiterate.symbolic.checks import Cited, Engine, Identity, Inequality, IntervalInequality, UpperBound
from lastiterate.symbolic.claim import Step
from lastiterate.symbolic.notation import x, y
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import Probability

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
FALSE = Identity((x + y) ** 2, x**2 + y**2)
OPEN = Identity(sp.gamma(x) * sp.Function("f")(y), sp.Function("g")(y))
RAISES = IntervalInequality(sp.zeta(x), "<=", x, {x: (2, 3)})
WEAK = UpperBound("composition", ("linear",))
CITED = Cited(Probability(x >= 1) <= sp.Rational(1, 2), Source("A book", "Theorem 1"))

BOXED = IntervalInequality(sp.exp(-x), "<=", sp.S.One, {x: (0, 1)})


@pytest.mark.parametrize(
    ("checks", "rest", "verdict", "grade"),
    [
        ((TRUE,), {}, Verdict.PROVED, Grade.PROVED),
        ((TRUE, WEAK), {}, Verdict.SUPPORTED, Grade.NOT_REFUTED),
        ((BOXED,), {}, Verdict.SUPPORTED, Grade.CERTIFIED),
        ((BOXED,), {"assumptions": (x <= 1,)}, Verdict.PROVED, Grade.CERTIFIED),
        ((TRUE, FALSE), {}, Verdict.REFUTED, None),
        ((OPEN, FALSE), {}, Verdict.REFUTED, None),
        ((CITED, TRUE), {}, Verdict.CITED, Grade.CITED),
        ((CITED, WEAK), {}, Verdict.CITED, Grade.CITED),
        ((CITED, FALSE), {}, Verdict.REFUTED, None),
        ((FALSE,), {"kind": Step}, Verdict.GAP, None),
        ((TRUE,), {"misprint": FALSE}, Verdict.TYPO, Grade.PROVED),
        ((TRUE,), {"misprint": TRUE}, Verdict.UNDECIDED, Grade.PROVED),
        ((TRUE,), {"misprint": OPEN}, Verdict.UNDECIDED, Grade.PROVED),
        ((TRUE, OPEN), {}, Verdict.UNDECIDED, None),
        ((TRUE, RAISES), {}, Verdict.UNDECIDED, None),
        ((), {}, Verdict.UNDECIDED, None),
        ((TRUE,), {"assumptions": (x > 1, x < 1)}, Verdict.UNDECIDED, None),
    ],
)
def test_verdicts(make_claim, checks, rest, verdict, grade):
    report = decide(make_claim(*checks, **rest))
    assert report.verdict is verdict
    assert report.grade is grade


@pytest.mark.parametrize(
    ("check", "rejected"),
    [
        (TRUE.mutant("false", FALSE), True),
        (TRUE.mutant("true after all", left=TRUE.right, right=TRUE.left), False),
        (TRUE.mutant("not decided", OPEN), False),
        (IntervalInequality(x, "<=", 2 * x, {x: (0, 1)}).mutant("raises", RAISES), False),
    ],
)
def test_only_a_refutation_rejects_a_mutant(make_claim, check, rejected):
    report = decide(make_claim(check))
    assert report.mutants[0].rejected is rejected
    assert report.rejected == int(rejected)


def outcome(grade=Grade.PROVED, scope="", rests_on=()):
    status = Status.HELD if grade else Status.UNDECIDED
    return Outcome("check", Engine.DERIVATION, status, grade, scope=scope, rests_on=rests_on)


@pytest.mark.parametrize(
    ("used", "status", "grade", "scope", "rests_on"),
    [
        ((outcome(),), Status.HELD, Grade.PROVED, "", ("B",)),
        (
            (outcome(Grade.CITED, rests_on=("A book",)),),
            Status.HELD,
            Grade.CITED,
            "",
            ("B", "k (cited)", "A book"),
        ),
        (
            (outcome(), outcome(Grade.CERTIFIED, "x <= 3")),
            Status.HELD,
            Grade.CERTIFIED,
            "derived from k (x <= 3)",
            ("B", "k (x <= 3)"),
        ),
        ((outcome(), outcome(None)), Status.UNDECIDED, None, "", ("B",)),
        ((), Status.UNDECIDED, None, "", ("B",)),
    ],
)
def test_an_outcome_is_no_stronger_than_what_it_uses(used, status, grade, scope, rests_on):
    limited = limit_by(outcome(rests_on=("B",)), "k", used)
    assert (limited.status, limited.grade, limited.scope, limited.rests_on) == (status, grade, scope, rests_on)


def test_what_a_verdict_rests_on_is_printed_with_it(make_claim):
    claim = make_claim(CITED, BOXED)
    report = decide(claim)
    assert "  rests on: A book, Theorem 1\n" in describe(claim, report)
    assert list(limits([report])) == [f"{report.key} is CITED; rests on: A book, Theorem 1"]
    assert list(limits([decide(make_claim(BOXED))])) == [f"{report.key} is SUPPORTED; scope: 0 <= x <= 1"]


def test_a_report_survives_json(make_claim):
    report = decide(make_claim(TRUE.mutant("false", FALSE), misprint=FALSE))
    assert ClaimReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_a_counterexample_is_exact_and_admissible(make_claim):
    claim = make_claim(Inequality(x, "<=", y), assumptions=(x > 3, y < 5))
    (outcome,) = decide(claim).outcomes
    assert outcome.status is Status.REFUTED
    point = {name: sp.Rational(value) for name, value in outcome.counterexample.at.items()}
    assert point["x"] > 3
    assert 0 <= point["y"] < 5
    assert point["x"] > point["y"]


def test_a_mutant_differs_from_its_check_and_is_of_its_type():
    with pytest.raises(ValueError, match="differ from the check 'identity'"):
        TRUE.mutant("nothing changed", right=TRUE.right)
    with pytest.raises(TypeError, match="got Inequality"):
        TRUE.mutant("another engine", Inequality(x, "<=", y))
    with pytest.raises(TypeError, match="middle"):
        TRUE.mutant("no such field", middle=x)


def test_mutants_add_up_in_order_and_carry_none_themselves():
    check = TRUE.mutant("false", FALSE).mutant("open", OPEN)
    assert [mutant.name for mutant in check.mutants] == ["false", "open"]
    (twice,) = TRUE.mutant("twice", FALSE.mutant("thrice", OPEN)).mutants
    assert twice.mutants == ()


def test_one_assumption_needs_no_tuple_and_one_that_says_nothing_is_left_out(make_claim):
    assert make_claim(TRUE, assumptions=x > 1).assumptions == (x > 1,)
    assert make_claim(TRUE, assumptions=(x >= 0, x > 1)).assumptions == (x > 1,)
