"""Chien & Li 2025, as printed, at the optimum over windows, shares and shifts.

This package has their conventions: noise on the iterate, K the clip norm, D a diameter. Shares beta_t split
the variance of the noise; shifts a_t hide the past of a window of w = T - tau steps. Values are rounded up by
more than their floating-point error of 1e-12.

*Full batches.* Theorem 3.1, (3), minimises sum s^2 / beta_t + Delta^2 / sum (1 - beta_t) c^-2(t - tau + 1)
over 0 <= beta_t <= 1. The optimum is s + a_j = max(s, lam c^-j), beta_j = min(1, s c^j / lam), where sum c^-j
a_j = Delta. Its value is sum max(s, lam c^-j)^2 (claim chien_li/theorem_3_1/shares/optimum). Similarly,
Theorem 3.7 becomes the program of direct shifts for e(z) = z + eta L z^lambda + s.

*Without replacement.* Theorem 3.12, (19), has S_alpha(b/n, beta_t sigma b / (2 eta K)), although the noise
that hides the data change has the *variance* beta_t sigma^2 (below (70)). We use sqrt(beta_t), which gives a
smaller value. S_alpha is their (18), the smaller direction of the sampled Gaussian.
"""

from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.published.altschuler_talwar import smaller_direction
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import run_forward
from lastiterate.numeric.shift_program.search import shoot

LONGEST = 4096
"""Longest window tried; any window is an instance of the theorem, and longer windows could only lower the minimum."""
_UP = 1 + 1e-12
_SHARES = np.sin(np.linspace(0, np.pi / 2, 34)[1:-1]) ** 2
"""Shares beta_t that are tried; only every third for Hölder losses, whose searches are slow."""
_LONGEST_TRACK = 10**5


