"""Closed forms for Gaussians against numerical integration."""

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sympy import Integer, Rational

from lastiterate.symbolic.formulas.divergences import cumulative, delta_of_gdp, renyi, tail

small = st.integers(1, 30).map(lambda k: Rational(k, 10))


def density(x, mean, variance):
    return mpmath.npdf(x, float(mean), mpmath.sqrt(float(variance)))


@settings(max_examples=30)
@given(gap=small, v1=small, v2=small, order=st.sampled_from([Rational(3, 2), Integer(2), Integer(4)]))
def test_renyi_is_the_integral(gap, v1, v2, order):
    assume(order * v2 + (1 - order) * v1 > Rational(1, 10))
    a = float(order)

    # Sums are exact for an analytic function that falls to 0. The integrand's mean is at most 360, its deviation 10.
    x, step = np.linspace(-500, 500, 200_001, retstep=True)

    def log_density(mean, variance):
        return -((x - float(mean)) ** 2) / (2 * float(variance)) - np.log(2 * np.pi * float(variance)) / 2

    value = logsumexp(a * log_density(gap, v1) + (1 - a) * log_density(0, v2), b=step) / (a - 1)
    assert float(renyi((gap, v1), (Integer(0), v2), order)) == pytest.approx(float(value), rel=1e-6, abs=1e-9)


def test_renyi_has_a_direction():
    narrow, wide = (Integer(0), Integer(1)), (Integer(0), Integer(2))
    assert renyi(narrow, wide, Integer(2)).evalf() < renyi(wide, narrow, Rational(3, 2)).evalf()


@pytest.mark.nightly
@settings(max_examples=30)
@given(epsilon=small, mu=small)
def test_delta_is_the_hockey_stick_integral(epsilon, mu):
    e, m = float(epsilon), float(mu)
    start = m / 2 + e / m
    value = mpmath.quad(
        lambda x: density(x, m, 1) - mpmath.exp(e) * density(x, 0, 1), [start, start + 4, start + 40]
    )
    assert float(delta_of_gdp(epsilon, mu)) == pytest.approx(float(value), rel=1e-6, abs=1e-12)


def test_tails():
    assert (tail(Integer(1)) + cumulative(Integer(1))).evalf(30) == pytest.approx(1, abs=1e-25)
    assert float(tail(Integer(0))) == 0.5
