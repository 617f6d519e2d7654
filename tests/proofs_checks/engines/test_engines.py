"""Each engine on true, false and undecidable input."""

from dataclasses import dataclass
from threading import Thread

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import decide_check, enclosure, inequality, z3_answers
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.checks import (
    Check,
    Derived,
    Engine,
    Identity,
    Inequality,
    IntervalInequality,
    Recursion,
    TwoSided,
    Value,
)
from lastiterate.symbolic.notation import PREVIOUS, T, a, beta, c, j, lam, s, t, tau, w, x, y, z
from lastiterate.symbolic.unevaluated import put

R = sp.Rational
AT_MOST, BELOW, EQUAL, TIGHT = "<=", "<", "==", "<= and attained"
SPLIT = s**2 / beta + a**2 / (1 - beta)
GEOMETRIC = sp.Sum(c**-j, (j, 1, w))

HOLD = [
    (
        Identity(SPLIT - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta))),
        (beta > 0, beta < 1),
    ),
    (Identity(GEOMETRIC, (c**-w - 1) / (1 - c)), (c < 1,)),
    (Identity(sp.Max(x - y, 0), x - y), (x > y,)),
    (Identity(put(sp.sqrt(c * y), {c: x**2}), x * sp.sqrt(y)), ()),
    (Identity(sp.cosh(x) ** 2 - sp.sinh(x) ** 2, sp.S.One), ()),
    (Identity(z**2, (x + 1) ** 2), (sp.Eq(z, x + 1),)),
    (Identity(z**2, (x + 1) ** 2), (sp.Eq(x + 1, z),)),
    (Identity((x + y) ** 2, x**2 + y**2 + 2 * x * y), (sp.Eq(x * y, 1),)),
    (Identity(sp.Max(x, y), y), (y > x,)),
    (Identity(sp.Abs(x - 2), x - 2), (x > y, y > z, z > 2)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c)), (c < 1,)),
    (Inequality((s + a) ** 2, AT_MOST, SPLIT), (beta > 0, beta < 1)),
    (Inequality(2 * x * y, TIGHT, x**2 + y**2), ()),
    (Inequality(sp.sqrt(x + y), TIGHT, sp.sqrt(x) + sp.sqrt(y), attained=(sp.Eq(y, 0),)), ()),
    (Inequality(sp.sqrt(x + y), AT_MOST, sp.sqrt(x) + sp.sqrt(y)), ()),
    (Inequality(x, BELOW, y, given=(x < z, z < y)), ()),
    (Inequality(T**2, AT_MOST, 3 * T), (T < 4,)),
    (Inequality(sp.Min(x, y), AT_MOST, sp.Max(x, y)), ()),
    (IntervalInequality(1 + x, AT_MOST, sp.exp(x), {x: (0, 5)}), ()),
    (IntervalInequality(1 + x**2 / 2 + x**4 / 24, AT_MOST, sp.cosh(x), {x: (0, 3)}), ()),
    (IntervalInequality(x**lam, AT_MOST, 1 + x, {x: (0, 4), lam: (R(1, 10), 1)}), ()),
    (IntervalInequality(1 + x * w, AT_MOST, (1 + x) ** w, {x: (0, 2), w: (1, 12)}), ()),
    (IntervalInequality(w**2, AT_MOST, sp.S(2) ** w, {w: (1, 12)}), (w >= 4,)),
    (IntervalInequality(x * y, AT_MOST, R(11, 10), {x: (0, 2), y: (0, 2)}), (x + y < 2,)),
    (Value(sp.sqrt(2), "1.4142"), ()),
    (Value(sp.Sum(1 / j**2, (j, 1, 3)), "1.361"), ()),
    (Value(sp.Integer(1234) * 10**8, "1.234e11"), ()),
]

PRODUCT = Identity(x * (x + 1), x**2 + x)

