"""Divergences and privacy profiles by sums, normal laws to fifty digits, and trapezoidal rules in floats.

For smooth integrands on the line, the trapezoidal rule converges faster than any power of the step; with a
kink, its error is of the order of the squared step.
"""

from collections.abc import Callable
from math import comb, exp, log, pi, sqrt
from typing import NamedTuple

import mpmath as mp
import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from lastiterate.numeric.arrays import Array

LINE = np.linspace(-40.0, 60.0, 100_001)
_STEP = float(LINE[1] - LINE[0])


def binomial(count: int, rate: float) -> list[float]:
    """Probabilities of 0 to ``count`` successes."""
    return [comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(count + 1)]


def solve_between(function: Callable[..., float], low: float, high: float, *more: float) -> float:
    """Root of a function in its first argument, between values of different signs."""
    return float(brentq(function, low, high, more, xtol=1e-14))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Delta of mu-GDP: Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    with mp.workdps(50):
        half, move = mp.mpf(mu) / 2, mp.mpf(epsilon) / mp.mpf(mu)
        return float(mp.ncdf(half - move) - mp.exp(epsilon) * mp.ncdf(-half - move))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Epsilon of mu-GDP at a delta; 0 if (0, delta)-DP holds."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    return solve_between(lambda epsilon: gaussian_delta(mu, epsilon) - delta, 0.0, mu * mu / 2 + 40 * mu)


def renyi_of_densities(numerator: Array, denominator: Array, order: float) -> float:
    """D_alpha between two densities on the line."""
    inside = (numerator > 0) & (denominator > 0)
    logs = order * np.log(numerator[inside]) + (1 - order) * np.log(denominator[inside])
    return float(logsumexp(logs, b=_STEP)) / (order - 1)


def normal_density(x: Array) -> Array:
    """Density of N(0, 1), without scipy.stats and the second that it takes to import."""
    return np.exp(-(x**2) / 2) / sqrt(2 * pi)


def sampled_densities(rate: float, gap: float) -> tuple[Array, Array]:
    """Densities of (1 - q) N(0, 1) + q N(gap, 1) and of N(0, 1)."""
    base = normal_density(LINE)
    return (1 - rate) * base + rate * normal_density(LINE - gap), base


def binomial_renyi(rate: float, gap: float, order: int) -> float:
    """D_alpha between the sampled Gaussian and its base, for whole orders (Mironov, Talwar & Zhang 2019)."""
    terms = [weight * exp(k * (k - 1) * gap**2 / 2) for k, weight in enumerate(binomial(order, rate))]
    return log(sum(terms)) / (order - 1)


def replaced_renyi(rate: float, gap: float, order: float) -> float:
    """Bound in docs/proofs/without_replacement.md for one step: log(1 + alpha (alpha-1) J) / (alpha - 1)."""
    x = np.linspace(gap / 2, gap / 2 + 30, 60_001)
    r = 1 + rate * np.expm1(gap * x - gap**2 / 2)
    values = normal_density(x) * (r**order - 1) * (1 - r ** (1 - order))
    area = (values.sum() - (values[0] + values[-1]) / 2) * (x[1] - x[0])
    return log(1 + float(area)) / (order - 1)


class PrivacyLosses(NamedTuple):
    """Privacy losses of one step, with their masses under numerator and denominator."""

    losses: Array
    numerator: Array
    denominator: Array

    def profile(self, epsilon: Array) -> Array:
        """Delta at any epsilon: P(loss > epsilon) - e^epsilon Q(loss > epsilon), P the numerator."""
        order = np.argsort(self.losses)
        place = np.searchsorted(self.losses[order], epsilon)
        first, second = (np.append(np.cumsum(one[order][::-1])[::-1], 0.0)[place] for one in self[1:])
        return np.asarray(first - np.exp(epsilon) * second)


def losses_of_sampling(rate: float, gap: float, side: str) -> PrivacyLosses:
    """Privacy losses of a sampled Gaussian, for a sample that is removed, added or replaced."""
    mixture, base = (density * _STEP for density in sampled_densities(rate, gap))
    losses = np.log1p(rate * np.expm1(np.minimum(gap * LINE - gap**2 / 2, 600)))
    removed = PrivacyLosses(losses, mixture, base)
    added = PrivacyLosses(-losses, base, mixture)
    if side != "replace":
        return removed if side == "remove" else added
    above = losses > 0
    parts = [np.concatenate([one[above], other[above]]) for one, other in zip(removed, added, strict=True)]
    rest = 1 - parts[1].sum()
    return PrivacyLosses(*(np.append(part, more) for part, more in zip(parts, (0.0, rest, rest), strict=True)))


def two_steps(first: PrivacyLosses, second: PrivacyLosses, delta: float) -> float:
    """Epsilon of two releases at a delta, by the mean profile of one release over the losses of the other."""
    return solve_between(
        lambda epsilon: float(first.numerator @ second.profile(epsilon - first.losses)) - delta, 0.0, 60.0
    )


def converted_epsilon(order: float, rho: float, delta: float) -> float:
    """Least epsilon that (order, rho)-RDP implies, by scans over laws on two points, which attain it."""
    shares = (1 - delta) * np.geomspace(1e-12, 1.0, 4001)[:-1]
    p = delta + shares

    def least(epsilon: float) -> float:
        q = shares * np.exp(-epsilon)
        first = order * np.log(p) + (1 - order) * np.log(q)
        rest = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
        return float(np.logaddexp(first, rest).min()) - (order - 1) * rho

    return 0.0 if least(0.0) >= 0 else solve_between(least, 0.0, 100.0)
