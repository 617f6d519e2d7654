"""Divergences and privacy profiles by elementary means: sums, erfc to fifty digits, and trapezoids in floats.

The trapezoid rule on the line converges faster than any power for what is smooth, and with a kink its error is of the
order of the square of the step. Nothing here uses the balls, lattices or searches of the code.
"""

from collections.abc import Callable
from math import comb, exp, log

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

Array = NDArray[np.float64]
LINE = np.linspace(-40.0, 60.0, 8_001)
_STEP = float(LINE[1] - LINE[0])


def normal_density(x: Array, mean: float = 0.0) -> Array:
    """That of N(mean, 1)."""
    return np.asarray(np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi))


def gaussian_delta(mu: float, epsilon: float) -> mp.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    with mp.workdps(50):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        root = mp.sqrt(2)
        return (mp.erfc((e / m - m / 2) / root) - mp.exp(e) * mp.erfc((e / m + m / 2) / root)) / 2


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The root of it; 0 where delta is larger."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    top = mu * mu / 2 + 40 * mu
    return float(brentq(lambda eps: float(mp.log(gaussian_delta(mu, eps)) - mp.log(delta)), 0.0, top, xtol=1e-14))


def renyi_of_densities(numerator: Array, denominator: Array, order: float) -> float:
    """D_alpha of two densities on the line."""
    inside = (numerator > 0) & (denominator > 0)
    logs = order * np.log(numerator[inside]) + (1 - order) * np.log(denominator[inside])
    return float((np.log(np.exp(logs - logs.max()).sum() * _STEP) + logs.max()) / (order - 1))


def sampled_densities(rate: float, gap: float) -> tuple[Array, Array]:
    """The densities of (1 - q) N(0, 1) + q N(gap, 1) and of N(0, 1)."""
    base = normal_density(LINE)
    return (1 - rate) * base + rate * normal_density(LINE, gap), base


def binomial_renyi(rate: float, gap: float, order: int) -> float:
    """Of the sampled Gaussian against its base, at a whole order (Mironov, Talwar & Zhang 2019)."""
    terms = [
        comb(order, k) * (1 - rate) ** (order - k) * rate**k * exp(k * (k - 1) * gap**2 / 2) for k in range(order + 1)
    ]
    return log(sum(terms)) / (order - 1)


def replaced_renyi(rate: float, gap: float, order: float) -> float:
    """The bound of docs/proofs/without_replacement.md for one step: log(1 + alpha (alpha-1) J) / (alpha - 1)."""
    x = np.linspace(gap / 2, gap / 2 + 30, 60_001)
    r = 1 + rate * np.expm1(gap * x - gap**2 / 2)
    values = normal_density(x) * (r**order - 1) * (1 - r ** (1 - order))
    step = x[1] - x[0]
    return log(1 + float(step * (values.sum() - (values[0] + values[-1]) / 2))) / (order - 1)


Profile = Callable[[Array], Array]
"""Delta at an epsilon of either sign."""


def _gaussian(gap: float) -> Profile:
    def at(epsilon: Array) -> Array:
        return np.asarray(ndtr(gap / 2 - epsilon / gap) - np.exp(epsilon) * ndtr(-gap / 2 - epsilon / gap))

    return at


def sampled_profile(rate: float, gap: float, side: str) -> Profile:
    """The profile of a sampled Gaussian: the sample removed, added, or replaced (advanced joint convexity)."""

    def remove(epsilon: Array) -> Array:
        t = np.exp(epsilon)
        inner = (t - 1 + rate) / rate
        found = rate * _gaussian(gap)(np.log(np.maximum(inner, 1e-300)))
        return np.where(inner > 1e-300, found, 1 - t)

    def flipped(epsilon: Array) -> Array:
        return np.asarray(1 - np.exp(epsilon) + np.exp(epsilon) * remove(-epsilon))

    if side == "gaussian":
        return _gaussian(gap)
    if side == "replace":
        return lambda epsilon: np.where(epsilon >= 0, remove(epsilon), flipped(epsilon))
    return remove if side == "remove" else flipped


def law(rate: float, gap: float, side: str) -> tuple[Array, Array]:
    """Privacy losses of one step at many points and their masses under the numerator."""
    z = LINE
    mixture, base = sampled_densities(rate, gap)
    loss = np.log1p(rate * np.expm1(np.minimum(gap * z - gap**2 / 2, 600)))
    if side == "remove":
        return loss, mixture * _STEP
    if side == "add":
        return -loss, base * _STEP
    z = np.linspace(gap / 2, gap / 2 + 40, 8_001)
    step = float(z[1] - z[0]) * np.where((z == z[0]) | (z == z[-1]), 0.5, 1.0)
    loss = np.log1p(rate * np.expm1(gap * z - gap**2 / 2))
    up, down = ((1 - rate) * normal_density(z) + rate * normal_density(z, gap)) * step, normal_density(z) * step
    return np.concatenate([loss, -loss, [0.0]]), np.concatenate([up, down, [1 - up.sum() - down.sum()]])


def two_steps(first: tuple[float, float, str], second: tuple[float, float, str], delta: float) -> float:
    """Epsilon at a delta of two releases in a row: the mean of the profile of one over the loss of the other."""
    losses, masses = law(*first)
    profile = sampled_profile(*second)

    def excess(epsilon: float) -> float:
        with np.errstate(over="ignore"):
            return float(masses @ profile(epsilon - losses)) - delta

    return float(brentq(excess, 0.0, 60.0, xtol=1e-12))


def converted_epsilon(order: float, rho: float, delta: float) -> float:
    """The least epsilon that (order, rho)-RDP implies at delta: two points attain it; by scans in floats."""
    steps = np.geomspace(1e-12, 1.0, 4001)

    def least(epsilon: float) -> float:
        p = delta + (1 - delta) * steps
        q = np.clip((1 - delta) * steps * np.exp(-epsilon), 1e-300, 1 - 1e-16)
        first = order * np.log(p) + (1 - order) * np.log(q)
        rest = np.where(p < 1, order * np.log(np.maximum(1 - p, 1e-300)) + (1 - order) * np.log1p(-q), -np.inf)
        return float(np.logaddexp(first, rest).min()) - (order - 1) * rho

    return 0.0 if least(0.0) >= 0 else float(brentq(least, 0.0, 1e4, xtol=1e-12))
