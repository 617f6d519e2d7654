"""The sampling engine: what it may say, and that it never says more."""

import pytest
import sympy as sp

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines import sampling
from lastiterate.proofs_checks.engines.sampling import DIGITS, POINTS, decide
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.checks import RandomPoints, Relation
from lastiterate.symbolic.notation import T, x, y

AT_MOST, BELOW, EQUAL = "<=", "<", "=="
UNIT = {x: (0, 1)}


def decided(left: sp.Expr, relation: Relation, right: sp.Expr, box: dict, *conditions: sp.Basic) -> Outcome:
    return decide(RandomPoints(left, relation, right, box), conditions)


def test_what_holds_is_sampled_and_no_more() -> None:
    found = decided(x**2, AT_MOST, x, UNIT)
    assert (found.status, found.grade) == (Status.HELD, Grade.SAMPLED)
    assert found.detail == f"{POINTS} samples, {DIGITS} digits each"


@pytest.mark.parametrize(
    ("left", "relation", "right"),
    [(x, BELOW, x + x**2), (x**2, BELOW, x), (sp.exp(x), EQUAL, 1 + x), (x, AT_MOST, x**2)],
)
def test_what_fails_is_refuted_with_a_point_that_fails(left: sp.Expr, relation: Relation, right: sp.Expr) -> None:
    found = decided(left, relation, right, UNIT)
    assert found.status is Status.REFUTED
    assert found.counterexample is not None


def test_ends_are_tried_and_conditions_kept() -> None:
    """x < 1 fails at the end alone; a condition that leaves the end out makes it hold."""
    assert decided(x, BELOW, sp.S.One, UNIT).status is Status.REFUTED
    assert decided(x, BELOW, sp.S.One, UNIT, x < 1).status is Status.HELD


def test_a_thin_set_is_sampled_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "POINTS", 20)
    found = decided(x**2, AT_MOST, x, UNIT, x > sp.Rational(1, 2), x < sp.Rational(101, 200))
    assert found.status is Status.HELD
    assert 0 < int(found.detail.split()[0]) < 20


def test_whole_symbols_get_whole_values() -> None:
    assert decided(sp.cos(2 * sp.pi * T), EQUAL, sp.S.One, {T: (1, 20)}).status is Status.HELD


def test_a_value_that_is_not_real_is_undecided_not_passed() -> None:
    found = decided(sp.sqrt(x - 2), AT_MOST, sp.S.One, UNIT)
    assert found.status is Status.UNDECIDED
    assert found.detail.startswith("sqrt(x - 2) is not shown to be defined")


def test_no_point_no_answer() -> None:
    with pytest.raises(NoPointError, match="no sample of the box"):
        decided(x, AT_MOST, y, {x: (0, 1), y: (0, 1)}, x > 2)


def test_other_relations_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="cannot decide the relation"):
        decided(x, "<= and attained", x + 1, UNIT)


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ((x < y, y < 1), Status.UNDECIDED),
        ((x < y, y < T, T <= 1), Status.UNDECIDED),
        ((x < y, y < 2), Status.REFUTED),
        ((x <= y, y <= sp.sin(y)), Status.UNDECIDED),
    ],
)
def test_an_assumption_about_a_letter_outside_the_box_is_honoured(conditions: tuple, status: Status) -> None:
    found = decided(x, AT_MOST, sp.S.One, {x: (0, 2)}, *conditions)
    assert found.status is status
    if found.counterexample is not None:
        point = {name: sp.Rational(value) for name, value in found.counterexample.at.items()}
        assert 1 < point["x"] < point["y"] < 2
