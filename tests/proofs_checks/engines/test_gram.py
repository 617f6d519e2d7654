"""Inequalities between vectors of every dimension: proved with multipliers, refuted by vectors, or left undecided."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import sympy as sp

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines import decide_check, gram
from lastiterate.proofs_checks.verdict import Outcome, Status
from lastiterate.symbolic.checks import VectorInequality
from lastiterate.symbolic.claim import derived
from lastiterate.symbolic.families import (
    Clipping,
    ConvexSet,
    Functions,
    FunctionValue,
    Operators,
    Sample,
    convex,
    smooth,
    strongly_convex,
)
from lastiterate.symbolic.notation import K, L, eta, m
from lastiterate.symbolic.vectors import Norm, Vector, inner

R = sp.Rational
X, Y, BEST = Vector("x"), Vector("y"), Vector("x*")
ONE, MORE, LESS = R(1), R(101, 100), R(99, 100)
GAMMA, YOUNG = sp.symbols("gamma k", positive=True)
STRONG = strongly_convex("f", m, L)


def _step(family, factor):
    """|x - y - eta (f'(x) - f'(y))| <= factor |x - y|."""
    x, y = family.at(X), family.at(Y)
    return VectorInequality(Norm(X - Y - eta * (x.image - y.image)), "<=", factor * Norm(X - Y), (x, y))


def _best_step(by):
    """Step 2/(L + m) on strongly convex losses."""
    x, y = STRONG.at(X), STRONG.at(Y)
    moved = Norm(X - Y - 2 / (L + m) * (x.image - y.image))
    return VectorInequality(moved, "<=", by * (L - m) / (L + m) * Norm(X - Y), (x, y))


def _clipped(by):
    """The step with clipped gradients of L-smooth losses."""
    x, y = smooth("f", L).at(X), smooth("f", L).at(Y)
    u, v = (Clipping("clip", K).at(one.image) for one in (x, y))
    moved = Norm(X - Y - eta * (u.image - v.image))
    rate = 2 * eta * (1 + eta * L)
    given = {"f(x, y)": rate, "f(y, x)": rate, "clip(f'(x), f'(y))": rate / L, "clip(f'(y), f'(x))": rate / L}
    return VectorInequality(moved, "<=", (1 + by * eta * L) * Norm(X - Y), (x, y, u, v), (), given)


def _projected(rate, by, *, same):
    """A projected step, against a point of the set: drift at the point itself, or at the new one of smooth losses."""
    f, domain = convex("f", L if same else sp.oo), ConvexSet("X")
    x, best, u = f.at(X), f.at(BEST), domain.at(X - rate * f.at(X).image)
    after = f.at(u.image)
    bound = Norm(X - BEST) ** 2 - by * 2 * rate * ((after if same else x).value - best.value)
    samples = (x, best, u, domain.member(BEST), *((after,) if same else ()))
    return VectorInequality(
        Norm(u.image - BEST) ** 2, "<=", bound + (0 if same else rate**2 * Norm(x.image) ** 2), samples
    )


def _descent(by):
    x = smooth("f", L).at(X)
    after = smooth("f", L).at(X - eta * x.image)
    bound = x.value - eta * (1 - by * eta * L / 2) * Norm(x.image) ** 2
    return VectorInequality(after.value, "<=", bound, (x, after))


def _projection(by, *, firm):
    u, v = ConvexSet("X").at(X), ConvexSet("X").at(Y)
    apart = u.image - v.image
    if firm:
        return VectorInequality(Norm(apart) ** 2, "<=", by * inner(apart, X - Y), (u, v))
    return VectorInequality(Norm(apart), "<=", by * Norm(X - Y), (u, v))


def _young(by):
    """The drift along the gradient of one sample, clipped by gamma; Young's inequality has weight k."""
    x, best, sample = convex("f", L).at(X), convex("f", L).at(BEST), Vector("g")
    rest = eta * GAMMA * (YOUNG * Norm(sample - x.image) ** 2 + Norm(X - BEST) ** 2 / YOUNG)
    bound = rest - by * 2 * eta * GAMMA * (x.value - best.value)
    return VectorInequality(-2 * eta * GAMMA * inner(sample, X - BEST), "<=", bound, (x, best))


def _gap(family, factor, *, above):
    """|f'(x)|^2 against factor (f(x) - f*)."""
    x, best = family.at(X), family.minimum(BEST)
    sides = (Norm(x.image) ** 2, factor * (x.value - best.value))
    return VectorInequality(*((sides[0], "<=", sides[1]) if above else (sides[1], "<=", sides[0])), (x, best))


