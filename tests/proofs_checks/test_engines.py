"""Each engine on true, false and undecidable input."""

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import ENGINE_OF, decide_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.claim import (
    Engine,
    Holds,
    Identity,
    Inequality,
    Recursion,
    Relation,
    Sampled,
    Value,
)
from lastiterate.symbolic.notation import PREVIOUS, T, a, beta, c, j, lam, s, t, tau, w, x, y, z

R = sp.Rational
AT_MOST, BELOW, EQUAL, TIGHT = Relation.AT_MOST, Relation.BELOW, Relation.EQUAL, Relation.TIGHT
SPLIT = s**2 / beta + a**2 / (1 - beta)
GEOMETRIC = sp.Sum(c**-j, (j, 1, w))

HOLD = [
    (Identity(SPLIT - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta))), (beta > 0, beta < 1)),
    (Identity(GEOMETRIC, (c**-w - 1) / (1 - c)), (c < 1,)),
    (Identity(sp.Max(x - y, 0), x - y), (x > y,)),
    (Identity(sp.sqrt(x**2 * y), x * sp.sqrt(y)), ()),
    (Identity(sp.cosh(x) ** 2 - sp.sinh(x) ** 2, sp.S.One), ()),
    (Identity(z, x + 1), (sp.Eq(z, x + 1),)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c)), (c < 1,)),
    (Inequality((s + a) ** 2, AT_MOST, SPLIT), (beta > 0, beta < 1)),
    (Inequality(2 * x * y, TIGHT, x**2 + y**2), ()),
    (Inequality(sp.sqrt(x + y), AT_MOST, sp.sqrt(x) + sp.sqrt(y)), ()),
    (Inequality(x, BELOW, y, given=(x < z, z < y)), ()),
    (Inequality(T**2, AT_MOST, 3 * T), (T < 4,)),
    (Inequality(sp.Min(x, y), AT_MOST, sp.Max(x, y)), ()),
    (Holds(1 + x, AT_MOST, sp.exp(x), {x: (0, 5)}), ()),
    (Holds(1 + x, BELOW, sp.exp(x), {x: (0, 5)}), (x > 0,)),
    (Holds(1 + x**2 / 2 + x**4 / 24, AT_MOST, sp.cosh(x), {x: (0, 3)}), ()),
    (Holds(x**lam, AT_MOST, 1 + x, {x: (0, 4), lam: (R(1, 10), 1)}), ()),
    (Holds(1 + x * w, AT_MOST, (1 + x) ** w, {x: (0, 2), w: (1, 12)}), ()),
    (Holds(x * y, AT_MOST, R(11, 10), {x: (0, 2), y: (0, 2)}), (x + y < 2,)),
    (Value(sp.sqrt(2), "1.4142"), ()),
    (Value(sp.Sum(1 / j**2, (j, 1, 3)), "1.361"), ()),
    (Value(sp.Integer(1234) * 10**8, "1.234e11"), ()),
    (Sampled(sp.gamma(x + 1), EQUAL, x * sp.gamma(x), {x: (1, 5)}), ()),
]

FAIL = [
    (Identity(SPLIT - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 + beta))), (beta > 0, beta < 1)),
    (Identity(sp.sqrt(x), x), ()),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c ** (t + 1)) / (1 - c)), (c < 1,)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s / (1 - c)), (c < 1,)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * t), (c < 1,)),
    (Inequality(SPLIT, AT_MOST, (s + a) ** 2), (beta > 0, beta < 1)),
    (Inequality(2 * x * y, BELOW, x**2 + y**2), ()),
    (Inequality(x**2, EQUAL, sp.Integer(2)), (x >= 1,)),
    (Inequality(T**2, AT_MOST, 3 * T), (T < 5,)),
    (Inequality(tau, BELOW, T - 1), (tau < T,)),
    (Holds(1 + x, BELOW, sp.exp(x), {x: (0, 5)}), ()),
    (Holds(sp.exp(x), AT_MOST, 1 + x + x**2 / 2, {x: (0, 1)}), ()),
    (Holds(x * y, AT_MOST, R(99, 100), {x: (0, 2), y: (0, 2)}), (x + y < 2,)),
    (Holds(w**2, AT_MOST, sp.S(2) ** w, {w: (1, 12)}), ()),
    (Value(sp.sqrt(2), "1.4143"), ()),
    (Sampled(sp.exp(x), AT_MOST, 1 + x + x**2, {x: (0, 5)}), ()),
    (Sampled(sp.sin(x), EQUAL, x, {x: (0, 5)}), ()),
]


@pytest.mark.parametrize(("check", "assumptions"), HOLD)
def test_true_statements_hold(check, assumptions):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.HELD, outcome
    grades = {
        Engine.IDENTITY: Grade.PROVED,
        Engine.INEQUALITY: Grade.PROVED,
        Engine.ENCLOSURE: Grade.CERTIFIED,
        Engine.SAMPLING: Grade.SAMPLED,
    }
    assert outcome.grade is grades[outcome.engine]


