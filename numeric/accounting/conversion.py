"""Conversions to (epsilon, delta)-DP: the best one from (alpha, rho)-RDP at one order, and from mu-GDP.

RDP gives the smallest eps with F(p) = p^alpha q^(1-alpha) + (1-p)^alpha (1-q)^(1-alpha) >= e^((alpha-1) rho)
for every p in (delta, 1], where q = (p - delta) e^-eps. F is convex. If F'(p) > 0, the tangent at p is a
lower bound on F to the left of p, and F(p) is a lower bound to the right. Values of eps and p are found in
floats and verified in balls.

A mu-GDP mechanism is (epsilon, delta)-DP if and only if, with the standard normal distribution function Phi,

    delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

Source: docs/proofs/privacy_loss.md (ours/conversion/*); Dong, Roth & Su 2022, Corollary 1; Balle & Wang 2018.
"""

from collections.abc import Callable, Sequence
from math import exp, inf, isfinite, log, log1p, nextafter

from flint import arb
from scipy.optimize import brentq

from lastiterate.numeric.divergences.sampled import gaussian_profile
from lastiterate.numeric.errors import InputError, chance
from lastiterate.numeric.rounding import exact, lower, precision, upper

_NEAR = 1e-15
"""Relative tolerance with which a zero is found."""
_LEAST, _STEEP = 1e-300, 1e300
_NEAR_ZERO = 1e-4
_LEAST_LOG = -744.0
"""Logarithm of about the smallest positive float."""
_LARGE = 1e6
"""Value of mu above which the second term of the formula changes epsilon by a relative 1e-12 at most."""
_WIDEST = 40.0
"""Phi(-40) is below every positive float."""


def rdp_to_dp(order: float, epsilon: float, delta: float) -> float:
    """An epsilon, rounded up and at least 0, for which (order, epsilon)-RDP implies (epsilon, delta)-DP.

    >>> round(rdp_to_dp(2.0, 0.1, 1e-5), 4)
    7.8748
    """
    with precision():
        high = quick_rdp_to_dp(order, epsilon, delta)
        if not isfinite(high):
            return inf
        found = high
        if tangent_point(order, epsilon, delta, 0.0) is not None:
            return 0.0
        high = _crossing(lambda middle: _excess(order, epsilon, delta, middle)[0], 0.0, high)
        for slack in (1e-12, 1e-9, 1e-6):
            candidate = nextafter(high * (1 + slack), inf)
            if candidate < found and tangent_point(order, epsilon, delta, candidate) is not None:
                return candidate
        return found


def quick_rdp_to_dp(order: float, epsilon: float, delta: float) -> float:
    """`rdp_to_dp` without the second term of F: faster, and nearly as tight if (order - 1) epsilon is large.

    >>> round(quick_rdp_to_dp(2.0, 0.1, 1e-5), 4)
    10.2266
    """
    with precision():
        alpha = exact(order)
        turned = exact(epsilon) + (1 - 1 / alpha).log() - (exact(delta).log() + alpha.log()) / (alpha - 1)
        return max(upper(turned), 0.0)


def quick_rdp_to_delta(order: float, rho: float, epsilon: float) -> float:
    """A delta, rounded up, for which (order, rho)-RDP implies (epsilon, delta)-DP, as in `quick_rdp_to_dp`.

    >>> round(quick_rdp_to_delta(2.0, 0.1, quick_rdp_to_dp(2.0, 0.1, 1e-5)), 12)
    1e-05
    """
    with precision():
        alpha = exact(order)
        found = ((alpha - 1) * (exact(rho) - exact(epsilon) + (1 - 1 / alpha).log())).exp() / alpha
        return min(upper(found), 1.0) if found.is_finite() else 1.0


def _crossing(rising: Callable[[float], float], low: float, high: float) -> float:
    """Zero of an increasing function between ``low`` and ``high``; if it is outside, the nearer end."""
    if rising(low) >= 0:
        return low
    return high if rising(high) <= 0 else float(brentq(rising, low, high, xtol=_LEAST, rtol=_NEAR, disp=False))


def _excess(order: float, rho: float, delta: float, eps: float) -> tuple[float, float]:
    """A float with the sign of log F - (order - 1) rho at the minimum of F, and p at the minimum."""
    near_zero = (order - 1) * rho < _NEAR_ZERO  # F is close to 1, and floats do not resolve its slope
    slope = _slope_in_balls if near_zero else _slope
    rarest = max(log(delta) - 50, _LEAST_LOG)
    distance = exp(_crossing(lambda at: slope(order, delta, eps, exp(at)), rarest, log1p(-delta)))
    p = min(delta + distance, 1.0)
    if near_zero:
        return float(
            (_value_and_slope(order, delta, eps, p)[0] - ((exact(order) - 1) * exact(rho)).exp()).mid()
        ), p
    log_r, log_s = _ratios(delta, eps, distance)
    one, other = log(p) + (order - 1) * log_r, log(max(1 - p, 1e-300)) + (order - 1) * log_s
    return max(one, other) + log1p(exp(-abs(one - other))) - (order - 1) * rho, p


