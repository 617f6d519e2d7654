"""Branch and bound: what it shows, and where it must stop without an answer."""

from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.proofs_checks.engines import decide_check, enclosure
from lastiterate.proofs_checks.engines.enclosure import (
    BoxAnswer,
    BoxProblem,
    Edges,
    interval_of,
    prove_on_box,
    rational,
    short_point,
    shown_on,
    split_point,
    status_on,
    witness_at,
)
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import IntervalInequality
from lastiterate.symbolic.notation import t, x, xi, y

COSH = sp.cosh(x) - 1 - x**2 / 2 - x**4 / 24
"""At least 0, and too flat at 0 to be told from 0 there without its derivatives."""


def box(*ends: tuple[int, int]) -> Edges:
    return tuple((fmpq(low), fmpq(high)) for low, high in ends)


def test_a_gap_that_vanishes_on_its_least_face_is_shown_at_once_though_conditions_cut_the_box() -> None:
    found = prove_on_box(x**2 - x, (x, y), box((1, 2), (0, 1)), (x + y < sp.Rational(5, 2),))
    assert (found.held, found.witness, found.boxes) == (True, None, 1)


def test_a_least_face_that_is_not_shown_shows_nothing() -> None:
    """y^4 - 4 y^2 + 4 touches 0 at an irrational point."""
    found = prove_on_box(COSH + y**4 - 4 * y**2 + 4, (x, y), box((0, 3), (0, 2)), budget=300)
    assert (found.held, found.witness) == (False, None)
    assert found.stuck.startswith("undecided near x in [")


def test_a_wide_box_is_split_down_to_where_the_gap_is_small() -> None:
    gap = (x - sp.Rational(3, 2)) ** 2 + sp.Rational(1, 100)
    assert prove_on_box(gap.expand(), (x,), ((fmpq(0), fmpq(10) ** 100),)).held


def test_a_search_ends_where_boxes_are_too_narrow() -> None:
    found = prove_on_box((x + y) ** 2 - 4 * x * y, (x, y), box((0, 1), (0, 1)))
    assert not found.held
    assert found.stuck
    assert found.boxes < 2000


def test_a_face_where_the_gap_is_undefined_is_not_taken_for_a_zero() -> None:
    found = prove_on_box(sp.sinh(x) / x - 1, (x,), box((0, 3)), (x > 0,), budget=200)
    assert (found.held, found.witness) == (False, None)
    assert found.stuck.startswith("undecided near x in [0,")


def test_sides_that_are_undefined_are_noticed_before_many_boxes_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budgets: list[int] = []

    def noted(*asked: Any, **how: Any) -> BoxAnswer:
        budgets.append(how["budget"])
        return prove_on_box(*asked, **how)

    monkeypatch.setattr(enclosure, "prove_on_box", noted)
    outcome = decide_check(IntervalInequality(sp.log(xi), "<=", xi - 1, {xi: (-1, 3)}), ())
    assert "log(xi) is not shown to be defined on the box" in outcome.detail
    assert max(budgets) <= 1000


def test_a_zero_that_balls_cannot_tell_breaks_a_strict_claim_alone() -> None:
    gap = sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1
    for strict in (False, True):
        problem = BoxProblem(gap, strict=strict, symbols=(x,), conditions=(), root=box((0, 2)), budget=10)
        assert witness_at(problem, (fmpq(1),)) == ({x: 1} if strict else None)
        below = BoxProblem(
            gap - 1, strict=strict, symbols=(x,), conditions=(x > 3,), root=box((0, 2)), budget=10
        )
        assert witness_at(below, (fmpq(1),)) is None, "no admissible point"


def test_what_fails_where_no_number_is_as_declared_breaks_nothing() -> None:
    broken = sp.Symbol("broken", real=True, integer=False)
    problem = BoxProblem(
        broken * (1 - broken), strict=True, symbols=(broken,), conditions=(), root=box((0, 1)), budget=10
    )
    assert witness_at(problem, (fmpq(0),)) is None


def test_a_whole_number_at_which_an_assumption_is_not_told_refutes_nothing() -> None:
    """At 0 alone t (cos(1e-200) - 1) is not below 0, and balls do not tell it from 0 elsewhere."""
    unclear = t * (sp.cos(sp.Rational(1, 10**200)) - 1) >= 0
    told = decide_check(IntervalInequality(t, "<=", sp.S.Zero, {t: (0, 3)}), (unclear,))
    assert told.status is Status.UNDECIDED


THIRD, THIN = sp.Rational(1, 3), sp.Rational(1, 10**30)


