"""What is false or undefined does not stand, what is true is not refuted and most of it is proved, and nothing raises.

An entry is (why, check or claim, assumptions), and beside a false formula the point at which it fails.
"""

import algebra
import analysis
import privacy
import pytest
import referee_false
import referee_means
import referee_true
import referee_vectors
import second_referee
import sequences
import sympy as sp

from lastiterate.proofs_checks import decide as deciding
from lastiterate.proofs_checks.verdict import STANDS, ClaimReport, Verdict
from lastiterate.symbolic.checks import Identity, Relation
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import Source

FALSE = {
    "algebra": algebra.FALSE,
    "analysis": analysis.FALSE,
    "sequences": [*sequences.FALSE, *referee_means.FALSE, *referee_vectors.FALSE],
    "privacy": privacy.FALSE,
    "referee": referee_false.FALSE,
    "second referee": second_referee.FALSE,
}
TRUE = {
    "algebra": algebra.TRUE,
    "analysis": analysis.TRUE,
    "sequences": [*sequences.TRUE, *referee_means.TRUE, *referee_vectors.TRUE],
    "privacy": privacy.TRUE,
    "referee": referee_true.TRUE,
    "second referee": second_referee.TRUE,
}
PROVED_AT_LEAST = {
    "algebra": 55,
    "analysis": 20,
    "sequences": 70,
    "privacy": 20,
    "referee": 117,
    "second referee": 8,
}


@pytest.fixture(autouse=True)
def _no_near_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """They say nothing of the verdict, and are most of the work."""
    monkeypatch.setattr(deciding, "near_misses", lambda *_: [])


def decided(entry) -> ClaimReport:
    what, said, assumptions, *_ = entry
    claim = (
        said
        if isinstance(said, Claim)
        else Claim("planted/claim", what, Source("a toy", "Lemma 1"), said, assumptions=assumptions)
    )
    report = deciding.decide(claim)
    assert not any("stopped with" in outcome.detail for outcome in report.outcomes), (what, report)
    return report


@pytest.mark.parametrize("table", FALSE)
def test_nothing_false_or_undefined_stands(table: str) -> None:
    reports = [(entry[0], decided(entry)) for entry in FALSE[table]]
    stands = [one for one in reports if one[1].verdict in (*STANDS, Verdict.TYPO)]
    assert not [one for one in stands if one[1].verdict is not Verdict.SUPPORTED or not one[1].scope]


@pytest.mark.parametrize(
    "table", [pytest.param(one, marks=[pytest.mark.nightly] * (one in {"referee", "analysis"})) for one in TRUE]
)
def test_nothing_true_is_refuted_and_most_of_it_is_proved(table: str) -> None:
    reports = [(entry[0], decided(entry)) for entry in TRUE[table]]
    assert not [one for one in reports if one[1].verdict in (Verdict.REFUTED, Verdict.GAP)]
    less = [(why, str(one.verdict), one.outcomes) for why, one in reports if one.verdict is not Verdict.PROVED]
    assert len(reports) - len(less) >= PROVED_AT_LEAST[table], less


def test_nothing_unclear_is_refuted() -> None:
    reports = [decided(entry) for entry in referee_vectors.UNCLEAR]
    assert not [one for one in reports if one.verdict is Verdict.REFUTED]


def test_there_are_many_of_both_kinds() -> None:
    assert sum(map(len, FALSE.values())) >= 600
    assert sum(map(len, TRUE.values())) >= 380


def _number(side: sp.Expr, point: dict) -> sp.Expr:
    taken = side.doit() if side.has(sp.Derivative) else side  # else what cancels would be cancelled
    return sp.N(taken.subs(point).doit(), 30)


def _holds(check, point: dict) -> bool:
    """Whether the relation holds at a point, by Sympy's numbers; undefined is not true."""
    values = [_number(side, point) for side in (check.left, check.right)]
    over_complex = any(symbol.is_real is not True for symbol in point)
    if any(
        not one.is_number or not one.is_finite or (one.is_real is False and not over_complex) for one in values
    ):
        return False
    relation = Relation.EQUAL if isinstance(check, Identity) else getattr(check, "relation", Relation.AT_MOST)
    gap = values[0] - values[1] * (getattr(check, "constant", None) or 1)
    if relation is Relation.EQUAL:
        return bool(abs(gap) < 1e-20)
    return bool(gap < -1e-20 if relation is Relation.BELOW else gap < 1e-20)


@pytest.mark.parametrize("table", ["algebra", "analysis"])
def test_a_false_formula_fails_at_the_point_beside_it(table: str) -> None:
    points = [(why, check, given, at) for why, check, given, at in FALSE[table] if at]
    assert len(points) >= 45
    for why, check, given, at in points:
        point = {symbol: sp.sympify(value) for symbol, value in at.items()}
        assert all(one.subs(point) == sp.true for one in (*given, *getattr(check, "given", ()))), why
        assert not _holds(check, point), why
