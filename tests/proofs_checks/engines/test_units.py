"""The units engine: what it reads, what it refuses, and that it sees through every kind of expression."""

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.statement import as_text, of_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Units
from lastiterate.symbolic.notation import (
    GRADIENT,
    LENGTH,
    NUMBER,
    D,
    K,
    L,
    T,
    alpha,
    b,
    eta,
    j,
    lam,
    m,
    n,
    r,
    sigma,
    sigma_dp,
    unit_text,
    x,
    y,
    z,
)

LOSS = {r: GRADIENT * LENGTH}

HOLD = [
    Units(eta * K, D),
    Units(x + eta * L * x**lam, z),
    Units(sp.Min(T, n * b * D**2 / (eta**2 * K**2)), alpha),
    Units(sp.sqrt(m * r), K, LOSS),
    Units(sp.exp(-x / y) * z, D),
    Units(sp.Sum(D * j, (j, 1, T)), x),
    Units(sp.Abs(x - y), z),
    Units(x, sp.Integer(0)),
    Units(sp.log(x / y) + 1, sp.sqrt(2)),
    Units((x / y) ** T, alpha),
    Units((x * K) ** lam * (x * K) ** (1 - lam), r, LOSS),
    Units(x ** (2 * lam * (1 + lam)), x ** (2 * lam) * y ** (2 * lam**2)),
]
FAIL = [
    (Units(D + K, D), "two terms of a sum"),
    (Units(2 * alpha * (D + eta * K / b) ** 2 / sigma_dp**2, alpha), "the two sides"),
    (Units(sp.exp(-x), alpha), "the argument of exp"),
    (Units(sp.log(x), alpha), "the argument of log"),
    (Units(sp.Min(T, D), alpha), "two sides of a minimum or maximum"),
    (Units(alpha**x, alpha), "an exponent"),
    (Units(x + 1, z), "two terms of a sum"),
    (Units(L * x, K), "the two sides"),
    (Units(sigma, sigma_dp), "the two sides"),
]


@pytest.mark.parametrize("check", HOLD)
def test_like_things_add(check):
    outcome = decide_check(check, ())
    assert outcome.status is Status.HELD, outcome
    assert outcome.grade is Grade.PROVED


@pytest.mark.parametrize(("check", "where"), FAIL)
def test_unlike_things_are_refuted_with_both_units(check, where):
    outcome = decide_check(check, ())
    assert outcome.status is Status.REFUTED, outcome
    assert outcome.counterexample.note == where
    assert outcome.counterexample.left != outcome.counterexample.right


@pytest.mark.parametrize("scale", [sp.Integer(3), sp.Rational(1, 7)])
def test_a_formula_that_passes_keeps_its_value_when_the_units_of_measurement_change(scale):
    """The oracle: multiply every length by a number and every gradient by another."""
    formula = n * b * (1 + eta * L) ** 2 * D**2 / (eta**2 * K**2)
    assert decide_check(Units(formula, alpha, {L: GRADIENT / LENGTH}), ()).status is Status.HELD
    changed = formula.subs({D: scale * D, K: 5 * K, eta: scale / 5 * eta, L: 5 / scale * L}, simultaneous=True)
    assert sp.simplify(changed - formula) == 0


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (Units(r * x, x), "a unit for every symbol"),
        (Units(sp.Symbol("nobody"), x), "a unit for every symbol"),
        (Units(x, y, {x: sp.Symbol("furlong")}), "products of powers"),
        (Units(x, y, {x: LENGTH + GRADIENT}), "products of powers"),
        (Units(x, y, {x: 2 * LENGTH}), "products of powers"),
        (Units(x, y, {x: "length"}), "products of powers"),
        (Units(sp.Product(x, (j, 1, T)), y), "cannot read"),
    ],
)
def test_what_has_no_unit_is_an_error(check, why):
    outcome = decide_check(check, ())
    assert outcome.status is Status.ERROR
    assert why in outcome.detail


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (NUMBER, "1"),
        (GRADIENT / LENGTH**lam, "gradient / length^lambda"),
        (sp.sqrt(GRADIENT * LENGTH), "gradient^1/2 length^1/2"),
        (1 / GRADIENT, "1 / gradient"),
        (LENGTH / LENGTH, "1"),
    ],
)
def test_units_are_written(unit, words):
    assert unit_text(unit) == words


def test_the_formula_names_the_units_that_the_check_adds():
    shown = as_text(of_check(Units(r * x, D, {r: NUMBER})))
    assert "adds like things" in shown
    assert "Here r in [1]." in shown
