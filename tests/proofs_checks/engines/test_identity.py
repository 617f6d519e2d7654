"""Sums that end and sums that do not: a closed form is shown by proof, or left open soon; never assumed."""

from collections.abc import Callable

import pytest
from sympy import Expr, Integer, S, Sum, Symbol, binomial, exp, oo

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.identity import summed
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.verdict import Status, Verdict
from lastiterate.symbolic.checks import Identity
from lastiterate.symbolic.claim import Claim

n = Symbol("n", integer=True, positive=True)
k = Symbol("k", integer=True, positive=True)
m = Symbol("m", integer=True, nonnegative=True)
i = Symbol("i", integer=True, nonnegative=True)
x, r = Symbol("x", positive=True), Symbol("r", positive=True)
CLOSED = (n * x ** (n + 1) - n * x**n - x ** (n + 1) + x) / (x - 1) ** 2
BINOMIAL = Sum(binomial(n, i) * x**i, (i, 0, n))


def _moment(power: int) -> Expr:
    return Sum((i / n) ** power * binomial(n, i) * binomial(n, k - i), (i, 0, k)) / binomial(2 * n, k)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (BINOMIAL, (1 + x) ** n),
        (Sum(3 * binomial(n, i) * x**i * (1 - x) ** (n - i), (i, 0, n)), Integer(3)),
        (Sum((-1) ** i * binomial(m, m - i), (i, 0, m)), S.Zero**m),
        (Sum(i**3, (i, 0, n)), (n * (n + 1) / 2) ** 2),
        (
            Sum(i**2, (i, 2, m + 1)) + Sum(2 * i, (i, 0, m)),
            (m + 1) * (m + 2) * (2 * m + 3) / 6 - 1 + m * (m + 1),
        ),
    ],
)
def test_a_closed_form_is_proved(left: Expr, right: Expr) -> None:
    assert decide_check(Identity(left, right), ()).status is Status.HELD


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (BINOMIAL, (1 + x) ** (n + 1)),
        (Sum(binomial(n, i) * x**i, (i, 1, n)), (1 + x) ** n),
        (Sum(binomial(n, i) * x**i, (i, 0, n - 1)), (1 + x) ** n),
        (Sum(binomial(2, i) * i**2, (i, 0, n)), -((n + 1) ** 2) * binomial(2, n + 1)),
        (_moment(2), (k / (2 * n)) ** 2 + k / (4 * n**2)),
        (Sum(i**3, (i, 0, n)), (n * (n + 1) / 2) ** 2 + 1),
        (Sum(i * x**i, (i, 0, n)), CLOSED),
    ],
)
def test_a_wrong_one_is_not(make_claim: Callable[..., Claim], left: Expr, right: Expr) -> None:
    (report,) = run([make_claim(Identity(left, right))], jobs=1, seconds=3)
    assert report.verdict in (Verdict.UNDECIDED, Verdict.REFUTED)


@pytest.mark.parametrize(
    "total", [Sum(binomial(n, i) * x**i, (i, 0, oo)), Sum(binomial(r, i) * x**i, (i, 0, r))]
)
def test_the_binomial_theorem_is_of_whole_powers(total: Expr) -> None:
    assert summed(total) == total


SERIES = {
    "weighted_at_one": (Sum(i * x**i, (i, 0, n - 1)), CLOSED, ()),
    "exponential": (Sum(exp(-r * i), (i, 0, oo)), 1 / (1 - exp(-r)), ()),
    "diverges": (Sum(exp(r * i), (i, 0, oo)), exp(r) / (exp(r) - 1), ()),
    "left": (Sum(exp(-r * i), (i, 0, oo)), exp(r) / (exp(r) - 1), ()),
    "two_powers": (
        Sum(x**i * (1 - x) ** (n - i), (i, 0, n)),
        (x ** (n + 1) - (1 - x) ** (n + 1)) / (2 * x - 1),
        (),
    ),
    "alternating": (Sum(binomial(k, i) * binomial(k, n - i) * (-1) ** i, (i, 0, n)), S.Zero, ()),
    "mean": (_moment(1), k / (2 * n), ()),
}


@pytest.mark.parametrize("name", SERIES)
def test_what_is_not_shown_is_left_open_within_its_time(make_claim: Callable[..., Claim], name: str) -> None:
    """Some hold where all is defined, some do not: none is shown, and each answers, with its mutant."""
    left, right, given = SERIES[name]
    check = Identity(left, right).mutant("twice", right=2 * right + 1)
    (report,) = run([make_claim(check, assumptions=given)], jobs=1, seconds=3)
    assert report.verdict in (Verdict.UNDECIDED, Verdict.REFUTED)
    if name in ("exponential", "left", "mean"):
        assert report.verdict is Verdict.UNDECIDED
