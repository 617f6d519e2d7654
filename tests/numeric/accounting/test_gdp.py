"""The conversion of mu-GDP to (epsilon, delta), against 400 digits."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from mpmath import mpf
from oracle import gdp_delta as exactly

from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon, gdp_epsilon_below
from lastiterate.numeric.errors import InputError

pytestmark = pytest.mark.usefixtures("sixty_digits")

_QUICK = options(max_examples=30)
_MU, _EPSILON = st.floats(0.01, 20), st.floats(0, 60)


@_QUICK
@given(mu=_MU, epsilon=_EPSILON)
def test_delta_is_rounded_up(mu: float, epsilon: float) -> None:
    told, truth = gdp_delta(mu, epsilon), exactly(mu, epsilon)
    assert mpf(told) >= truth
    assert told <= 5e-324 or mpf(told) <= truth * (1 + mpf(2) ** -45) + mpf(5e-324)


@_QUICK
@given(mu=_MU, power=st.floats(-300, -0.01))
def test_epsilon_is_enough_and_hardly_more(mu: float, power: float) -> None:
    delta = 10**power
    epsilon = gdp_epsilon(mu, delta)
    assert exactly(mu, epsilon) <= mpf(delta)
    if epsilon > 1e-9:
        assert exactly(mu, epsilon * (1 - 1e-12)) > mpf(delta) * (1 - mpf(10) ** -10)


@_QUICK
@given(mu=_MU, power=st.floats(-300, -0.01))
def test_epsilon_below_is_not_enough_and_hardly_less(mu: float, power: float) -> None:
    delta = 10**power
    above, below = gdp_epsilon(mu, delta), gdp_epsilon_below(mu, delta)
    assert 0 <= below <= above
    assert below == 0 or exactly(mu, below) >= mpf(delta)
    assert above < 1e-9 or below >= above * (1 - 1e-9)


@_QUICK
@given(mu=_MU, epsilon=st.floats(0.01, 20))
def test_the_two_are_inverse(mu: float, epsilon: float) -> None:
    delta = gdp_delta(mu, epsilon)
    if 1e-300 < delta < 1:
        assert gdp_epsilon(mu, delta) <= epsilon
    if 1e-300 < delta < 0.9:  # nearer to 1 a float of delta no longer tells epsilons apart
        assert gdp_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-6)


@_QUICK
@given(mu=_MU, delta=st.floats(1e-12, 0.5), factor=st.floats(1, 4))
def test_more_loss_is_more_epsilon(mu: float, delta: float, factor: float) -> None:
    assert gdp_epsilon(mu, delta) <= gdp_epsilon(mu * factor, delta)
    assert gdp_epsilon(mu, delta) >= gdp_epsilon(mu, min(delta * factor, 0.9))


def test_the_ends() -> None:
    assert gdp_epsilon(0.0, 1e-5) == 0.0
    assert gdp_epsilon(inf, 1e-5) == inf
    assert gdp_delta(0.0, 0.0) == 0.0
    assert gdp_delta(inf, 3.0) == 1.0
    assert gdp_epsilon(1.0, 0.9) == 0.0  # total variation of N(0,1) and N(1,1) is 0.383


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 1.5, inf, float("nan"), "small", None, True])
def test_bad_delta(delta: object) -> None:
    with pytest.raises(InputError, match="delta="):
        gdp_epsilon(1.0, delta)  # type: ignore[arg-type]


def test_a_mu_below_zero_is_not_no_loss() -> None:
    for ask in (lambda: gdp_epsilon(-1.0, 1e-5), lambda: gdp_delta(-1.0, 0.5)):
        with pytest.raises(InputError, match="mu=-1"):
            ask()
    assert (gdp_epsilon(float("nan"), 1e-5), gdp_delta(float("nan"), 1.0)) == (inf, 1.0)
