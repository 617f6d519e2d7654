"""Means by rule: right for every size, against enumeration and entries written out, and a percent off is refuted."""

from itertools import combinations, product

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import Expected
from lastiterate.symbolic.expectations import MEAN, SQUARES, TOTAL, Transposed, batch_mean, gaussian_mean
from lastiterate.symbolic.vectors import Norm, Vector, inner

d, p, n, b = sp.symbols("d p n b", positive=True, integer=True)
s = sp.Symbol("s", positive=True)
A, E = sp.Symbol("A"), sp.Symbol("E")
u, v = Vector("u"), Vector("v")
T = Transposed
ENTRIES = {A: (d, p, s**2)}
SPREAD = inner(TOTAL / b - MEAN, TOTAL / b - MEAN)
VARIANCE = SQUARES - Norm(MEAN) ** 2

TRUE = {
    "there and back": (
        gaussian_mean([T(v), A, T(A), A, T(A), v], entries=ENTRIES),
        s**4 * p * (d + p + 1) * Norm(v) ** 2,
    ),
    "trace": (gaussian_mean([A, T(A), A, T(A)], entries=ENTRIES), s**4 * d * p * (d + p + 1)),
    "two forms": (gaussian_mean([T(u), A, T(A), v], entries=ENTRIES), p * s**2 * inner(u, v)),
    "a second matrix": (gaussian_mean([T(E), T(A), A, E], entries=ENTRIES | {E: (p, 1, 9)}), 9 * d * p * s**2),
    "an odd number": (gaussian_mean([T(u), A, T(A), A, E], entries=ENTRIES | {E: (p, 1, 9)}), sp.S.Zero),
    "without replacement": (batch_mean(SPREAD, "fixed", b, n), (n - b) / (b * (n - 1)) * VARIANCE),
    "coins": (batch_mean(SPREAD, "coins", b, n), (n - b) / (b * n) * SQUARES),
    "draws": (batch_mean(SPREAD, "draws", b), VARIANCE / b),
    "the length of a sum": (
        Norm(u - 2 * v) ** 2 + gaussian_mean([T(u), A, T(A), u], entries=ENTRIES),
        (1 + p * s**2) * Norm(u) ** 2 - 4 * inner(u, v) + 4 * Norm(v) ** 2,
    ),
    "the length of a random sum": (batch_mean(Norm(TOTAL / b - MEAN) ** 2, "draws", b), VARIANCE / b),
}
GIVEN = (b <= n, n >= 2)


@pytest.mark.parametrize(("left", "right"), TRUE.values(), ids=TRUE)
def test_a_mean_is_proved_and_one_a_percent_off_refuted(left: sp.Expr, right: sp.Expr) -> None:
    assert decide_check(Expected(left, "==", right, GIVEN), ()).status is Status.HELD
    wrong = right * sp.Rational(101, 100) if right else sp.S.One
    assert decide_check(Expected(left, "==", wrong, GIVEN), ()).status is Status.REFUTED


def test_what_a_rule_supposes_must_be_given() -> None:
    left, right = TRUE["without replacement"]
    outcome = decide_check(Expected(left, "==", right, (n >= 2,)), ())
    assert outcome.status is Status.UNDECIDED
    assert "b <= n" in outcome.detail


def test_a_bound_of_a_mean_takes_that_a_mean_square_is_no_less_than_the_square_of_the_mean() -> None:
    square = batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b)
    assert decide_check(Expected(square, "<=", SQUARES), ()).status is Status.HELD
    assert decide_check(Expected(square, "<=", SQUARES * sp.Rational(99, 100)), ()).status is Status.REFUTED


@pytest.mark.parametrize("law", ["fixed", "coins", "draws"])
def test_a_batch_is_the_mean_over_all_batches(law: str) -> None:
    samples, size = [sp.Integer(k) for k in (3, -1, 4, 7)], 2
    middle = sum(samples) / sp.Integer(4)
    if law == "fixed":
        chances = [(sp.Rational(1, 6), batch) for batch in combinations(samples, size)]
    elif law == "draws":
        chances = [(sp.Rational(1, 16), batch) for batch in product(samples, repeat=size)]
    else:
        chosen = product([0, 1], repeat=4)
        chances = [
            (sp.Rational(1, 16), [a for a, here in zip(samples, one, strict=True) if here]) for one in chosen
        ]
    there = sum(chance * (sum(batch, start=sp.S.Zero) / size - middle) ** 2 for chance, batch in chances)
    value = batch_mean(SPREAD, law, b, None if law == "draws" else n).value()
    squares = sum(one**2 for one in samples) / sp.Integer(4)
    assert value.subs({Norm(MEAN): sp.Abs(middle), SQUARES: squares, b: size, n: 4}) == there


def test_the_entries_written_out() -> None:
    entries = sp.symbols("a:6", real=True)
    matrix, fixed = sp.Matrix(3, 2, entries), sp.Matrix([2, -1, 3])
    form = sp.Poly(sp.expand(((matrix * matrix.T * fixed).T * (matrix * matrix.T * fixed))[0]), *entries)
    moments = {0: 1, 1: 0, 2: 1, 3: 0, 4: 3}
    there = sum(number * sp.prod([moments[k] for k in powers]) for powers, number in form.terms())
    value = TRUE["there and back"][0].value().subs({d: 3, p: 2, s: 1})
    assert value.subs(Norm(v), sp.sqrt(14)) == there


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (gaussian_mean([A, A], entries=ENTRIES), "matching sizes"),
        (batch_mean(Norm(TOTAL), "draws", b), "over a batch needs"),
    ],
)
def test_a_mean_that_no_rule_gives_is_an_error(left: sp.Expr, words: str) -> None:
    outcome = decide_check(Expected(left, "==", sp.S.Zero), ())
    assert outcome.status is Status.ERROR
    assert words in outcome.detail


def test_a_law_needs_its_sizes() -> None:
    with pytest.raises(ValueError, match="needs law="):
        batch_mean(SPREAD, "coins", b)


def test_a_mean_says_how_what_is_random_is_drawn() -> None:
    there, batch = TRUE["trace"][0], TRUE["coins"][0]
    assert str(there) == sp.pretty(there) == "E[(A A' A A'); d x p A of N(0, s**2)]"
    assert str(batch).endswith("; each of n with probability b/n]")
    assert r"\mathbb{E}_{A \in \mathbb{R}^{d \times p} \sim N(0, s^{2})}" in sp.latex(there)
    assert r"\mathbb{E}_{\text{each of }n\text{ with probability }b\text{/}n}" in sp.latex(batch)