SHORT = eta * (L + m) <= 2
ROWS = {
    "convex": (_step(convex("f", L), ONE), (eta * L <= 2,)),
    "strongly convex, short steps": (_step(STRONG, 1 - eta * m), (SHORT,)),
    "strongly convex, long steps": (_step(STRONG, eta * L - 1), (eta * (L + m) >= 2,)),
    "strongly convex, any step": (_step(STRONG, sp.Max(1 - eta * m, eta * L - 1)), ()),
    "strongly convex, best step": (_best_step(ONE), (m > 0,)),
    "smooth": (_step(smooth("f", L), 1 + eta * L), ()),
    "clipped": (_clipped(ONE), ()),
    "projected": (_projected(eta, ONE, same=False), ()),
    "projected, smooth": (_projected(eta, ONE, same=True), (eta * L <= 1,)),
    "projected, scaled": (_projected(eta * GAMMA, ONE, same=True), (eta * GAMMA * L <= 1,)),
    "descent": (_descent(ONE), (eta * L <= 1,)),
    "projection": (_projection(ONE, firm=False), ()),
    "projection, firmly": (_projection(ONE, firm=True), ()),
    "young": (_young(ONE), ()),
    "gradient below gap": (_gap(convex("f", L), 2 * L, above=True), ()),
    "gap below gradient": (_gap(strongly_convex("f", m), 2 * m, above=False), (m > 0,)),
}
MISSES = {
    "eta up to 2.02/L": (_step(convex("f", L), ONE), (eta * L <= 2 * MORE,)),
    "eta up to 2.1/L": (_step(convex("f", L), ONE), (eta * L <= R(21, 10),)),
    "1 - 1.01 eta m": (_step(STRONG, 1 - MORE * eta * m), (SHORT,)),
    "1 - 1.03 eta m": (_step(STRONG, 1 - R(103, 100) * eta * m), (SHORT,)),
    "0.99 (eta L - 1)": (_step(STRONG, LESS * (eta * L - 1)), (eta * (L + m) >= 2,)),
    "best step": (_best_step(LESS), ()),
    "1 + 0.99 eta L": (_step(smooth("f", L), 1 + LESS * eta * L), ()),
    "1 + 0.99 eta L, clipped": (_clipped(LESS), ()),
    "drift 2.02 eta": (_projected(eta, MORE, same=False), ()),
    "drift 2.02 eta, smooth": (_projected(eta, MORE, same=True), (eta * L <= 1,)),
    "drift 2.02 eta gamma": (_projected(eta * GAMMA, MORE, same=True), (eta * GAMMA * L <= 1,)),
    "descent": (_descent(LESS), (eta * L <= 1,)),
    "projection": (_projection(LESS, firm=False), ()),
    "projection, firmly": (_projection(LESS, firm=True), ()),
    "young": (_young(MORE), ()),
    "gradient below gap": (_gap(convex("f", L), 2 * LESS * L, above=True), ()),
    "gap below gradient": (_gap(strongly_convex("f", m), 2 * MORE * m, above=False), (m > 0,)),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_lemma_is_proved_for_all_parameters_in_every_dimension(name):
    outcome = decide_check(*ROWS[name])
    assert outcome.status is Status.HELD, outcome.detail
    assert not outcome.scope


@pytest.mark.parametrize("name", MISSES)
def test_one_percent_off_is_refuted_by_vectors(name):
    outcome = decide_check(*MISSES[name])
    assert outcome.status is Status.REFUTED, outcome.detail


def test_the_vectors_of_a_refutation_are_exact():
    check, premises = MISSES["eta up to 2.02/L"]
    (problem, *_), found = tuple(gram.gram_cases(check, premises)), None
    for point in gram.points_on_edges(problem):
        found = found or gram.find_matrix(problem, point)
    assert found is not None
    products = found.vectors.T * found.vectors
    assert all(number.is_Rational for number in (*products, *found.values))
    numbers = [
        sum(a * b for a, b in zip(form.matrix, products, strict=True))
        + sum(a * b for a, b in zip(form.values, found.values, strict=True))
        + form.constant
        for form in (one.at(found.point) for one in (problem.goal, *problem.hypotheses.values()))
    ]
    assert numbers[0] > 0
    assert all(number <= 0 for number in numbers[1:])


def test_inner_products_that_break_a_hypothesis_refute_nothing():
    """Letters of length 1 at right angles break the goal, which holds for convex losses."""
    problem, *_ = gram.gram_cases(*ROWS["convex"])
    spot = next(gram.points_inside(problem, 1))
    found = gram.Matrix(spot, sp.eye(len(problem.letters)), sp.zeros(len(problem.values), 1))
    assert gram._is_right(replace(problem, hypotheses={}), found, goal=True)
    assert not gram._is_right(problem, found, goal=True)


@pytest.mark.parametrize(
    ("multipliers", "why"),
    [
        ({"f(x, y)": 2 * eta, "f(y, x)": eta}, "do not cancel"),
        ({"f(x, y)": -2 * eta, "f(y, x)": -2 * eta}, "may be negative or undefined"),
        ({"f(x, y)": 2 * eta**2 / (eta - 1), "f(y, x)": 2 * eta}, "do not cancel"),
        ({"f(x, y)": 2 / (eta - 1), "f(y, x)": 2 / (eta - 1)}, "may be negative or undefined"),
        ({"f(x, y)": eta, "f(y, x)": eta}, "the minor"),
        ({}, "the minor"),
        ({"f(x, y)": 2 * eta, "f(y, x)": 2 * eta}, ""),
    ],
)
def test_verification_finds_what_is_wrong_with_multipliers(multipliers: Mapping[str, sp.Expr], why: str):
    problem, *_ = gram.gram_cases(*ROWS["convex"])
    found = gram.fault(problem, multipliers)
    assert why in found
    assert bool(why) == bool(found)


def test_multipliers_that_leave_a_negative_constant_are_no_proof():
    problem, *_ = gram.gram_cases(*ROWS["convex"])
    more = replace(problem, goal=problem.goal._replace(constant=sp.S.One))
    assert gram.fault(more, {"f(x, y)": 2 * eta, "f(y, x)": 2 * eta}) == "the constant -1 may be negative"


def test_multipliers_that_are_given_are_verified_and_wrong_ones_do_no_harm():
    check, premises = ROWS["convex"]
    for given in ({"f(x, y)": 2 * eta, "f(y, x)": 2 * eta}, {"f(x, y)": eta, "f(y, x)": eta}):
        outcome = decide_check(
            VectorInequality(check.left, "<=", check.right, check.samples, (), given), premises
        )
        assert outcome.status is Status.HELD
        assert "f(x, y): 2*eta" in outcome.detail


def _decided(left, right, *samples, given=(), premises=()) -> Outcome:
    return decide_check(VectorInequality(left, "<=", right, samples, given), premises)


def test_what_is_true_but_of_no_known_proof_is_undecided():
    """Bounded gradients and smoothness together: the inequalities are not known to suffice, so nothing is refuted."""
    f = Functions("f", -L, L, K)
    x, y = f.at(X), f.at(Y)
    assert not f.exact
    assert _decided(Norm(x.image - y.image), LESS * 2 * K, x, y).status is Status.UNDECIDED
    assert _decided(Norm(x.image - y.image), 2 * K, x, y).status is Status.HELD


def test_hypotheses_that_nothing_meets_prove_nothing():
    outcome = _decided(Norm(X), Norm(Y), given=(sp.Le(Norm(X) ** 2, -1, evaluate=False),))
    assert outcome.status is Status.UNDECIDED
    assert "no inner products that meet" in outcome.detail


def test_a_hypothesis_away_from_zero_is_met_by_some_vector():
    given = (sp.Ge(Norm(X) ** 2, 1), sp.Le(Norm(Y), 1))
    assert _decided(Norm(Y) ** 2, Norm(X) ** 2, given=given).status is Status.HELD
    assert _decided(Norm(X) ** 2, Norm(Y) ** 2, given=given).status is Status.REFUTED


def test_what_is_undefined_somewhere_is_not_proved():
    u = sp.Symbol("u", nonnegative=True)
    assert _decided(Norm(X) / u, 2 * Norm(X) / u).status is Status.UNDECIDED
    assert _decided(Norm(X) / (1 + u), 2 * Norm(X) / (1 + u)).status is Status.HELD


def test_no_parameters_meet_the_premises():
    check, _ = ROWS["convex"]
    assert decide_check(check, (eta * L <= 2, eta * L >= 3)).status is Status.ERROR


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Norm(X) + Norm(Y), Norm(X - Y)),
        (Norm(X) * inner(X, Y), sp.S.One),
        (Norm(X) ** 4, sp.S.One),
        (-Norm(X), sp.S.One),
    ],
)
def test_what_is_not_linear_in_inner_products_is_refused(left: sp.Expr, right: sp.Expr):
    outcome = _decided(left, right)
    assert outcome.status is Status.ERROR
    assert "side must be" in outcome.detail


