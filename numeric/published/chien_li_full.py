"""Chien & Li 2025, full batches, as printed, at their exact optimum over tau and beta.

Theorem 3.1, (3): for a window that starts at tau, w = T - tau,

    sum s^2 / beta_t + Delta^2 / sum (1 - beta_t) c^-2(t - tau + 1),   0 <= beta_t <= 1,

is least at s + a_j = max(s, lam c^-j), beta_j = min(1, s c^j / lam), where sum c^-j a_j = Delta, and its value is
sum max(s, lam c^-j)^2 (claim chien_li/theorem_3_1/shares/optimum). Theorem 3.7 in the same way is the program of
direct shifts for e(z) = z + eta L z^lambda + s.

These numbers are what the paper claims; whether they hold is the ledger's business. They are rounded up by more than
their float error, about 1e-12.
"""

from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.shift_program.shooting import shoot

LONGEST = 4096
"""Windows considered; each is a valid instance of the theorem, a longer one could only lower the minimum."""

_UP = 1 + 1e-12


def theorem_3_1(c: float, s: float, clip_drift: float, diameter: float, steps: int) -> float:
    """The value of (3) without its factor alpha / (2 sigma^2), minimised over tau and beta; a squared length.

    Args:
        c: Lipschitz constant of the update map; at 0 (up to rounding) one update forgets the past, and the last
            step alone counts.
        s: sensitivity of one step, 2 eta K / n, a length.
        clip_drift: 2 eta K, a length.
        diameter: D, a length, may be inf.
        steps: T.
    """
    if c <= 0:
        return s**2 * _UP
    best = steps * s**2  # tau = 0: Delta = 0, beta = 1
    horizon = min(steps, LONGEST)
    if c != 1:
        horizon = min(horizon, max(1, int(300 / abs(np.log(c)))))  # c^-2w stays a float
    powers: Array = np.power(float(c), -np.arange(1.0, horizon + 1))
    V = np.concatenate([[0.0], np.cumsum(powers)])
    W = np.concatenate([[0.0], np.cumsum(powers**2)])
    for w in range(1, horizon + 1):
        tau = steps - w
        if tau == 0:
            continue
        distance = min(s * _geometric_growth(c, tau), clip_drift * tau, diameter)
        if isfinite(distance):
            best = min(best, _waterfill(V[: w + 1], W[: w + 1], powers[:w], s, distance))
    return best * _UP


def _geometric_growth(c: float, tau: int) -> float:
    """1 + c + ... + c^(tau - 1)."""
    exponent = tau * np.log(c)
    if abs(exponent) < 1e-12:
        return float(tau)
    return float(np.expm1(exponent) / (c - 1)) if exponent < 700 else np.inf


def _waterfill(V: Array, W: Array, powers: Array, s: float, distance: float) -> float:
    """Least sum max(s, lam p_j)^2 with sum p_j (max(s, lam p_j) - s) = distance, p_j = c^-j monotone."""
    w = len(powers)
    rising = powers[-1] >= powers[0]
    free = np.arange(w) if rising else np.arange(1, w + 1)  # the free set is j > free, or j <= free
    v, q = (V[w] - V[free], W[w] - W[free]) if rising else (V[free], W[free])
    lam = (distance + s * v) / q
    edge = powers[free] if rising else powers[free - 1]
    # Of the free sets whose every member is above s, the largest; its lam leaves the others at s.
    fits = np.flatnonzero(lam * edge >= s * (1 - 1e-13))
    k = fits[0] if rising else fits[-1]
    held = free[k] if rising else w - free[k]
    return float(lam[k] ** 2 * q[k] + held * s**2)


@dataclass(frozen=True)
class Printed(Expansion):
    """e(z) = z + eta L z^lambda + s, as Theorem 3.7 prints it: no clip cap, no factor (n - 1)/n."""

    weight: float
    order: float
    sensitivity: arb

    def plus(self, step: arb) -> "Printed":
        return replace(self, sensitivity=self.sensitivity + step)

    def value(self, z: Array) -> Array:
        return z + self.weight * np.power(z, self.order) + float(self.sensitivity)

    def slope(self, z: Array) -> Array:
        return 1 + self.weight * self.order * np.power(z, self.order - 1)

    def ball(self, z: arb) -> arb:
        drift = z ** exact(self.order) if z > 0 else arb(0).union(z.upper() ** exact(self.order))
        return z + exact(self.weight) * drift + self.sensitivity


def theorem_3_7(weight: float, order: float, s: float, diameter: float, steps: int) -> float:
    """The value of (13) without its factor alpha / (2 sigma^2), minimised over tau, beta and the shifts.

    From tau = 0 nothing beats composition, since g(z) + s >= z + s; with tau > 0 the best start is the diameter.
    The weight is eta L, the order lambda; all else is as for `theorem_3_1`.
    """
    best = steps * s**2
    if isfinite(diameter):
        best = min(best, shoot(Printed(weight, order, exact(s)), diameter, steps).cost)
    return best * _UP
