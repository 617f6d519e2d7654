"""Renyi divergence of one sampled step in floats, for a search among many steps; what is found is priced anew."""

import numpy as np

from lastiterate.numeric.accounting.dominating import HIGH_ORDER, LEAST_MULTIPLIER
from lastiterate.numeric.arrays import Array

_POINTS = 160


def approximate_prices(rate: float, multipliers: Array, adjacency: str, order: float) -> Array:
    """S at each multiplier, to about four digits. Arguments as `dominating.step_rdp`, shape (k,)."""
    whole = order / (2 * multipliers**2)
    if rate >= 1 or order > HIGH_ORDER:
        return np.asarray(whole)
    known = multipliers >= LEAST_MULTIPLIER
    found = whole.copy()
    if known.any():
        shift = 1 / multipliers[known]
        log_excess = _log_excess(rate, shift, order, replaced=adjacency == "replace")
        found[known] = np.logaddexp(0.0, log_excess) / (order - 1)
    return np.asarray(np.minimum(found, whole))


def _log_excess(q: float, g: Array, alpha: float, *, replaced: bool) -> Array:
    """Logarithm of the expected excess over 1: the trapezoid rule where the integrand is large, found by looking."""
    left, right = (g / 2, alpha * g + 8) if replaced else (np.full_like(g, -8.0), alpha * g + 8)
    width = total = np.zeros_like(g)
    for points in (_POINTS, _POINTS, _POINTS):
        x = np.linspace(left, right, points, axis=1)
        value = _log_integrand(q, g[:, None], alpha, x, replaced=replaced)
        peak = value.max(axis=1)
        width = x[:, 1] - x[:, 0]
        total = peak + np.log(np.exp(value - peak[:, None]).sum(axis=1) * width / np.sqrt(2 * np.pi))
        large = value > peak[:, None] - 25
        rows = np.arange(len(g))
        left = np.maximum(x[rows, large.argmax(axis=1)] - width, left)
        right = np.minimum(x[rows, points - 1 - large[:, ::-1].argmax(axis=1)] + width, right)
    return np.asarray(total)


def _log_integrand(q: float, g: Array, alpha: float, x: Array, *, replaced: bool) -> Array:
    u = g * x - g * g / 2
    tilt = np.expm1(np.minimum(u, 500.0))
    log_r = np.where(u > 500, np.log(q) + u, np.log1p(q * tilt))
    power = alpha * log_r
    if replaced:
        part = -np.expm1((1 - alpha) * log_r)
        rest = np.where(power > 30, 0.0, np.expm1(np.minimum(power, 30.0)) * part)
        far = power + np.log(np.maximum(part, 1e-300))
    else:
        move = np.minimum(q * tilt, 1e30)
        exact = np.expm1(np.minimum(power, 30.0)) - alpha * move
        series = alpha * (alpha - 1) / 2 * move**2 * (1 + (alpha - 2) / 3 * move)
        rest = np.where(np.abs(alpha * move) < 1e-3, series, exact)
        far = power + np.log(np.maximum(1 - alpha * np.exp((1 - alpha) * np.maximum(log_r, 0.0)), 1e-300))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(power > 30, far, np.log(np.maximum(rest, 0.0))) - x * x / 2)