def test_an_equation_is_two_inequalities():
    sides = Norm(X - Y) ** 2, Norm(X) ** 2 + Norm(Y) ** 2 - 2 * inner(X, Y)
    assert decide_check(VectorInequality(sides[0], "==", sides[1]), ()).status is Status.HELD
    assert decide_check(VectorInequality(sides[0], "==", sides[1] + inner(X, Y)), ()).status is Status.REFUTED


@pytest.mark.parametrize(
    ("operators", "status"),
    [(Operators("T", lipschitz=ONE), Status.HELD), (Operators("T", lipschitz=MORE), Status.REFUTED)],
)
def test_an_averaged_operator_is_nonexpansive(operators: Operators, status: Status):
    x, y = operators.at(X), operators.at(Y)
    assert _decided(Norm(X + x.image - Y - y.image), 2 * Norm(X - Y), x, y).status is status


def test_a_class_of_equal_curvatures_is_a_case_of_its_own():
    """Where m = L the gradient is affine, and the multipliers of m < L have a pole."""
    f = strongly_convex("f", L, L)
    x, y = f.at(X), f.at(Y)
    moved = VectorInequality(Norm(x.image - y.image), "<=", L * Norm(X - Y), (x, y))
    assert decide_check(moved, ()).status is Status.HELD
    (problem,) = gram.gram_cases(moved, ())
    assert not problem.hypotheses


