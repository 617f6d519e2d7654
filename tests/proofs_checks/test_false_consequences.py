"""Consequences of cited results that do not follow, are undefined or about nothing, each of which once held."""

from dataclasses import replace

import pytest
import sympy as sp
from sympy import And, Rational

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Cited, Consequence
from lastiterate.symbolic.notation import T, alpha, u, v, x, y
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import (
    Binomial,
    Constant,
    LeastGradient,
    Probability,
    RenyiDivergence,
    Smooth,
    Walk,
)

r, s = sp.Symbol("r", real=True), sp.Symbol("s", real=True)
HALF = Rational(1, 2)
BOOK = Source("A book", "Theorem 1")
P, Q = Probability, LeastGradient
EMPTY = And(y < 1, y > 2)
CITED = Cited(P(x >= 1) <= HALF, BOOK)
CLAIMED = P(x >= 1) <= Rational(3, 4)
CONSEQUENCES = {
    "two constants": Consequence(
        Q(u) <= Q(v), (Cited(Q(u) <= Constant(v), BOOK), Cited(Q(v) >= Constant(v), BOOK))
    ),
    "a constant that goes": Consequence(Q(u) <= 1, (Cited(Q(u) + Constant(v) <= Constant(v) + 1, BOOK),)),
    "a pole in an event": Consequence(
        P(x >= 1 / (v - 1)) <= Rational(3, 4), (Cited(P(x >= 1 / (v - 1)) <= HALF, BOOK),), (v >= 1,)
    ),
    "a logarithm": Consequence(
        Q(sp.log(-(u**2))) <= Constant(2 * v), (Cited(Q(sp.log(-(u**2))) <= Constant(v), BOOK),)
    ),
    "an order": Consequence(
        RenyiDivergence(1 / (alpha - 1), r, s) <= 2 * v,
        (Cited(RenyiDivergence(1 / (alpha - 1), r, s) <= v, BOOK),),
    ),
    "premises in one": Consequence(CLAIMED, (CITED,), (EMPTY,)),
    "false": Consequence(CLAIMED, (CITED,), (sp.false,)),
    "a premise that is met by nothing": Consequence(
        Q(u) <= Constant(2 * v), (Cited(Q(u) <= Constant(v), BOOK, (EMPTY,)),), (EMPTY,)
    ),
    "a probability below 0": Consequence(P(x >= 1) <= -1, (Cited(P(x >= 1) <= v - 2, BOOK),), (v <= 1,)),
    "a probability above 1": Consequence(P(x < 1) >= 2, (Cited(P(x >= 1) <= -1, BOOK),), (), (x >= 1,)),
    "results that contradict a premise": Consequence(P(x > 1) <= 1, (CITED, Cited(v <= 3, BOOK)), (v >= 4,)),
    "nothing cited": Consequence(u <= 5, (), (u <= 4,)),
    "what is supposed": Consequence(u <= 4, (CITED,), (u <= 4,)),
    "what is cited": Consequence(CITED.conclusion, (CITED,)),
    "a random number": Consequence(
        P(x >= y / 2) <= sp.exp(-y),
        (Cited(P(x >= u) <= sp.exp(-2 * u), BOOK, (Binomial(x, T, HALF),)).at({u: y / 2}),),
        (Binomial(x, T, HALF), Binomial(y, T, HALF)),
    ),
    "a random number that a relation ties": Consequence(
        P(x >= r) <= HALF,
        (Cited(P(x >= u) <= sp.exp(-2 * u), BOOK, (Binomial(x, T, HALF), u >= 1)).at({u: r}),),
        (Binomial(x, T, HALF), r >= x + 1),
    ),
    "the random letter itself": Consequence(
        P(x**2 >= x + 1) <= HALF,
        (Cited(P(x**2 >= u) <= 1 / u, BOOK, (Binomial(x, T, HALF), u >= 1)).at({u: x + 1}),),
        (Binomial(x, T, HALF),),
    ),
    "a chance of 2": Consequence(CLAIMED, (replace(CITED, given=(Binomial(x, T, 2),)),), (Binomial(x, T, 2),)),
    "a negative variance": Consequence(CLAIMED, (replace(CITED, given=(Walk(x, T, -1),)),), (Walk(x, T, -1),)),
    "a certain event": Consequence(P(y > 1) <= 1, (Cited(P(x >= 1) <= HALF, BOOK),), (x >= 2,)),
    "an event and its complement": Consequence(
        P(x < 1) <= HALF, (Cited(P(x < 1) <= Rational(1, 4), BOOK), Cited(P(x >= 1) <= Rational(1, 4), BOOK))
    ),
    "divergences that may be infinite": Consequence(
        RenyiDivergence(2, r, s) > RenyiDivergence(2, s, r),
        (Cited(RenyiDivergence(2, r, s) >= RenyiDivergence(2, s, r) + 1, BOOK),),
    ),
}


