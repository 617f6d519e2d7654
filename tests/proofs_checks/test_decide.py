import json

import pytest
import sympy as sp

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import ClaimReport, Grade, Status, Verdict
from lastiterate.symbolic.claim import Engine, Holds, Identity, Inequality, Mutant, Relation, Role, Sampled
from lastiterate.symbolic.notation import x, y

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
FALSE = Identity((x + y) ** 2, x**2 + y**2)
OPEN = Identity(sp.gamma(x) * sp.Function("f")(y), sp.Function("g")(y))
RAISES = Holds(sp.zeta(x), Relation.AT_MOST, x, {x: (2, 3)})
WEAK = Sampled(x, Relation.AT_MOST, x + 1, {x: (0, 1)})


@pytest.mark.parametrize(
    ("checks", "rest", "verdict", "grade"),
    [
        ((TRUE,), {}, Verdict.HOLDS, Grade.PROVED),
        ((TRUE, WEAK), {}, Verdict.HOLDS, Grade.SAMPLED),
        ((TRUE, FALSE), {}, Verdict.REFUTED, None),
        ((OPEN, FALSE), {}, Verdict.REFUTED, None),
        ((FALSE,), {"role": Role.STEP}, Verdict.GAP, None),
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
    report = decide(make_claim(checks=checks, **rest))
    assert report.verdict is verdict
    assert report.grade is grade


@pytest.mark.parametrize(
    ("mutant", "rejected"),
    [
        (Mutant("false", FALSE, Engine.IDENTITY), True),
        (Mutant("true after all", TRUE, Engine.IDENTITY), False),
        (Mutant("not decided", OPEN, Engine.IDENTITY), False),
        (Mutant("raises", RAISES, Engine.ENCLOSURE), False),
        (Mutant("another engine named", FALSE, Engine.INEQUALITY), False),
    ],
)
def test_only_a_refutation_by_the_named_engine_rejects_a_mutant(make_claim, mutant, rejected):
    report = decide(make_claim(checks=(TRUE,), mutants=(mutant,)))
    assert report.mutants[0].rejected is rejected
    assert report.rejected == int(rejected)


def test_a_report_survives_json(make_claim):
    mutants = (Mutant("false", FALSE, Engine.IDENTITY),)
    report = decide(make_claim(checks=(TRUE,), mutants=mutants, misprint=FALSE))
    assert ClaimReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_a_counterexample_is_exact_and_admissible(make_claim):
    claim = make_claim(checks=(Inequality(x, Relation.AT_MOST, y),), assumptions=(x > 3, y < 5))
    (outcome,) = decide(claim).outcomes
    assert outcome.status is Status.REFUTED
    point = {name: sp.Rational(value) for name, value in outcome.counterexample.at.items()}
    assert point["x"] > 3
    assert 0 <= point["y"] < 5
    assert point["x"] > point["y"]
