"""Near misses: made where three percent cannot be true, refuted by the engine, and noticed where it is not."""

from dataclasses import replace

import pytest
import sympy as sp

from lastiterate.proofs_checks.decide import decide, near_misses
from lastiterate.proofs_checks.engines import decide_check, identity, inequality
from lastiterate.proofs_checks.engines.answers import MOST
from lastiterate.proofs_checks.lock import LockedVerdict, drifts, failures
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import (
    Asymptotic,
    Cited,
    Consequence,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    Recursion,
    Units,
    Value,
    VectorInequality,
)
from lastiterate.symbolic.families import convex
from lastiterate.symbolic.notation import (
    GRADIENT,
    LENGTH,
    PREVIOUS,
    K,
    L,
    alpha,
    c,
    eta,
    s,
    t,
    x,
    y,
)
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import Constant, LeastGradient
from lastiterate.symbolic.vectors import Norm, Vector

SQUARE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
u = sp.Function("u", nonnegative=True)
SAME = Induction(t, sp.Eq(u(t), t * s), (sp.Eq(u(0), 0),), (sp.Eq(u(t + 1), u(t) + s),))
GEOMETRIC = Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c))
MEANS = Inequality(2 * x * y, "<= and attained", x**2 + y**2)


@pytest.mark.parametrize(
    ("check", "assumptions", "least"),
    [
        (SQUARE, (), MOST),
        (Identity(sp.exp(x + y), sp.exp(x) * sp.exp(y)), (), 2),
        (Identity((sp.log(x) - sp.log(x) + y) / 2 - y / 2, sp.S.Zero), (), 0),
        (GEOMETRIC, (c < 1,), MOST),
        (SAME, (), 1),
        (MEANS, (), 2),
        (Inequality((alpha - 1) * x, "<= and attained", sp.S.Zero, attained=(sp.Eq(x, 0),)), (alpha < 1,), 0),
        (Inequality(-(c**2), "<= and attained", 1 - 2 * c, attained=(sp.Eq(c, 1),)), (), 1),
        (Value(sp.sqrt(2), "1.41"), (), 2),
        (Units(eta * (K + L * x), x, {L: GRADIENT / LENGTH}), (), MOST),
    ],
)
def test_each_is_a_check_of_its_type_that_the_engine_refutes(check, assumptions, least):
    made = near_misses(check, assumptions)
    assert least <= len(made) <= MOST
    assert len({wrong.name for wrong in made}) == len(made)
    assert made == near_misses(check, assumptions)
    for wrong in made:
        assert type(wrong) is type(check)
        assert wrong.mutants == ()
        assert decide_check(wrong, assumptions).status is Status.REFUTED, wrong.name


@pytest.mark.parametrize(
    ("check", "assumptions"),
    [
        (Inequality(x, "<=", 2 * x), (x > 0,)),
        (Inequality(x, "<=", y, given=(2 * x <= 2 * y,)), ()),
        (Inequality(-1 - x, "<", sp.S.Zero), ()),
        (IntervalInequality(sp.exp(-x), "<=", sp.S.One, {x: (0, 1)}), ()),
        (IntervalInequality(sp.S.Zero, "<", sp.exp(-x), {x: (0, 9), y: (1, 2)}), (x < 8, y < 2)),
        (IntervalInequality(sp.pi, "<", sp.Rational(22, 7), {}), ()),
    ],
)
def test_one_where_there_is_room_leaves_none(check, assumptions):
    (wrong,) = near_misses(check, assumptions)
    assert decide_check(check, assumptions).status is Status.HELD
    assert decide_check(wrong, assumptions).status is Status.REFUTED


@pytest.mark.parametrize(
    "check",
    [
        Inequality(x, "<=", 2 * x, given=(x > 1, x < 1)),
        Inequality(sp.S.Zero, "<=", sp.S.Zero),
        IntervalInequality(sp.exp(-(10**9) * x), "<=", sp.exp(-x), {x: (10**9, 10**9)}),
        Asymptotic(x, 2 * x, constant=sp.S.One),
    ],
)
def test_none_where_it_is_not_known_what_is_wrong(check):
    assert near_misses(check, ()) == ()


