"""Closed forms of h against a numerical root."""

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational, diff, lambdify

from lastiterate.symbolic.holder import INVERSES, expansion, g, inverse, slope
from lastiterate.symbolic.letters import x, z
from lastiterate.symbolic.notation import L, lam

positive = st.floats(-3, 3).map(lambda e: 10.0**e)
ORDERS = sorted(INVERSES)


def root(z, L, lam):
    """x >= 0 with x + L x^lam = z, by bisection at 60 digits."""
    with mpmath.workdps(60):
        low, high = mpmath.mpf(0), mpmath.mpf(z)
        for _ in range(250):
            middle = (low + high) / 2
            low, high = (middle, high) if middle + L * middle**lam < z else (low, middle)
        return high


@pytest.mark.parametrize("order", ORDERS)
@given(value=positive, size=positive)
def test_closed_form_is_the_root(order, value, size):
    closed = lambdify((z, L), inverse(z, L, order), modules="mpmath")
    with mpmath.workdps(60):
        got = closed(mpmath.mpf(value), mpmath.mpf(size))
        expected = root(mpmath.mpf(value), mpmath.mpf(size), mpmath.mpf(order.p) / order.q)
        assert abs(got - expected) <= mpmath.mpf(10) ** -25 * max(expected, mpmath.mpf(10) ** -12)


@pytest.mark.parametrize("order", ORDERS)
def test_closed_form_inverts_exactly_at_a_power(order):
    # x = 2^12 has rational roots of every order; z = g(x) then gives x back.
    start = Integer(2) ** 12
    value = g(start, Integer(3), order)
    assert float(inverse(value, Integer(3), order)) == pytest.approx(float(start), rel=1e-14)


def test_both_regions_of_two_thirds_meet():
    edge = Rational(4, 27)  # 4 L^3 / 27 at L = 1
    below, above = (float(inverse(edge + shift, Integer(1), Rational(2, 3))) for shift in (-Rational(1, 10**12), 0))
    assert below == pytest.approx(above, rel=1e-10)


def test_an_order_without_closed_form_is_refused():
    with pytest.raises(KeyError):
        inverse(Integer(1), Integer(1), Rational(2, 5))


def test_slope_is_the_derivative_and_expansion_starts_at_the_sensitivity():
    assert diff(g(x, L, lam), x).equals(slope(x, L, lam))
    assert expansion(Integer(0), L, Rational(1, 2), Rational(1, 7)) == Rational(1, 7)