def _ratios(delta: float, eps: float, distance: float) -> tuple[float, float]:
    q = min(distance * exp(-eps), 1 - 1e-16)
    return log(delta + distance) - log(distance) + eps, log(max(1 - delta - distance, 1e-300)) - log1p(-q)


def _slope(order: float, delta: float, eps: float, distance: float) -> float:
    """A float with the sign of F'(p) at p = delta + distance, increasing in the distance."""
    log_r, log_s = _ratios(delta, eps, distance)
    first = order - (order - 1) * exp(min(log_r - eps, 700.0))
    second = order - (order - 1) * exp(log_s - eps)
    return -_STEEP if first <= 0 else log(first) + (order - 1) * log_r - log(second) - (order - 1) * log_s


def _slope_in_balls(order: float, delta: float, eps: float, distance: float) -> float:
    point = min(delta + distance, 1.0)
    slope = float(_value_and_slope(order, delta, eps, point)[1].mid()) if point > delta else -_STEEP
    return max(-_STEEP, min(_STEEP, slope))


def tangent_point(order: float, rho: float, delta: float, eps: float) -> float | None:
    """A point whose tangent proves that F is large enough for every p, or None."""
    p = _excess(order, rho, delta, eps)[1]
    for point in (p, min(p * (1 + 1e-12), 1.0), min(p * (1 + 1e-9), 1.0)):
        if point <= delta:
            continue
        least = _least(order, delta, eps, point)
        if least is not None and least >= ((exact(order) - 1) * exact(rho)).exp():
            return point
    return None


def _least(order: float, delta: float, eps: float, point: float) -> arb | None:
    """Lower bound on F from the tangent at a point; None if the required sign of F' is not certain."""
    value, slope = _value_and_slope(order, delta, eps, point)
    if slope > 0:
        return value - slope * (exact(point) - exact(delta))
    return value if point == 1 and slope <= 0 else None  # F decreases up to 1


def _value_and_slope(order: float, delta: float, eps: float, point: float) -> tuple[arb, arb]:
    alpha, p, turn = exact(order), exact(point), (-exact(eps)).exp()
    q = (p - exact(delta)) * turn
    r = p / q
    value, slope = p * r ** (alpha - 1), r ** (alpha - 1) * (alpha - (alpha - 1) * turn * r)
    if point < 1:
        s = (1 - p) / (1 - q)
        value += (1 - p) * s ** (alpha - 1)
        slope -= s ** (alpha - 1) * (alpha - (alpha - 1) * turn * s)
    return value, slope


def mixed_rdp(
    inside: float, failure: float, outside: float, order: float, rarer: Sequence[tuple[float, float]] = ()
) -> float:
    """log((1 - p) e^((alpha-1) G) + p e^((alpha-1) F)) / (alpha - 1), rounded up.

    The bound G = ``inside`` holds outside an event of probability p = ``failure``, rounded up. Without
    ``rarer``, the bound F = ``outside`` always holds. Each pair in ``rarer`` gives the probability that the
    previous bound (at first, F) fails, and the bound that then holds; alpha is ``order``.

    >>> round(mixed_rdp(0.0, 0.5, 1.0, 2.0), 4)  # log((1 + e) / 2)
    0.6201
    """
    if failure == 0.0 or (inside >= outside and not rarer):
        return inside if failure == 0.0 else outside
    with precision():
        p, power, here = exact(failure), exact(order) - 1, exact(inside)
        total = 1 - p + p * (power * (exact(max(inside, outside)) - here)).exp()
        for chance, bound in rarer:
            total += exact(chance) * (power * (exact(bound) - here)).exp()
        epsilon = upper(here + total.log() / power)
    return epsilon if rarer else min(epsilon, outside)


def gdp_delta(mu: float, epsilon: float) -> float:
    """Smallest delta, rounded up, for which mu-GDP implies (epsilon, delta)-DP; epsilon is at least 0.

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
    """Smallest epsilon, rounded up, for which mu-GDP implies (epsilon, delta)-DP.

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
    while nextafter(low, inf) < high:  # ends at adjacent floats
        middle = low + (high - low) / 2
        low, high = (middle, high) if gdp_delta(mu, middle) > delta else (low, middle)
    return high


def gdp_epsilon_below(mu: float, delta: float) -> float:
    """An epsilon, rounded down and at least 0, below which mu-GDP does not imply (epsilon, delta)-DP.

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
    if mu < 0:
        raise InputError(f"mu needs a number of at least 0, got mu={mu:g}; use its absolute value.")


def _first_term_alone(mu: float, delta: float) -> float:
    """Epsilon = mu^2 / 2 + mu z with Phi(-z) <= delta, rounded up and at least 0."""
    with precision():
        low, high = -_WIDEST, _WIDEST
        while nextafter(low, inf) < high:
            middle = (low + high) / 2
            below = (exact(middle) / arb(2).sqrt()).erfc() / 2 <= exact(delta)
            low, high = (low, middle) if below else (middle, high)
        return max(upper(exact(mu) ** 2 / 2 + exact(mu) * exact(high)), 0.0)