@pytest.mark.parametrize("name", CONSEQUENCES)
def test_a_consequence_is_not_held(name: str) -> None:
    outcome = decide_check(CONSEQUENCES[name], ())
    assert outcome.status in (Status.UNDECIDED, Status.ERROR)
    assert "stopped" not in outcome.detail


@pytest.mark.parametrize(
    "check",
    [
        Consequence(CLAIMED, (Cited(P() <= HALF, BOOK),)),
        Consequence(Q(u) <= Constant(v, 2), (Cited(Q(u) <= Constant(v), BOOK),)),
    ],
)
def test_what_has_not_one_argument_is_refused_in_a_sentence(check: Consequence) -> None:
    outcome = decide_check(check, ())
    assert outcome.status is Status.ERROR
    assert "needs one argument" in outcome.detail


def test_a_greater_number_follows() -> None:
    assert decide_check(Consequence(CLAIMED, (CITED,)), ()).status is Status.HELD


@pytest.mark.parametrize(
    "check",
    [
        Consequence(P(x < 1) >= HALF, (CITED,)),
        Consequence(P(x >= 2) <= HALF, (CITED,)),
        Consequence(P(x < 1) <= HALF, (Cited(P(x >= 2) >= HALF, BOOK),)),
        Consequence(
            RenyiDivergence(2, r, s) <= 2 * u, (Cited(RenyiDivergence(2, r, s) <= u, BOOK),), (u >= 0,)
        ),
        Consequence(RenyiDivergence(2, r, s) >= 1, (Cited(RenyiDivergence(2, r, s) >= u, BOOK),), (u >= 1,)),
    ],
)
def test_what_every_law_obeys_is_known(check: Consequence) -> None:
    assert decide_check(check, ()).status is Status.HELD


@pytest.mark.parametrize(
    ("conclusion", "given"),
    [
        (u**2 < u, ()),
        (u <= 1, (v > u,)),
        (And(u >= 0, u**2 < u), ()),
        (sp.Eq(u**2, u), ()),
        (sp.exp(u) <= 1 + u, ()),
        (P(x >= 1) <= v - 2, ()),
        (P(x >= 1) >= v, ()),
        (Q(u) <= v - u, (Smooth(x),)),
    ],
)
def test_a_cited_line_that_fails_at_a_point_is_refuted_and_nothing_rests_on_it(
    conclusion: sp.Basic, given: tuple[sp.Basic, ...]
) -> None:
    cited = Cited(conclusion, BOOK, given)
    outcome = decide_check(cited, ())
    assert outcome.status is Status.REFUTED
    assert outcome.counterexample is not None
    outcome = decide_check(Consequence(CLAIMED, (CITED, cited), given), ())
    assert outcome.status is Status.ERROR
    assert "which fails at" in outcome.detail


@pytest.mark.parametrize(
    ("conclusion", "given"),
    [
        (u**2 <= u, (u <= 1,)),
        (u**2 < u, (Smooth(u),)),
        (u**2 < u, (u < sp.Function("f")(1),)),
        (P(x >= 1) <= v, ()),
        (Q(u) <= Constant(v - 2), ()),
        (sp.Implies(u > 1, u < 1), ()),
    ],
)
def test_what_no_solver_breaks_is_cited(conclusion: sp.Basic, given: tuple[sp.Basic, ...]) -> None:
    assert decide_check(Cited(conclusion, BOOK, given), ()).grade is Grade.CITED


def test_a_cited_line_about_nothing_is_an_error() -> None:
    outcome = decide_check(Cited(P(x >= 1) <= HALF, BOOK, (u < 1, u > 2)), ())
    assert outcome.status is Status.ERROR
    assert "no sample satisfies" in outcome.detail
