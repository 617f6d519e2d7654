"""From Renyi to (epsilon, delta): valid, attained, and never worse than the usual conversion."""

from math import inf, log

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.accounting.conversion import _least, gdp_epsilon, quick_rdp_to_dp, rdp_to_dp
from lastiterate.numeric.rounding import precision

_ORDER = st.floats(0.02, 4).map(lambda x: 1 + 10 ** (x - 2))
_EPSILON = st.floats(-4, 1).map(lambda x: 10**x)
_DELTA = st.floats(-10, -0.5).map(lambda x: 10**x)


def _usual(order: float, epsilon: float, delta: float) -> float:
    return epsilon + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1)


def _worst_of_two_points(order: float, epsilon: float, delta: float) -> float:
    """The epsilon that laws on two points need: largest log((p - delta)/q) with D_order(p || q) <= epsilon."""
    p = delta + (1 - delta) * np.concatenate(
        [np.geomspace(1e-3 * delta, 0.5, 4000), 1 - np.geomspace(0.5, 1e-9, 4000)]
    )
    low, high = np.full_like(p, -1e5), np.log(p)  # log q
    for _ in range(90):
        middle = (low + high) / 2
        q = np.exp(middle)
        one = order * np.log(p) + (1 - order) * middle
        other = order * np.log1p(-p) + (1 - order) * np.log1p(-np.minimum(q, 1 - 1e-16))
        meets = np.logaddexp(one, other) <= (order - 1) * epsilon
        low, high = np.where(meets, low, middle), np.where(meets, middle, high)
    return float(np.max(np.log(p - delta) - high))


@settings(max_examples=60)
@given(_ORDER, _EPSILON, _DELTA)
def test_the_best_of_two_points(order: float, epsilon: float, delta: float) -> None:
    found = rdp_to_dp(order, epsilon, delta)
    usual = quick_rdp_to_dp(order, epsilon, delta)
    assert usual == pytest.approx(max(_usual(order, epsilon, delta), 0.0), rel=1e-9, abs=1e-12)
    assert found <= usual
    if (order - 1) * epsilon > 1e-3:  # below, this oracle's floats do not tell the divergence from 0
        worst = max(_worst_of_two_points(order, epsilon, delta), 0.0)
        assert worst - 1e-6 <= found <= worst + 2e-3 * max(1.0, worst)


@pytest.mark.parametrize(("order", "epsilon", "delta"), [(2.0, 0.1, 1e-5), (8.0, 0.5, 1e-5), (1.1, 0.01, 1e-3)])
def test_attained(order: float, epsilon: float, delta: float) -> None:
    """A hair below, laws on two points of that divergence break the guarantee."""
    found = rdp_to_dp(order, epsilon, delta)
    with mpmath.workdps(40):
        alpha, eps = mpmath.mpf(order), mpmath.mpf(found) * (1 - mpmath.mpf(10) ** -6)

        def divergence(p: mpmath.mpf) -> mpmath.mpf:
            q = (p - delta) * mpmath.exp(-eps)
            moment = p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
            return mpmath.log(moment) / (alpha - 1)

        grid = [
            delta + mpmath.mpf(10) ** (-mpmath.mpf(k) / 400) * (1 - mpmath.mpf(delta)) for k in range(1, 4000)
        ]
        assert min(divergence(p) for p in grid) < epsilon


def test_known_cases() -> None:
    assert rdp_to_dp(5.0, 0.0, 1e-5) == 0.0  # equal laws
    assert rdp_to_dp(5.0, inf, 1e-5) == inf
    assert rdp_to_dp(2.0, 0.3, 0.4) == 0.0  # they differ by less than delta
    assert rdp_to_dp(20.0, 5.0, 1e-30) == pytest.approx(_usual(20.0, 5.0, 1e-30), rel=1e-12)  # the term is tiny
    assert rdp_to_dp(2.0, 0.001, 1e-5) < 0.35 * _usual(2.0, 0.001, 1e-5)


@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
def test_never_below_the_exact_conversion_of_a_gaussian(mu: float) -> None:
    for order in (1.01, 1.5, 3.0, 20.0, 500.0):
        assert rdp_to_dp(order, order * mu**2 / 2, 1e-6) >= gdp_epsilon(mu, 1e-6)


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_a_tangent_is_below_the_least_of_its_function(order: float) -> None:
    """F(p) = p^a q^(1-a) + (1-p)^a (1-q)^(1-a), q = (p - delta) e^-eps, on a grid; tangents right of the minimum."""
    delta, eps, known = 0.01, 0.5, 0
    p = delta + (1 - delta) * np.geomspace(1e-6, 1 - 1e-9, 20_000)
    q = (p - delta) * np.exp(-eps)
    least = float(np.min(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)))
    for point in (0.05, 0.1, 0.2, 0.4, 0.8):
        with precision():
            found = _least(order, delta, eps, point)
        if found is not None:
            known += 1
            assert float(found) <= least * (1 + 1e-6)
    assert known > 0