FAIL = [
    (
        Identity(SPLIT - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 + beta))),
        (beta > 0, beta < 1),
    ),
    (Identity(sp.sqrt(x), x), ()),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c ** (t + 1)) / (1 - c)), (c < 1,)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s / (1 - c)), (c < 1,)),
    (Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * t), (c < 1,)),
    (Inequality(SPLIT, AT_MOST, (s + a) ** 2), (beta > 0, beta < 1)),
    (Inequality(2 * x * y, BELOW, x**2 + y**2), ()),
    (Inequality(x**2, EQUAL, sp.Integer(2)), (x >= 1,)),
    (Inequality(T**2, AT_MOST, 3 * T), (T < 5,)),
    (Inequality(tau, BELOW, T - 1), (tau < T,)),
    (IntervalInequality(1 + x, BELOW, sp.exp(x), {x: (0, 5)}), ()),
    (IntervalInequality(sp.exp(x), AT_MOST, 1 + x + x**2 / 2, {x: (0, 1)}), ()),
    (IntervalInequality(x * y, AT_MOST, R(99, 100), {x: (0, 2), y: (0, 2)}), (x + y < 2,)),
    (IntervalInequality(w**2, AT_MOST, sp.S(2) ** w, {w: (1, 12)}), ()),
    (Value(sp.sqrt(2), "1.4143"), ()),
]


@pytest.mark.parametrize(("check", "assumptions"), HOLD)
def test_true_statements_hold(check, assumptions):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.HELD, outcome
    grades = {
        Engine.IDENTITY: Grade.PROVED,
        Engine.INDUCTION: Grade.PROVED,
        Engine.INEQUALITY: Grade.PROVED,
        Engine.ENCLOSURE: Grade.CERTIFIED,
    }
    assert outcome.grade is grades[outcome.engine]


@pytest.mark.parametrize(("check", "assumptions"), FAIL)
def test_false_statements_are_refuted_at_a_point(check, assumptions):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.REFUTED, outcome
    assert outcome.grade is None
    assert outcome.counterexample is not None
    assert outcome.counterexample.left != outcome.counterexample.right or check.sign == BELOW


@pytest.mark.parametrize(
    "check",
    [
        Inequality(x**3 * y + sp.sqrt(x + y**3) * z, AT_MOST, (x + y + z) ** 4 + 1),
        Value(sp.exp(sp.log(R(3, 2)) * sp.sqrt(2) / sp.sqrt(2)) * sp.sin(1) / sp.sin(1), "2"),
        Value(sp.sin(1) ** 2 + sp.cos(1) ** 2 - R(1, 2), "0"),
    ],
    ids=["hard", "exactly half", "on the edge of rounding"],
)
def test_an_engine_never_refutes_what_is_true(check, monkeypatch):
    monkeypatch.setattr(z3_answers, "EFFORT", 50_000)
    outcome = decide_check(check, ())
    assert outcome.status in (Status.UNDECIDED, Status.HELD)
    if outcome.status is Status.UNDECIDED:
        assert outcome.detail


@pytest.mark.parametrize(
    ("check", "status", "why"),
    [
        (Inequality(x, TIGHT, x + s), Status.REFUTED, "nowhere equal"),
        (Inequality(x, TIGHT, x + x * y), Status.UNDECIDED, "no symbol is zero"),
        (Inequality(x, TIGHT, x + y, attained=(sp.Eq(x, 0),)), Status.UNDECIDED, "not shown to be equal"),
        (
            Inequality(x, TIGHT, x + y, (y <= 1,), attained=(sp.Eq(y, 0), x > y + 1, x < 1)),
            Status.UNDECIDED,
            "no admi",
        ),
        (Inequality(x, TIGHT, x + y, attained=(sp.Eq(y, 0),)), Status.HELD, ""),
    ],
)
def test_a_bound_is_attained_where_it_says_or_at_no_zero(check, status, why):
    """Equality at y = 0 alone would pass any bound with a term in y for a sharp one."""
    outcome = decide_check(check, ())
    assert outcome.status is status, outcome
    assert why in outcome.detail


def test_not_shown_prints_the_residue():
    hidden = sp.Function("f")(x)
    outcome = decide_check(Identity(sp.erf(x) * hidden, sp.erf(x) * hidden + hidden - sp.Function("g")(x)), ())
    assert outcome.status is Status.UNDECIDED
    assert "residue" in outcome.detail
    assert "g(x)" in outcome.detail