@pytest.mark.parametrize(
    ("gap", "edges", "conditions", "strict"),
    [
        (1 + THIN / (THIRD - x), box((0, 1)), (), False),  # a pole, after which it is negative for 1e-30
        (sp.Piecewise((x, x < THIRD), (x - 2, x < THIRD + THIN), (x, True)), box((0, 1)), (), False),  # a jump
        (x * (3 * y**2 - 1) ** 2, box((0, 3), (0, 1)), (x > 0,), True),  # 0 at an irrational y, whatever x is
        (x + (3 * y**2 - 1) ** 2, box((0, 3), (0, 1)), (), True),  # 0 at an irrational y on its least face
        (
            COSH - THIN,
            box((0, 3), (0, 1)),
            (y * (1 - y) > sp.Rational(1, 5),),
            False,
        ),  # below 0 on its least face
    ],
)
def test_a_derivative_does_not_show_what_is_false(
    monkeypatch: pytest.MonkeyPatch, gap: sp.Expr, edges: Edges, conditions: tuple[sp.Basic, ...], strict: bool
) -> None:
    monkeypatch.setattr(enclosure, "_NEAR", 100)
    ends = {symbol: tuple(map(rational, edge)) for symbol, edge in zip((x, y), edges, strict=False)}
    check = IntervalInequality(sp.S.Zero, "<" if strict else "<=", gap, ends)
    assert decide_check(check, conditions).status is not Status.HELD


def test_a_least_face_that_the_conditions_exclude_refutes_nothing() -> None:
    """Its least value is below 0, where x = 0."""
    found = prove_on_box(COSH - THIN, (x,), box((0, 3)), (x > 1,), budget=40)
    assert found.witness is None


@pytest.mark.parametrize(
    "condition",
    [x > 0, sp.Ne(x, 0), sp.Eq(x, 0), sp.And(x <= 1, y > 0), sp.Or(x > 0, y > 0), sp.LambertW(x) > 0],
)
def test_what_does_not_hold_all_over_a_box_is_not_shown_there(condition: sp.Basic) -> None:
    unit = (sp.S.Zero, sp.S.One)
    assert not shown_on({x: unit, y: unit})((), condition)


RELATIONS = (sp.Gt, sp.Ge, sp.Lt, sp.Le)
LEAVES = st.builds(
    lambda relation, a, b, level: relation(a * x + b * y, level),
    st.sampled_from(RELATIONS),
    st.integers(-3, 3),
    st.integers(-3, 3),
    st.integers(-4, 4),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.builds(And, inner, inner), st.builds(Or, inner, inner), st.builds(Not, inner)),
    max_leaves=4,
)
QUARTERS = st.builds(fmpq, st.integers(0, 16), st.just(4))
EDGES = st.tuples(QUARTERS, QUARTERS).map(lambda ends: (min(ends), max(ends)))


@given(CONDITIONS, EDGES, EDGES, st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=150)
def test_a_status_is_true_at_every_point(
    condition: Boolean, first: tuple[fmpq, fmpq], second: tuple[fmpq, fmpq], i: int, j: int
) -> None:
    found = status_on(condition, (x, y), [interval_of(first), interval_of(second)])
    point = {
        symbol: rational(low + (high - low) * fmpq(share, 4))
        for symbol, (low, high), share in ((x, first, i), (y, second, j))
    }
    if found is not None:
        assert bool(condition.subs(point)) is found


def test_the_status_on_the_box_from_1_to_2(subtests: pytest.Subtests) -> None:
    for condition, found in [
        (x > 1, None),
        (x >= 1, True),
        (x > sp.Rational(1, 2), True),
        (x > 2, False),
        (x >= 2, None),
        (x < 1, False),
        (x <= 1, None),
        (Or(x > 3, x >= 1), True),
        (Or(x > 3, x > 2), False),
        (Or(x > 3, x > 1), None),
        (And(x >= 1, x <= 2), True),
        (And(x >= 1, x > 2), False),
        (And(x >= 1, x > 1), None),
        (Not(Or(x > 3, x > 2), evaluate=False), True),
        (Not(x > 1, evaluate=False), None),
        (sp.Eq(x, 1), None),
        (sp.true, True),
        (sp.false, False),
    ]:
        with subtests.test(condition=condition, found=found):
            assert status_on(condition, (x,), [interval_of((fmpq(1), fmpq(2)))]) is found


@given(QUARTERS, QUARTERS)
def test_a_box_is_split_inside(a: fmpq, b: fmpq) -> None:
    if a == b:
        return
    edge = (min(a, b), max(a, b))
    for point in (split_point(edge), short_point(edge)):
        assert edge[0] < point < edge[1]


def test_scales_are_split_near_their_geometric_mean_and_points_have_short_names() -> None:
    assert abs(split_point((fmpq(1, 100), fmpq(100))) - 1) < fmpq(1, 100)
    assert split_point((fmpq(1), fmpq(16))) == fmpq(17, 2)
    assert short_point((fmpq(314, 100), fmpq(315, 100))) == fmpq(22, 7)


def test_where_no_short_number_lies_inside_the_middle_is_taken() -> None:
    tiny = (fmpq(1, 10**9), fmpq(1, 10**7))
    assert split_point(tiny) == (tiny[0] + tiny[1]) / 2
    narrow = (fmpq(1, 3) + fmpq(1, 10**9), fmpq(1, 3) + fmpq(3, 10**9))
    assert short_point(narrow) == fmpq(1, 3) + fmpq(2, 10**9)
