"""D2P2-SGD's Theorem 1 with small batches: the loss of one step, integrated, against what a claim says of it."""

import pytest
from mpmath import erfc, exp, inf, log, mp, mpf, pi, quad, sqrt


def tail(x: mpf) -> mpf:
    return erfc(x / sqrt(2)) / 2


def delta(epsilon: mpf, rate: mpf, nu: mpf) -> mpf:
    """E over A of the profile of (1 - q) N(0, nu^2) + q N(A, nu^2) over N(0, nu^2) at exp(epsilon)."""
    level = log(1 + (exp(epsilon) - 1) / rate)

    def given(a: mpf) -> mpf:
        m = a / nu
        return rate * (tail(level / m - m / 2) - exp(level) * tail(level / m + m / 2)) * exp(-(a**2) / 2)

    peak = sqrt(level * nu)  # where the product of both tails is largest
    return 2 * quad(given, [peak / 50, peak / 2, peak, 2 * peak, 4 * peak, inf]) / sqrt(2 * pi)


@pytest.mark.parametrize("constant", ["0.001", "0.1", "1"])
@pytest.mark.parametrize("more", [1, 10, 1000])
def test_the_true_delta_is_as_large_as_the_claim_says(constant: str, more: int) -> None:
    with mp.workdps(40):
        C_2, epsilon = mpf(constant), log(mpf(12) / 11)
        chi = more * max(576 * C_2 / (11 * epsilon) ** 2, (11 * epsilon) ** 2 / C_2)
        nu = sqrt(C_2 * chi) / (11 * epsilon)
        assert nu >= 1 - mpf(10) ** -30
        assert log(delta(epsilon, mpf(1) / 11, nu)) >= -chi / 2 - log(44 * pi)
        assert log(delta(epsilon, mpf(1) / 11, nu)) > -chi or more == 1
