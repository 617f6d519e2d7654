"""S_up and S_down at many orders at once, in floats, between proved bounds.

With m = shift / noise, r = 1 - q + q e^u and u = m x - m^2/2, beta = alpha for S_up and 1 - alpha for S_down:
I = integral of phi r^beta, D_alpha = log(I) / (alpha - 1), and J = I - 1 = integral of F, F = phi (r^beta - 1 - beta
(r - 1)) >= 0, which keeps its digits when D is tiny. Both are by the trapezoid rule of step h, off by rho I and rho (I
+ 2 alpha - 1), rho = 2 kappa / (e^(2 pi w/h) - 1), kappa = e^(w^2/2), times cos(m w / 2)^(1-alpha) for S_down. Nodes
are exact in u; NumPy's exp, expm1, log1p and log are taken to err by 4 units in the last place. For m large S_up lies
between the two sides of Minkowski's inequality; what is left goes to the enclosure, order by order.

Source: docs/proofs/divergences.md; Trefethen & Weideman 2014, theorem 5.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp, inf, ldexp, log, pi
from typing import Any

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences import sampled
from lastiterate.numeric.divergences.mixtures import order, positive_scale, ratio, sampling_rate

_UNIT = 2.0**-53
_MOST_NODES = 1 << 19
_WANTED = 2e-12
"""Relative radius beyond which an order goes to the enclosure instead."""

_TERMS = 16
"""Of the Taylor series; the rest is below 0.1^16."""


@dataclass(frozen=True)
class Orders:
    """A divergence at the orders ``alpha`` between proved bounds; ``value`` is in the middle."""

    alpha: Array
    value: Array
    lower: Array
    upper: Array


def s_up_orders(q: Any, noise: Any, alpha: Sequence[float] | Array, *, shift: Any = 1.0) -> Orders:
    """S_up at many orders, all above 1: D_alpha((1-q) N(0, noise^2) + q N(shift, noise^2) || N(0, noise^2)).

    q is exactly this float, so round it up. An `InputError` where an argument is out of range.

    >>> s_up_orders(0.1, 1.0, [1.1, 2.0, 20.0]).value.round(6).tolist()
    [0.008099, 0.017037, 7.576226]
    """
    return _orders(q, noise, alpha, shift, up=True)


def s_down_orders(q: Any, noise: Any, alpha: Sequence[float] | Array, *, shift: Any = 1.0) -> Orders:
    """S_down at many orders: D_alpha(N(0, noise^2) || (1-q) N(0, noise^2) + q N(shift, noise^2)). See `s_up_orders`.

    >>> s_down_orders(0.1, 1.0, [20.0], shift=2.0).value.round(6).tolist()
    [0.080734]
    """
    return _orders(q, noise, alpha, shift, up=False)


def _orders(q: Any, noise: Any, alpha: Sequence[float] | Array, shift: Any, *, up: bool) -> Orders:
    q, s, d = sampling_rate(q), positive_scale("noise", noise), positive_scale("shift", shift)
    ratio(s, d)
    orders = np.array([order(float(a)) if isinstance(a, np.generic) else order(a) for a in alpha])
    value, radius = np.empty_like(orders), np.full_like(orders, inf)
    if q == 1:
        value, radius = orders * (d / s) * (d / s) / 2, 4 * _UNIT * orders * (d / s) * (d / s) / 2 + 5e-324
    else:
        _, octave = np.frexp(orders)
        for which in np.unique(octave):
            some = octave == which
            value[some], radius[some] = _octave(q, d / s, orders[some], up=up)
    lower, upper = np.nextafter(np.maximum(value - radius, 0), 0), np.nextafter(value + radius, inf)
    enclosure = sampled.s_up if up else sampled.s_down
    for k in np.flatnonzero(~(radius <= _WANTED * value)):
        ball = enclosure(q, s, alpha=float(orders[k]), shift=d)
        lower[k], value[k], upper[k] = ball.lower, ball.middle, ball.upper
    return Orders(orders, value, lower, upper)


def _octave(q: float, m: float, alpha: Array, *, up: bool) -> tuple[Array, Array]:
    """Values and radii at orders within a factor 2 of one another; radius inf where this way does not serve."""
    value, radius = _far_apart(q, m, alpha) if up else (np.zeros_like(alpha), np.full_like(alpha, inf))
    todo = ~(radius <= 1e-13 * value)
    if todo.any():
        value[todo], radius[todo] = _trapezoid(q, m, alpha[todo], up=up)
    return value, radius


def _far_apart(q: float, m: float, alpha: Array) -> tuple[Array, Array]:
    exponent = (alpha - 1) * m * m / 2
    low = alpha * m * m / 2 + alpha / (alpha - 1) * log(q)
    gap = alpha / (alpha - 1) * np.exp(np.minimum(-exponent - log(q), 0.0))  # log(1 + z) <= z, z = (1-q)/q e^-exponent
    rounding = 12 * _UNIT * (alpha * m * m / 2 - alpha / (alpha - 1) * log(q))
    return low + gap / 2, np.where(exponent > -log(q), gap / 2 * (1 + 1e-9) + rounding, inf)


def _trapezoid(q: float, m: float, alpha: Array, *, up: bool) -> tuple[Array, Array]:
    top = float(alpha.max())
    beta = (alpha if up else 1 - alpha)[:, None]
    small = min(2 * log(q) + min(m * m, 30.0) + min(2 * log(m), 0.0), 0.0)  # about log of J / (alpha (alpha - 1))
    depth = 36 + log(1 + 2 * top) - small - min(log(float(alpha.min()) - 1), 0.0)
    mh, bend = _step(m, depth, 0.0 if up else top - 1)
    h = mh / m
    reach = float(np.sqrt(2 * depth)) + 1
    left = -reach if up else _stationary(q, m, top) - reach
    right = (top * m if up else m) + reach
    if not (right - left) / h < _MOST_NODES:
        return np.zeros_like(alpha), np.full_like(alpha, inf)
    k = np.arange(np.floor((left - m / 2) / h), np.ceil((right - m / 2) / h) + 1)
    u = k * mh  # exact
    x = u / m + m / 2
    density = _density(x, 0.0)
    t = q * np.expm1(np.minimum(u, 700.0))
    log_r = np.log1p(np.maximum(t, -0.5))
    log_r = np.where(t < -0.5, np.log((1 - q) + q * np.exp(np.minimum(u, 1.0))), log_r)
    log_r = np.where(u > 700, log(q) + u, log_r)  # what is left out is below e^-500
    exponent = beta * log_r - x * x / 2
    peak = exponent.max(axis=1, keepdims=True)
    f = np.exp(exponent - peak)
    total = f.sum(axis=1)
    weight = f / total[:, None]
    unit = (
        40
        + 8 * (weight * (x * x + m * np.abs(x))).sum(axis=1)
        + np.abs(beta[:, 0]) * (8 + 4 * (weight * np.abs(log_r)).sum(axis=1))
    )
    edge = np.array([0, -1])
    slope = m * (np.array([0.0, 1.0]) if up else np.exp(log(q) + u[edge] - log_r[edge]))
    tilt = beta * slope - x[edge]  # at least so steep from there on, out to infinity
    ends = (f[:, edge] / np.abs(tilt)).sum(axis=1) / (h * total)  # of the tails, relative to the sum
    moment = peak[:, 0] + np.log(total * h / np.sqrt(2 * pi))
    error = 1.01 * (bend + ends) + _UNIT * (unit + np.abs(peak[:, 0]))
    value, radius = moment / (alpha - 1), (error + 4 * _UNIT * np.abs(moment)) / (alpha - 1)
    near = moment < 1
    if near.any():
        outer = density[edge] + _density(x[edge], log_r[edge])
        rest = float((outer / (np.abs(x[edge]) - m * np.array([0, 1]))).sum())
        missed = ends[near] * np.e + (alpha[near] - 1) * rest
        value[near], radius[near] = _near(beta[near], alpha[near], x, density, t, log_r, h, m, bend, missed, up=up)
    return value, radius


def _near(
    beta: Array,
    alpha: Array,
    x: Array,
    density: Array,
    t: Array,
    log_r: Array,
    h: float,
    m: float,
    bend: float,
    missed: Array,
    *,
    up: bool,
) -> tuple[Array, Array]:
    """From J, for orders with I < e; ``missed`` bounds the tails, ``bend`` is rho."""
    excess = (alpha - 1)[:, None]
    steep = (beta - 1 if up else beta) * log_r
    base = _density(x, log_r)
    lead = (base if up else density) * np.expm1(np.minimum(steep, 200.0))
    lead = np.where(steep > 200, _density(x, beta * log_r), lead)
    linear = np.where(t > 1, base - density, density * np.minimum(t, 1))
    F = lead - excess * linear if up else lead + excess * linear
    columns = np.flatnonzero(np.abs(t) * alpha.max() <= 0.2)
    if columns.size:
        few = t[columns]
        series = np.ones((len(alpha), columns.size))
        for power in range(_TERMS, 2, -1):
            series = 1 + (beta - power + 1) / power * few * series
        series *= alpha[:, None] * excess / 2 * few * few * density[columns]
        F[:, columns] = np.where(np.abs(few) * alpha[:, None] <= 0.1, series, F[:, columns])
    J = h * F.sum(axis=1)
    heavy = h * (F * (x * x + m * np.abs(x) + np.abs(steep))).sum(axis=1) / J
    rounding = _UNIT * (1000 + 60 * heavy)
    error = 1.01 * (bend * (1 + J + 2 * alpha) + missed) + rounding * J
    value = np.log1p(J) / (alpha - 1)
    return value, 1.01 * error / (1 + np.maximum(J - error, 0)) / (alpha - 1) + 8 * _UNIT * value


def _density(x: Array, log_ratio: Array | float) -> Array:
    return np.asarray(np.exp(log_ratio - x * x / 2) / np.sqrt(2 * pi))


def _step(m: float, depth: float, penalty: float) -> tuple[float, float]:
    """The widest step with rho about e^-depth, as m h in few bits, and rho; S_down has penalty alpha - 1."""
    w = np.minimum(pi / m, np.sqrt(2 * depth)) * np.linspace(1e-3, 0.999, 400)
    log_kappa = w * w / 2 - penalty * np.log(np.cos(m * w / 2))
    steps = 2 * pi * w / (depth + log_kappa)
    best = int(steps.argmax())
    mantissa, exponent = frexp(m * float(steps[best]))
    mh = ldexp(int(mantissa * 2**30), exponent - 30)
    rho = 2 * np.exp(float(log_kappa[best]) - 2 * pi * float(w[best]) * m / mh)  # the exponent is far below 0
    return mh, 1.001 * float(rho) + 1e-300


def _stationary(q: float, m: float, alpha: float) -> float:
    """The point where phi r^(1 - alpha) is largest, to within 1, from below."""
    low, high = -(alpha - 1) * m, 0.0
    while high - low > 1:
        x = (low + high) / 2
        u = m * x - m * m / 2
        slope = -x - (alpha - 1) * m / (1 + (1 - q) / q * float(np.exp(-max(u, -700.0))))
        low, high = (x, high) if slope > 0 else (low, x)
    return low