def test_the_statement_names_the_class_the_points_and_the_dimension():
    check, premises = ROWS["projected, smooth"]
    said = derived((check,), premises)
    assert said is not None
    words = [str(one) for one in said.conditions]
    assert words[0] == "x, x* in R^d, for any d"
    assert {"f convex", "f L-smooth", "P_X the projection onto a closed convex set X", "x* in X"} < {*words}
    assert "P_X(-eta*f'(x) + x)" in str(said.body)
    assert {str(one) for one in said.variables} == {"L", "X", "eta", "f", "x", "x*"}


def test_both_ways_in_which_curvatures_may_agree_are_cases():
    u, v = sp.symbols("u v", nonnegative=True)
    f = convex("f", u * v)
    check = VectorInequality(Norm(X), "<=", Norm(X), (f.at(X), f.at(Y)))
    assert len(tuple(gram.gram_cases(check, ()))) == 3
    with pytest.raises(UnsupportedError, match="cannot find where"):
        tuple(
            gram.gram_cases(
                VectorInequality(Norm(X), "<=", Norm(X), (convex("f", u**2 - u * v**2 + v**3).at(X),)), ()
            )
        )


def test_clipping_does_not_change_a_gradient_that_is_short():
    f, ball = convex("f", L, K), Clipping("clip", K)
    x = f.at(X)
    clipped = ball.at(x.image)
    assert _decided(Norm(clipped.image - x.image), sp.S.Zero, x, clipped).status is Status.HELD
    longer = convex("f", L, 2 * K).at(X)
    assert (
        _decided(Norm(ball.at(longer.image).image - longer.image), sp.S.Zero, longer).status is not Status.HELD
    )


def test_points_in_a_circle_are_refused() -> None:
    f, g, h = convex("f", sp.Integer(1)), Vector("g"), Vector("h")
    values = FunctionValue("at 1"), FunctionValue("at 2")
    circle = Sample(f, X - h, g, values[0], "1"), Sample(f, X - g, h, values[1], "2")
    for samples in ((Sample(f, X - g, g, values[0], "1"),), circle):
        check = VectorInequality(inner(g, g), "<=", inner(g, g) + 1, samples=samples)
        assert derived((check,), ()) is not None
        outcome = decide_check(check, ())
        assert outcome.status is Status.ERROR
        assert "a circular dependence" in outcome.detail


def test_a_counterexample_has_every_point_and_both_sides() -> None:
    f = smooth("f", L)
    check = VectorInequality(Norm(f.at(X).image - f.at(Y).image), "<=", ONE, (f.at(X), f.at(Y)))
    found = decide_check(check, (L > 0,)).counterexample
    assert found is not None
    first, second, x, y = (
        sp.Matrix([found.at[name].strip("()").split(", ")]) for name in ("f'(x)", "f'(y)", "x", "y")
    )
    assert sp.zeros(*x.shape) in (x, y), "one of them is the origin"
    assert (R(found.left), R(found.right)) == ((first - second).norm(), 1)
    assert R(found.left) > 1