@pytest.mark.parametrize(
    ("initial", "step", "index"),
    [
        (sp.Function("g")(0), PREVIOUS + sp.Function("f")(t) - sp.Function("f")(t - 1), 0),
        (sp.Function("h")(0), PREVIOUS + sp.Function("f")(t) - sp.Function("f")(t - 1), 0),
        (sp.Function("f")(0), PREVIOUS + sp.Function("g")(t), 1),
    ],
)
def test_a_recursion_needs_its_base_case_and_its_step(initial, step, index):
    outcome = decide_check(Recursion(t, initial, step, sp.Function("f")(t)), ())
    assert (outcome.status, outcome.detail) == (Status.REFUTED, f"fails in a run at t = {index}")


def test_an_assumption_about_the_index_of_a_recursion_is_refused():
    outcome = decide_check(Recursion(t, sp.S.Zero, PREVIOUS + 1, t), (t > 100,))
    assert (outcome.status, "may not contain the index" in outcome.detail) == (Status.ERROR, True)


def test_an_equation_that_defines_no_symbol_is_left_to_z3():
    outcome = decide_check(Identity(2 * x * y, sp.Integer(2)), (sp.Eq(x * y, 1),))
    assert outcome.status is Status.HELD
    assert outcome.detail.startswith("the difference is zero by z3")


def test_a_bound_that_is_not_attained_is_not_tight():
    outcome = decide_check(Inequality(x, TIGHT, x + 1), ())
    assert outcome.status is Status.REFUTED
    assert outcome.detail == "the bound holds, but z3 shows that the sides are nowhere equal"


def test_premises_that_z3_cannot_decide_need_a_sample(monkeypatch):
    """What follows from a contradiction is not proved, even where z3 does not see the contradiction."""
    premises = (x > 1, y > 1)

    monkeypatch.setattr(inequality, "consistent", lambda _: None)
    assert decide_check(Inequality(x, AT_MOST, x * y), premises).status is Status.HELD
    outcome = decide_check(Inequality(x, AT_MOST, x * y), (x > 2, x < 1))
    assert outcome.status is Status.ERROR
    assert outcome.detail.startswith("no sample satisfies")


def test_a_box_that_says_nothing_of_an_assumption_does_not_refute():
    outcome = decide_check(IntervalInequality(x, AT_MOST, R(1, 2), {x: (0, 1)}), (x < y,))
    assert outcome.status is Status.UNDECIDED
    assert outcome.detail == "fails at a point, but the box leaves open whether x < y"


def test_a_box_without_a_whole_number_holds_nothing():
    outcome = decide_check(IntervalInequality(w, AT_MOST, 2 * w, {w: (R(1, 3), R(2, 3))}), ())
    assert outcome.status is Status.ERROR
    assert outcome.detail.startswith("no sample satisfies the assumptions")


def test_too_many_whole_points_are_refused():
    outcome = decide_check(IntervalInequality(w, AT_MOST, 2 * w, {w: (1, enclosure.MAX_GRID + 1)}), ())
    assert outcome.status is Status.ERROR
    most = enclosure.MAX_GRID
    assert f"the box has {most + 1} integer points, but at most {most} are tried" in outcome.detail


def test_tangency_inside_the_box_stays_undecided():
    touching = sp.exp(x**4 - x**2 + R(1, 4)) - 1  # at an irrational point
    outcome = decide_check(IntervalInequality(sp.S.Zero, AT_MOST, touching, {x: (0, 1)}), ())
    assert outcome.status is Status.UNDECIDED
    assert "undecided near" in outcome.detail


@pytest.mark.parametrize(
    "check",
    [
        PRODUCT,
        Inequality(x, AT_MOST, x + 1),
        IntervalInequality(x, AT_MOST, x + 1, {x: (0, 4)}),
    ],
)
def test_assumptions_that_no_sample_meets_are_an_error(check):
    outcome = decide_check(check, (x > 2, x < 1))
    assert outcome.status is Status.ERROR
    assert "no " in outcome.detail


