"""Conditions on boxes: what is said of all of a box must be true at every point of it."""

import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.proofs_checks.engines.branch import interval_of, rational, short_point, split_point, status_on
from lastiterate.symbolic.notation import x, y

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