def of_full_batches(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """Theorem 3.1, with the Lipschitz constant of the update for these losses."""
    eta = run.step_size_at(0)
    c, drift = 1 + eta * _hoelder(assumption)[0], 2 * eta * run.clip_norm
    if isinstance(assumption, Convex | StronglyConvex):
        c = 1 - eta * getattr(assumption, "m", 0.0)
    return _renyi(run, order, theorem_3_1(c, drift / run.dataset_size, drift, run.diameter, run.steps))


def of_hoelder_losses(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """Theorem 3.7."""
    eta, (L, lam) = run.step_size_at(0), _hoelder(assumption)
    s = 2 * eta * run.clip_norm / run.dataset_size
    return _renyi(run, order, theorem_3_7(eta * L, lam, s, run.diameter, run.steps))


def _renyi(run: NoisySGD, order: float, squared_length: float) -> float:
    return order / (2 * run.noise_std_at(0) ** 2) * squared_length * (1 + 1e-14)


def _hoelder(assumption: Assumption) -> tuple[float, float]:
    assert isinstance(assumption, Holder | Convex | StronglyConvex)  # noqa: S101  # see the records
    return assumption.L, assumption.lam if isinstance(assumption, Holder) else 1.0


def theorem_3_1(c: float, s: float, clip_drift: float, diameter: float, steps: int) -> float:
    """Value of (3) without its factor alpha / (2 sigma^2), minimised over tau and beta; a squared length.

    c is the Lipschitz constant of the update map; if c = 0, only the last step counts. s = 2 eta K / n,
    ``clip_drift`` = 2 eta K and ``diameter``, which may be inf, are lengths.
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
    for w in range(1, min(horizon, steps - 1) + 1):
        distance = min(s * _geometric_growth(c, steps - w), clip_drift * (steps - w), diameter)
        if isfinite(distance):
            best = min(best, _waterfill(V[: w + 1], W[: w + 1], powers[:w], s, distance))
    return best * _UP


def _geometric_growth(c: float, tau: int) -> float:
    exponent = tau * np.log(c)
    if abs(exponent) < 1e-12:
        return float(tau)
    return float(np.expm1(exponent) / (c - 1)) if exponent < 700 else np.inf


def _waterfill(V: Array, W: Array, powers: Array, s: float, distance: float) -> float:
    """Minimum of sum max(s, lam p_j)^2 with sum p_j (max(s, lam p_j) - s) = distance, for monotone p_j = c^-j."""
    w = len(powers)
    rising = powers[-1] >= powers[0]
    free = np.arange(w) if rising else np.arange(1, w + 1)  # the free set is j > free, or j <= free
    v, q = (V[w] - V[free], W[w] - W[free]) if rising else (V[free], W[free])
    lam = (distance + s * v) / q
    edge = powers[free] if rising else powers[free - 1]
    # The largest free set whose members all exceed s; its lam leaves the other steps at s.
    fits = np.flatnonzero(lam * edge >= s * (1 - 1e-13))
    k = fits[0] if rising else fits[-1]
    held = free[k] if rising else w - free[k]
    return float(lam[k] ** 2 * q[k] + held * s**2)


@dataclass(frozen=True)
class PrintedExpansion(UpdateExpansion):
    """e(z) = z + eta L z^lambda + s, as in Theorem 3.7: without clip cap, without factor (n - 1)/n."""

    weight: float
    order: float
    sensitivity: arb

    def plus(self, step: arb) -> "PrintedExpansion":
        return replace(self, sensitivity=self.sensitivity + step)

    def value(self, z: Array) -> Array:
        return z + self.weight * np.power(z, self.order) + float(self.sensitivity)

    def slope(self, z: Array) -> Array:
        return 1 + self.weight * self.order * np.power(z, self.order - 1)

    def ball(self, z: arb) -> arb:
        drift = z ** exact(self.order) if z > 0 else arb(0).union(z.upper() ** exact(self.order))
        return z + exact(self.weight) * drift + self.sensitivity


def theorem_3_7(weight: float, order: float, s: float, diameter: float, steps: int) -> float:
    """Value of (13) without its factor alpha / (2 sigma^2), minimised over tau, beta and the shifts.

    With tau = 0, composition is optimal, since g(z) + s >= z + s; with tau > 0, the best start is the
    diameter. ``weight`` is eta L, and ``order`` is lambda; other arguments are as in `theorem_3_1`.
    """
    best = steps * s**2
    if isfinite(diameter):
        best = min(best, float(np.sum(shoot(PrintedExpansion(weight, order, exact(s)), diameter, steps) ** 2)))
    return best * _UP


def theorem_3_12(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """Minimise sum S_alpha(b/n, sqrt(beta_t) sigma b/(2 eta K)) + alpha a_t^2/(2 sigma^2 (1 - beta_t)).

    The search over tau, beta and a first uses the shifts for one common share; then every step takes its best
    share from a table. The result is an instance of the theorem, near the minimum.
    """
    L, lam = _hoelder(assumption)
    with precision():
        composed = upper(run.steps * exact(smaller_direction(run, order)))
        start = _tracked_to_the_last_step(run, L, lam)
        if run.steps == 1 or not isfinite(start) or start == 0:
            return composed
        costs = np.array([smaller_direction(run, order, share) for share in _SHARES])
        expansion = PrintedExpansion(upper(exact(run.step_size_at(0)) * exact(L)), lam, arb(0))
        scale, best = order / (2 * run.noise_std_at(0) ** 2), composed
        noise = exact(run.noise_std_at(0))
        parts = [float((noise * (1 - exact(share)).sqrt()).lower()) * (1 - 1e-15) for share in _SHARES.tolist()]
        for k in range(0, len(_SHARES), 1 if lam == 1 else 3):
            shifts = _cheapest_shifts(expansion, start, run.steps, costs[k] * (1 - _SHARES[k]) / scale)
            paid = costs + scale * shifts[:, None] ** 2 / (1 - _SHARES)
            chosen = np.argmin(paid, axis=1)
            if paid[np.arange(len(shifts)), chosen].sum() < best:  # in balls; the last shift hides the rest
                noises = [parts[one] for one in chosen]
                squares = run_forward(lambda _t: expansion, noises.__getitem__, start, shifts)
                tolls = sum((exact(float(costs[one])) for one in chosen), arb(0))
                best = min(best, upper(tolls + exact(order) * squares / 2))
        return best


def _tracked_to_the_last_step(run: NoisySGD, L: float, lam: float) -> float:
    """D_{T-1} of (21), rounded up, which bounds D_tau for every window.

    D_0 = 0, D_t = min(g(D_{t-1}; eta L (b-1)/b) + 2 eta K/b, D_{t-1} + 2 eta K, D), g(x; c) = x + c x^lambda.
    """
    eta, K, b = run.step_size_at(0), run.clip_norm, run.batch
    weight, distance = eta * L * (b - 1) / b, 0.0
    for _ in range(min(run.steps - 1, _LONGEST_TRACK)):
        distance = _UP * min(distance + weight * distance**lam + 2 * eta * K / b, distance + 2 * eta * K)
        if distance >= run.diameter:
            return run.diameter
    return distance if run.steps - 1 <= _LONGEST_TRACK else run.diameter


def _cheapest_shifts(expansion: PrintedExpansion, start: float, steps: int, toll: float) -> Array:
    """Shifts that hide ``start`` at the lowest cost if each step costs ``toll``, a squared length."""
    if expansion.order != 1:
        return shoot(expansion, start, steps, toll)
    lengths = np.arange(1, min(steps, LONGEST) + 1)
    with np.errstate(over="ignore"):
        powers = (1 + expansion.weight) ** (-1.0 * lengths)
        width = np.cumsum(powers**2)
        length = int(np.argmin(lengths * toll + start**2 / width)) + 1
    shifts: Array = start * powers[:length] / width[length - 1]
    return shifts
