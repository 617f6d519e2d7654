"""Statements: closed, and with the quantifiers that they seem to have."""

import pickle

import pytest
from sympy import Eq, Function, Ge, Implies, Lambda, Le, Rational, Sum, Symbol, Tuple, pi, srepr
from sympy.abc import k, x, y

from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Check,
    Deduced,
    Derived,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    Recursion,
    Value,
)
from lastiterate.symbolic.claim import derived
from lastiterate.symbolic.notation import PREVIOUS, T, c, n, r, s
from lastiterate.symbolic.statement import Exists, ForAll, LeastOver, Sentence, Smooth, closed, for_some, free

CLAIMS = ledger.claims()
f = Function("f")

STATED = [
    claim
    for claim in CLAIMS
    if claim.statement is not None or all(isinstance(one, Deduced) for one in claim.checks)
]


def bound_twice(statement, bound=frozenset()):
    """The letters that two nested quantifiers bind."""
    if not isinstance(statement, ForAll | Exists):
        return set()
    own = set(statement.variables)
    return own & bound | bound_twice(statement.body, bound | own)


def test_every_statement_of_the_ledger_is_closed_and_binds_no_letter_twice():
    assert len(STATED) >= 30
    assert [claim.key for claim in STATED if free(claim.stated)] == []
    assert [claim.key for claim in STATED if bound_twice(claim.stated)] == []


def test_every_bound_on_a_divergence_has_a_statement():
    missing = {claim.key for claim in CLAIMS if claim.statement is None and any(map(is_bound, claim.checks))}
    derived_here = {claim.key for claim in CLAIMS if any(isinstance(check, Derived) for check in claim.checks)}
    # A derivation states what it reaches.
    assert missing - derived_here == {"chien_li/theorem_3_1/direct/untested"}


def is_bound(check):
    return type(check).__name__ == "UpperBound"


def test_a_statement_survives_a_worker():
    for claim in STATED:
        assert pickle.loads(pickle.dumps(claim.stated)) == claim.stated  # noqa: S301


def test_a_minimum_binds_its_letters():
    shares = Function("beta")
    least = LeastOver(Sum(s**2 / shares(k), (k, x, T)), Tuple(x, 0, n), Tuple(shares(k), 0, 1))
    assert least.free_symbols == {s, T, n}


def test_what_exists_is_not_quantified_again():
    assert bound_twice(ForAll((r,), (), ForAll((r,), (), x < r))) == {r}
    some = for_some((r,), closed(x <= r * y, x < y))
    assert (some.variables, some.body.variables, free(some)) == ((r,), (x, y), set())


def test_conditions_in_words():
    assert str(Smooth(c)) == "losses c-smooth"
    assert "Smooth" in srepr(Lambda(x, x)) + srepr(Smooth(c))


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Identity(x, y), "Eq(x, y)"),
        (Inequality(x, "<", y), "x < y"),
        (Inequality(x, "<= and attained", y, given=(y < 3,)), "Implies(y < 3, x <= y)"),
        (IntervalInequality(x, "<=", y, {x: (0, 1), y: (2, 2)}), "x <= y)"),
        (Value(x, "0.25"), "Abs(x - 1/4) <= 1/200"),
        (Identity(x, y, given=(y < 3,)), "Implies(y < 3, Eq(x, y))"),
        (Recursion(T, x, c * PREVIOUS, c**T * x), "Eq(x, x) & (Implies(T >= 1, Eq("),
        (Recursion(T, x, c * PREVIOUS, c**T * x, start=2, given=(c < 1,)), "Implies(c < 1, Eq("),
        (Induction(T, Le(c**T, c), laws=(c <= 1,), start=1), "Implies((T >= 1) & (c <= 1), c**T <= c)"),
        (Induction(T, Le(f(T), c), (Eq(f(0), 0),), (Le(f(T + 1), f(T)),)), "f(T + 1) <= f(T) in every step"),
    ],
)
def test_equations_and_inequalities_say_themselves(check, words):
    said = derived((check,), ())
    assert words in str(said.body)
    assert free(said) == set()


@pytest.mark.parametrize(
    ("printed", "half"), [("3.14", "1/200"), ("3.1e0", "1/20"), ("31e-1", "1/20"), ("3e3", "500")]
)
def test_a_printed_value_says_as_many_digits_as_are_decided(printed, half):
    said = derived((Value(pi, printed),), ())
    assert said.body.rhs == Rational(half)


@pytest.mark.parametrize("printed", ["pi", "nan", "inf", "1e999999999", "", "3.14 ", "3.1_4"])
def test_what_is_no_decimal_number_is_no_inequality(printed):
    assert isinstance(derived((Value(pi, printed),), ()).body, Sentence)


def test_an_index_that_may_be_negative_is_said_from_the_start_on():
    whole = Symbol("k", integer=True)
    (said,) = (derived((Induction(whole, Ge(whole**3, whole)),), ()),)
    assert said.body == Implies(Ge(whole, 0, evaluate=False), Ge(whole**3, whole), evaluate=False)


def test_a_kind_of_check_says_its_own_formula():
    """One that takes over another's formula would leave out what it adds to it."""
    with pytest.raises(TypeError, match="needs says"):
        type("Boxed", (Inequality,), {"engine": Inequality.engine})
    own = {"engine": "own", "decide": None, "near_misses": None}
    for lacks in ({}, {"conditions": ()}, {"conclusion": property(lambda _: pi > 3)}):
        with pytest.raises(TypeError, match="without says"):
            type("Own", (Check,), own | lacks)
