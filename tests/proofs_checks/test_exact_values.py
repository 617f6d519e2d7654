"""Signs, truths and balls at exact rational points."""

import sympy as sp
from flint import arb

from lastiterate.proofs_checks.exact_values import PRECISIONS, enclosures, sign_at, truth_at

x, y = sp.symbols("x y", real=True)


def test_signs_of_rational_functions() -> None:
    third = sp.Rational(1, 3)
    cases = {
        (3 * x - 1, third): 0,
        (x**-2 - 9, third): 0,
        (x**3 - sp.Rational(1, 26), third): -1,
        (sp.Max(x, y) - sp.Min(x, 1), third): 0,
        ((x + 2) ** 400 - (x + 2) ** 399, third): 1,
    }
    for (expression, value), sign in cases.items():
        assert sign_at(expression, {x: value, y: sp.S.Zero}) == sign, expression


def test_what_is_undefined_has_no_sign_and_is_not_true() -> None:
    point = {x: sp.S.Zero, y: sp.S.One}
    for expression in (1 / x, 0 + y / x, x / x**2, y + (x - x * y) ** -1):
        assert sign_at(expression, point) is None, expression
        assert not truth_at(sp.Ge(expression, -1, evaluate=False), point), expression


def test_relations_at_equality_and_beside_it() -> None:
    for relation, truths in {
        sp.Eq: (False, True, False),
        sp.Ne: (True, False, True),
        sp.Lt: (True, False, False),
        sp.Le: (True, True, False),
        sp.Gt: (False, False, True),
        sp.Ge: (False, True, True),
    }.items():
        found = tuple(truth_at(relation(x, 1, evaluate=False), {x: sp.Rational(k, 2)}) for k in (1, 2, 3))
        assert found == truths, relation


def test_balls_hold_what_no_binary_fraction_is() -> None:
    for ball in enclosures(x / 3, {x: sp.S.One}, PRECISIONS):
        assert (3 * ball).contains(1)
        assert 0 < ball.rad() < arb(2) ** -60