def test_a_term_that_cancels_is_not_changed():
    vanishing = sp.log(x * y) - sp.log(x) - sp.log(y)
    made = near_misses(Identity(vanishing / (alpha - 1) + s * x, s * x), (alpha > 1,))
    assert made
    assert all(decide_check(wrong, (alpha > 1,)).rejected for wrong in made)


def test_none_of_a_check_that_does_not_hold(make_claim):
    assert decide(make_claim(Identity(x, 2 * x))).near_misses == ()


def test_an_engine_that_accepts_everything_is_noticed(make_claim, monkeypatch):
    good = decide(make_claim(SQUARE))
    assert (good.near_rejected, len(good.near_misses)) == (MOST, MOST)
    monkeypatch.setattr(identity, "_compared", lambda *_: True)
    monkeypatch.setattr(identity, "_vanishes", lambda *_: ("believing", identity._vanishes))
    found = drifts([decide(make_claim(SQUARE))], {"toy/claim": LockedVerdict.of(good)})
    assert f"toy/claim rejects 0 of {MOST} near misses, but the lock file says {MOST}." in found
    assert len([sentence for sentence in found if "does not reject the near miss" in sentence]) == MOST


def test_a_near_miss_that_is_a_check_of_the_claim_is_an_error(make_claim):
    (wrong, *_) = near_misses(SQUARE, ())
    report = decide(make_claim(SQUARE, wrong))
    assert report.near_misses[0].status is Status.ERROR
    assert "the mutant is a check of the claim itself" in report.near_misses[0].detail


def loose_step(factor):
    """|x - y - eta (f'(x) - f'(y))| <= factor |x - y| for convex losses at eta <= 2/L, where 1 is the least factor."""
    at_x, at_y = (convex("f", L).at(Vector(name)) for name in "xy")
    moved = Norm(at_x.point - at_y.point - eta * (at_x.image - at_y.image))
    return VectorInequality(moved, "<=", factor * Norm(at_x.point - at_y.point), (at_x, at_y))


LOOSE = {
    "vectors": (loose_step(2), (eta * L <= 2,)),
    "up to a constant": (
        Consequence(
            LeastGradient(y) <= Constant(2 * x),
            (Cited(LeastGradient(y) <= Constant(x), Source("A book", "1")),),
        ),
        (),
    ),
}


@pytest.mark.parametrize("name", LOOSE)
def test_a_lemma_that_leaves_room_is_not_held_against_it(make_claim, name):
    check, assumptions = LOOSE[name]
    report = decide(make_claim(check, assumptions=assumptions))
    assert all(outcome.rejected for outcome in report.near_misses)
    assert any(
        "the bound could be smaller by a share of 1/2" in outcome.scope for outcome in report.near_misses
    )
    assert not failures(report)
    assert LockedVerdict.of(report).near_misses == report.near_close < report.near_rejected


def test_a_tight_lemma_is_told_from_one_with_room(make_claim):
    report = decide(make_claim(loose_step(1), assumptions=(eta * L <= 2,)))
    assert report.near_close == report.near_rejected == len(report.near_misses) > 0


def test_a_term_that_carries_nothing_is_reported(make_claim):
    check, _ = LOOSE["up to a constant"]
    report = decide(make_claim(replace(check, conclusion=LeastGradient(y) <= Constant(x + s))))
    (sentence, *_) = failures(report)
    assert "does not reject the near miss" in sentence


def test_drawn_points_refute_what_fails_there_and_nothing_else():
    u = sp.Symbol("u", nonnegative=True)
    true, wrong = Inequality(u, "<=", u + 1), Inequality(u + 2, "<=", u + 1)
    assert inequality.refute_by_drawing(true, (u <= 3,)) is None
    assert decide_check(true, (u <= 3,), by_drawing=True).status is Status.HELD
    refuted = inequality.refute_by_drawing(wrong, (u <= 3,))
    assert refuted.status is Status.REFUTED
    assert 0 <= sp.Rational(refuted.counterexample.at["u"]) <= 3
