"""From a Gaussian trade-off to (epsilon, delta), rounded up or down.

A mechanism that is mu-GDP is (epsilon, delta)-DP exactly for

    delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu),

Phi the standard normal distribution function. Source: Dong, Roth & Su 2022, Corollary 1; Balle & Wang 2018.
"""

from math import inf, isfinite, nextafter

from flint import arb

from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.errors import InputError, chance
from lastiterate.numeric.rounding import exact, lower, precision, upper

_LARGE = 1e6
"""From here on the second term of the formula moves epsilon by less than 1e-12 of it."""
_WIDEST = 40.0
"""Phi(-40) is below every positive float."""


def gdp_delta(mu: float, epsilon: float) -> float:
    """The least delta, rounded up, for which mu-GDP implies (epsilon, delta)-DP; epsilon is finite and at least 0.

    Raises:
        InputError: mu is below 0.

    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    _size(mu)
    if mu == 0:
        return 0.0
    if not isfinite(mu):
        return 1.0
    bits = 192
    while True:
        with precision(bits):
            value = gaussian_profile(exact(mu), exact(epsilon))
            if value.rel_accuracy_bits() > 50 or bits > 1 << 16:
                return min(upper(value), 1.0)
        bits *= 2  # the two terms nearly cancel


def gdp_epsilon(mu: float, delta: float) -> float:
    """The least epsilon, rounded up, for which mu-GDP implies (epsilon, delta)-DP.

    Raises:
        InputError: delta is outside (0, 1), or mu is below 0.

    >>> round(gdp_epsilon(1.0, 1e-5), 4)
    4.3772
    """
    delta = chance("delta", delta)
    _size(mu)
    if not isfinite(mu):
        return inf
    if mu < _LARGE and gdp_delta(mu, 0.0) <= delta:
        return 0.0
    low, high = 0.0, _first_term_alone(mu, delta)
    if mu >= _LARGE:
        return high
    while nextafter(low, inf) < high:  # floats are finitely many: this ends on neighbours
        middle = low + (high - low) / 2
        low, high = (middle, high) if gdp_delta(mu, middle) > delta else (low, middle)
    return high


def gdp_epsilon_below(mu: float, delta: float) -> float:
    """An epsilon, rounded down and at least 0, up to which mu-GDP does not imply (epsilon, delta)-DP.

    Raises:
        InputError: delta is outside (0, 1), or mu is below 0.

    >>> round(gdp_epsilon_below(1.0, 1e-5), 4), gdp_epsilon_below(1e-9, 0.5)
    (4.3772, 0.0)
    """
    epsilon, step = gdp_epsilon(mu, delta), 1e-15
    while 0 < epsilon < inf:
        with precision(1024):
            if lower(gaussian_profile(exact(mu), exact(epsilon))) >= delta:
                return epsilon
        epsilon, step = epsilon * (1 - min(step, 1.0)), 4 * step
    return epsilon


def _size(mu: float) -> None:
    """Refuse a mu below 0, at which the formula would say that nothing is lost."""
    if mu < 0:
        raise InputError(f"mu needs a number of at least 0, got mu={mu:g}; take its size.")


def _first_term_alone(mu: float, delta: float) -> float:
    """mu^2 / 2 + mu z with Phi(-z) <= delta, rounded up and at least 0: what the first term of the formula needs."""
    with precision():
        low, high = -_WIDEST, _WIDEST
        while nextafter(low, inf) < high:
            middle = (low + high) / 2
            below = (exact(middle) / arb(2).sqrt()).erfc() / 2 <= exact(delta)
            low, high = (low, middle) if below else (middle, high)
        return max(upper(exact(mu) ** 2 / 2 + exact(mu) * exact(high)), 0.0)