@pytest.mark.parametrize(
    "check",
    [
        Inequality(sp.I * c, AT_MOST, sp.S.One),
        Inequality(x, "<~", y),
        IntervalInequality(x, AT_MOST, y, {x: (0, 1)}),
        IntervalInequality(x, AT_MOST, 2 * x, {x: (1, 0)}),
        IntervalInequality(sp.zeta(x), AT_MOST, 2 * x, {x: (2, 3)}),
        IntervalInequality(x, EQUAL, 2 * x, {x: (0, 1)}),
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
    """x / y needs y != 0, which must not be assumed for the other case."""
    safe = sp.Piecewise((x / y, y > 0), (-sp.S.One, True))
    outcome = decide_check(Inequality(sp.S.Zero, AT_MOST, safe), ())
    assert outcome.status is not Status.HELD


def test_every_check_type_has_an_engine():
    from lastiterate.symbolic import checks

    types = [value for value in vars(checks).values() if isinstance(value, type)]
    decided = [
        kind for kind in types if issubclass(kind, checks.Check) and kind not in (checks.Check, checks.TwoSided)
    ]
    assert {kind.engine for kind in decided if hasattr(kind, "engine")} == set(Engine)


def test_an_assumption_that_z3_cannot_read_still_guards_a_refutation():
    """Without sinh(x) < 1 there are counterexamples from x = 1 on."""
    outcome = decide_check(Inequality(x**2, AT_MOST, x), (sp.sinh(x) < 1,))
    assert outcome.status is Status.UNDECIDED


def test_an_engine_answers_in_another_thread_too():
    found = []
    worker = Thread(target=lambda: found.append(decide_check(PRODUCT, ())))
    worker.start()
    worker.join()
    assert found[0].status is Status.HELD


@pytest.mark.parametrize(
    ("check", "assumptions"),
    [
        (Identity(x + x, 2 * x), ()),
        (Inequality(x, AT_MOST, x), ()),
        (IntervalInequality(x, AT_MOST, x, {x: (0, 1)}), ()),
        (Inequality(x, AT_MOST, y, given=(y > x,)), ()),
        (Inequality(x, BELOW, y), (sp.And(x < y, y < z),)),
        (Identity(x, y), (sp.Eq(y, x),)),
    ],
)
def test_what_says_nothing_does_not_hold(check, assumptions):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.UNDECIDED
    assert outcome.detail.endswith("so the check says nothing.")


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (Inequality(x**0.5, "<=", x + 1), "write Rational(1, 2) for 0.5"),
        (
            Inequality(1 / x, "<=", 1 / x + 1),
            "it needs x != 0; x is declared nonnegative, so x > 0 has to be",
        ),
    ],
)
def test_what_is_left_open_is_said_in_words(check: Inequality, told: str) -> None:
    outcome = decide_check(check, ())
    assert outcome.status is Status.UNDECIDED
    assert told in outcome.detail


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (Identity, {"says": property(lambda self: sp.Eq(self.left, self.left + 1))}),
        (Inequality, {"formula": property(lambda self: self.right < self.left)}),
        (Derived, {"engine": "own", "decide": None, "near_misses": None, "says": None}),
        (TwoSided, {"engine": "inequality", "says": None}),
        (Check, {"engine": Engine.DERIVATION, "says": None, "decide": None, "near_misses": None}),
    ],
)
def test_what_an_engine_of_the_package_decides_is_what_a_kind_of_the_package_says(kind, own):
    with pytest.raises(TypeError, match="engine of your own"):
        type("Lie", (kind,), own | {"__module__": "claims.lies"})


@pytest.mark.parametrize("answers", ["citation", "derivation", "own", True])
def test_an_engine_answers_in_its_own_name(answers):
    """Else its outcome would take the place of others: what is cited carries a verdict, and what is derived."""

    @dataclass(frozen=True)
    class Own(Check):
        engine = "own"
        name: str = "own"
        says = PRODUCT.says

        @staticmethod
        def decide(check, _):
            return answers is True or Outcome(check.name, answers, Status.HELD, Grade.PROVED)

        near_misses = decide

    outcome = decide_check(Own(), ())
    assert outcome.status is (Status.HELD if answers == "own" else Status.ERROR)
    assert outcome.engine == "own"
