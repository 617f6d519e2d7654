"""Unbounded ranges: what holds all the way is held, what fails far out is refuted, undefined is never true."""

import pytest
import sympy as sp
from sympy import exp, log, oo, sqrt

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import decide_check, enclosure
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import IntervalInequality

x, y = sp.symbols("x y", real=True)
k = sp.Symbol("k", integer=True, positive=True)
R, ONE, ZERO = sp.Rational, sp.Integer(1), sp.Integer(0)


def outcome(left, sign, right, box, *assumptions):
    return decide_check(IntervalInequality(left, sign, right, box), assumptions)


@pytest.mark.parametrize(
    ("left", "sign", "right", "box", "given"),
    [
        (sp.Integer(100), "<", k * log(k), {k: (1000, oo)}, k >= 1000),
        (log(x), "<=", x - 1, {x: (0, oo)}, x > 0),
        (x + 1, "<=", exp(x), {x: (-oo, oo)}, sp.true),
        (1 + x + x**2 / 2, "<=", exp(x), {x: (0, oo)}, x >= 0),
        (1 / x, "<", ONE, {x: (1, oo)}, x > 1),
        (exp(x), "<=", ONE, {x: (-oo, 0)}, x <= 0),
        (log(x + y), "<=", x + y, {x: (1, oo), y: (0, oo)}, (x >= 1) & (y >= 0)),
    ],
)
def test_what_holds_all_the_way_has_no_scope(left, sign, right, box, given):
    found = outcome(left, sign, right, box, *(given.args if isinstance(given, sp.And) else (given,)))
    assert (found.status, found.scope) == (Status.HELD, "")


def test_a_range_that_the_assumptions_do_not_give_is_a_scope():
    assert outcome(x + 1, "<=", exp(x), {x: (0, oo)}).scope == "x >= 0"


@pytest.mark.parametrize(
    ("left", "right", "box"),
    [
        (x + R(101, 100), exp(x), {x: (-oo, oo)}),
        (x, sp.Integer(10) ** 9, {x: (0, oo)}),
        (sp.Integer(-1000000), 1 / (x - R(3217, 1000)), {x: (0, oo)}),
        (sp.Integer(100), k * log(k), {k: (2, oo)}),
        (exp(-x), R(99, 100), {x: (0, oo)}),
    ],
)
def test_what_fails_somewhere_is_refuted_there(left, right, box):
    found = outcome(left, "<=", right, box)
    assert found.status is Status.REFUTED
    at = {symbol: sp.Rational(found.counterexample.at[str(symbol)]) for symbol in box}
    assert (left - right).subs(at) > 0


@pytest.mark.parametrize(
    ("left", "right", "box"),
    [
        (log(x), x - 1, {x: (-1, oo)}),
        (ZERO, -1 / x, {x: (-oo, 0)}),
        (ZERO, sqrt(x - 1), {x: (0, oo)}),
        (x * exp(-x), R(36, 100), {x: (0, R(9, 10))}),
        (-log(-x), ONE - log(-x), {x: (-1, oo)}),
    ],
)
def test_what_is_not_defined_throughout_does_not_hold(left, right, box):
    assert outcome(left, "<=", right, box).status is not Status.HELD


N = sp.Symbol("n", integer=True)
# to 0 at n = 2, with the slope 0 at 0, 1 and 2
FALLS = 1 - N**2 * R(15, 4) * (1 - R(5, 3) * N + N**2 - N**3 / 5)
GAPS = [sp.Symbol("g", nonzero=True, real=True), sp.Symbol("h", noninteger=True, positive=True)]
# To 0 past i.
JUMPS = [(one, sp.pi / 2 - sp.atan(one - i) - sp.atan(1 / (one - i))) for i, one in enumerate(GAPS)]


APART = (x <= 0) | (x >= R(1, 2))  # where the slope of the polynomial in x is not negative


@pytest.mark.parametrize(
    ("letter", "falls", "ends"),
    [
        (N, FALLS, (0, 2)),
        *((one, by, (i - R(1, 2), i + 1)) for i, (one, by) in enumerate(JUMPS)),
        (x, sp.Piecewise((ONE, x < R(1, 2)), (ZERO, True)), (0, 1)),
        (x, (x - R(1, 2)) ** 2 * (16 * x + 4), (-R(1, 8), 1)),
        (x, x, (0, 1)),
    ],
)
def test_a_slope_says_nothing_of_values_that_are_left_out(letter, falls, ends, monkeypatch):
    """Where y**2 = 2 the right side is 0 somewhere, and its slope is nowhere negative where it counts."""
    monkeypatch.setattr(enclosure, "_NEAR", 100)
    found = outcome(ZERO, "<", falls + (y**2 - 2) ** 2, {letter: ends, y: (1, 2)}, APART)
    assert found.status is Status.UNDECIDED


def test_ends_in_the_wrong_order_are_refused():
    with pytest.raises(InputError, match="swap them"):
        enclosure.decide(IntervalInequality(x, "<=", x + 1, {x: (oo, 0)}), ())


@pytest.mark.parametrize(
    ("box", "given", "scope"),
    [
        ({x: (0, 1), y: (0, 1)}, (x >= 0, x <= 1, 2 * x <= y), "0 <= y <= 1"),
        ({x: (0, 1), y: (1, 1)}, (x >= 0, x <= 1, 2 * x <= y), "y = 1"),
        ({x: (0, oo), y: (0, 1)}, (x >= 0, y >= 0, 2 * x <= y), "y <= 1"),
        ({x: (0, oo), y: (0, 1)}, (x >= 0, y >= 0, x <= R(1, 4)), ""),
    ],
)
def test_the_range_of_a_letter_that_the_assumptions_alone_have_is_a_scope(box, given, scope):
    found = outcome(x, "<=", R(1, 2), box, *given)
    assert (found.status, found.scope) == (Status.HELD, scope)