@pytest.mark.parametrize(("check", "assumptions"), FAIL)
def test_false_statements_are_refuted_at_a_point(check, assumptions):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.REFUTED, outcome
    assert outcome.grade is None
    assert outcome.counterexample is not None
    assert outcome.counterexample.left != outcome.counterexample.right or check.relation is BELOW


@pytest.mark.parametrize(
    "check",
    [
        Inequality(x**3 * y + sp.sqrt(x + y**3) * z, AT_MOST, (x + y + z) ** 4 + 1),
        Value(sp.exp(sp.log(R(3, 2)) * sp.sqrt(2) / sp.sqrt(2)) * sp.sin(1) / sp.sin(1), "2"),
        Value(sp.sin(1) ** 2 + sp.cos(1) ** 2 - R(1, 2), "0"),
    ],
    ids=["hard", "exactly half", "on the edge of rounding"],
)
def test_an_engine_never_refutes_what_is_true(check):
    outcome = decide_check(check, ())
    assert outcome.status in (Status.UNDECIDED, Status.HELD)
    if outcome.status is Status.UNDECIDED:
        assert outcome.detail


def test_not_shown_prints_the_residue():
    hidden = sp.Function("f")(x)
    outcome = decide_check(Identity(sp.gamma(x) * hidden, sp.gamma(x) * hidden + hidden - sp.Function("g")(x)), ())
    assert outcome.status is Status.UNDECIDED
    assert "residue" in outcome.detail
    assert "g(x)" in outcome.detail


def test_tangency_inside_the_box_stays_undecided():
    outcome = decide_check(Holds(2 * x * y, AT_MOST, x**2 + y**2, {x: (0, 1), y: (0, 1)}), ())
    assert outcome.status is Status.UNDECIDED
    assert "undecided near" in outcome.detail


@pytest.mark.parametrize(
    "check",
    [
        Identity(x, x),
        Inequality(x, AT_MOST, x + 1),
        Holds(x, AT_MOST, x + 1, {x: (0, 4)}),
        Sampled(x, AT_MOST, x + 1, {x: (0, 4)}),
    ],
)
def test_assumptions_that_no_sample_meets_are_an_error(check):
    outcome = decide_check(check, (x > 2, x < 1))
    assert outcome.status is Status.ERROR
    assert "no " in outcome.detail


@pytest.mark.parametrize(
    "check",
    [
        Inequality(c**t, AT_MOST, sp.S.One),
        Inequality(x, Relation.UP_TO_CONSTANT, y),
        Holds(x, AT_MOST, y, {x: (0, 1)}),
        Holds(x, AT_MOST, 2 * x, {x: (1, 0)}),
        Holds(sp.zeta(x), AT_MOST, 2 * x, {x: (2, 3)}),
        Holds(x, EQUAL, x, {x: (0, 1)}),
        Value(x, "1.0"),
        Value(sp.S.One, "one"),
    ],
)
def test_what_an_engine_cannot_read_is_an_error(check):
    assert decide_check(check, ()).status is Status.ERROR


def test_a_relaxed_integer_does_not_refute():
    """Between 1 and 2 the parabola is negative, but no integer lies there."""
    outcome = decide_check(Inequality(-(T - 1) * (T - 2), AT_MOST, sp.S.Zero), ())
    assert outcome.status is Status.HELD


def test_a_case_distinction_does_not_cut_off_points():
    """y / y = 1 needs y != 0, which must not be assumed for the other case."""
    safe = sp.Piecewise((x / y, y > 0), (-sp.S.One, True))
    outcome = decide_check(Inequality(sp.S.Zero, AT_MOST, safe), ())
    assert outcome.status is not Status.HELD


def test_every_check_type_has_an_engine():
    from typing import get_args

    from lastiterate.symbolic.claim import Check

    assert set(ENGINE_OF) == set(get_args(Check))


def test_an_assumption_that_z3_cannot_read_still_guards_a_refutation():
    """Without exp(x) < 2 there are counterexamples from x = 1 on."""
    outcome = decide_check(Inequality(x**2, AT_MOST, x), (sp.exp(x) < 2,))
    assert outcome.status is Status.UNDECIDED


def test_a_hanging_engine_is_an_error(monkeypatch):
    import time

    from lastiterate.proofs_checks import engines
    from lastiterate.proofs_checks.engines import identity

    monkeypatch.setattr(engines, "SECONDS", 1)
    monkeypatch.setattr(identity, "decide", lambda *_: time.sleep(30))
    outcome = decide_check(Identity(x, x), ())
    assert outcome.status is Status.ERROR
    assert "after 1 s" in outcome.detail
