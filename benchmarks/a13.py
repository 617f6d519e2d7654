"""The baseline: the procedure of Chien & Li 2025, A.13, "Computational complexity", written afresh.

The paper says: for a fixed tau the bound is minimised over the shifts a_t and the shares beta_t by
scipy.optimize.minimize; tau is found by a binary search. It names neither the method nor the start, so these are
our choices, each in favour of the baseline:

- SLSQP, what scipy itself picks when there are bounds and a constraint;
- exact gradients of objective and constraint, where finite differences would cost a factor 2 (T - tau);
- the start a_t equal, or equal contributions to the constraint, beta_t = 1/2;
- lengths in units of the sensitivity, so that the default tolerance is relative;
- the binary search compares tau with tau + 1 and takes the value to be unimodal in tau.

Like the paper's, it need not find the global optimum. Any feasible point is valid, so what SLSQP returns is first
scaled up until it meets its constraint; a run that fails counts with the value of its start.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

__all__ = ["Setting", "hoelder", "smooth"]

Array = NDArray[np.float64]

_LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class Setting:
    """T, n, eta, K, D, L as in the paper, noise 1; ``lam`` is used by the Hölder theorem alone."""

    steps: int
    samples: int
    eta: float
    K: float
    D: float
    L: float
    lam: float = 1.0

    @property
    def s(self) -> float:
        """2 eta K / n."""
        return 2 * self.eta * self.K / self.samples


@dataclass(frozen=True)
class _Reach:
    """How much distance shifts hide: the value of the constraint and its gradient, and how to mend a shortfall."""

    of: Callable[[Array], float]
    gradient: Callable[[Array], Array]


def smooth(setting: Setting) -> float:
    """Theorem 3.1, (8) with (11), for smooth losses: sum of s^2 / beta_t + a_t^2 / (1 - beta_t), a squared length."""
    s, c, T = setting.s, 1 + setting.eta * setting.L, setting.steps

    def value(tau: int) -> float:
        drift = s * tau if c == 1 else s * (c**tau - 1) / (c - 1)
        powers = c ** -np.arange(1.0, T - tau + 1)
        reach = _Reach(lambda a: float(powers @ a), lambda a: powers)  # noqa: ARG005
        return _fixed_tau(s, min(drift, 2 * setting.eta * setting.K * tau, setting.D), T - tau, reach)

    return _search(value, T)


def hoelder(setting: Setting) -> float:
    """Theorem 3.7, (13)-(15): the same objective under A_tau >= D_tau, A_{t-1} = h(A_t + a_{t-1}), A_T = 0."""
    s, T = setting.s, setting.steps
    tracked = [0.0]
    for _ in range(T):
        d = tracked[-1]
        tracked.append(min(_g(setting, d) + s, d + 2 * setting.eta * setting.K, setting.D))

    def value(tau: int) -> float:
        reach = _Reach(lambda a: _back(setting, a)[-1], lambda a: _back_gradient(setting, a))
        return _fixed_tau(s, tracked[tau], T - tau, reach)

    return _search(value, T)


def _g(setting: Setting, x: float) -> float:
    return x + setting.eta * setting.L * x**setting.lam


def _h(setting: Setting, z: float) -> float:
    """The inverse of g; closed form for lambda = 1/2, Lemma 3.9."""
    if z <= 0:
        return 0.0
    if setting.lam == 0.5:
        w = setting.eta * setting.L
        return ((-w + np.sqrt(w**2 + 4 * z)) / 2) ** 2
    return float(brentq(lambda x: _g(setting, x) - z, 0.0, z, xtol=1e-15))


def _back(setting: Setting, a: Array) -> list[float]:
    """A_T, A_{T-1}, ..., A_tau."""
    reach = [0.0]
    for shift in a[::-1]:
        reach.append(_h(setting, reach[-1] + shift))
    return reach


def _back_gradient(setting: Setting, a: Array) -> Array:
    """d A_tau / d a_t: the product of h' from tau to t."""
    reached = np.maximum(np.array(_back(setting, a)[1:][::-1]), 1e-300)  # A_tau, ..., A_{T-1}
    slope = 1 / (1 + setting.eta * setting.L * setting.lam * reached ** (setting.lam - 1))
    return np.cumprod(slope)


def _fixed_tau(s: float, distance: float, length: int, reach: _Reach) -> float:
    """The least objective found over a and beta for one tau."""
    if distance == 0:
        return length * s**2
    first = np.full(length, distance / length)
    first *= _enough(first, distance, reach)
    unit = s

    def objective(x: Array) -> float:
        a, beta = x[:length], x[length:]
        return float(np.sum(1 / beta + a**2 / (1 - beta)))

    def gradient(x: Array) -> Array:
        a, beta = x[:length], x[length:]
        return np.concatenate([2 * a / (1 - beta), -1 / beta**2 + a**2 / (1 - beta) ** 2])

    found = minimize(
        objective,
        np.concatenate([first / unit, np.full(length, 0.5)]),
        jac=gradient,
        method="SLSQP",
        bounds=[(0, None)] * length + [(_LEAST_SHARE, 1 - _LEAST_SHARE)] * length,
        constraints=[
            {
                "type": "ineq",
                "fun": lambda x: (reach.of(x[:length] * unit) - distance) / unit,
                "jac": lambda x: np.concatenate([reach.gradient(x[:length] * unit), np.zeros(length)]),
            }
        ],
        options={"maxiter": 1000},
    )
    points = [np.concatenate([first / unit, np.full(length, 0.5)]), found.x]
    return min(unit**2 * objective(_mended(x, distance / unit, unit, reach)) for x in points)


def _mended(x: Array, distance: float, unit: float, reach: _Reach) -> Array:
    """The same point with its shifts scaled up until they reach the distance, and its shares inside (0, 1)."""
    half = len(x) // 2
    a = np.maximum(x[:half], 0.0)
    scaled = _Reach(lambda b: reach.of(b * unit) / unit, reach.gradient)
    beta = np.clip(x[half:], _LEAST_SHARE, 1 - _LEAST_SHARE)
    return np.concatenate([a * _enough(a, distance, scaled), beta])


def _enough(a: Array, distance: float, reach: _Reach) -> float:
    """A factor of at least 1 by which the shifts reach the distance."""
    if reach.of(a) >= distance:
        return 1.0
    high = 2.0
    while reach.of(a * high) < distance:
        high *= 2
        if high > 1e12:
            return np.inf
    factor = float(brentq(lambda f: reach.of(a * f) - distance, 1.0, high, xtol=1e-14))
    while reach.of(a * factor) < distance:
        factor *= 1 + 1e-14
    return factor


def _search(value: Callable[[int], float], steps: int) -> float:
    """Binary search over tau in 1..T-1, beside tau = 0, where beta = 1 gives composition."""
    low, high, known = 1, steps - 1, {0: value(0)}

    def at(tau: int) -> float:
        if tau not in known:
            known[tau] = value(tau)
        return known[tau]

    while low < high:
        middle = (low + high) // 2
        if at(middle) <= at(middle + 1):
            high = middle
        else:
            low = middle + 1
    if low < steps:
        at(low)
    return min(known.values())
