"""S_up at 150 orders against dp-accounting, in one run; and how far each is from the rigorous value.

The peer is in the extra `peers`; without it there are no rows. Its orders are its own defaults, extended to 150.
"""

import importlib
from math import inf, isfinite
from typing import Any

import numpy as np

from benchmarks.table import Limit, Row, median_time
from lastiterate.numeric.divergences import s_up, s_up_orders

__all__ = ["accuracy", "speed"]

_SETTINGS = ((0.01, 1.0), (0.1, 1.0), (1e-3, 0.7), (0.4, 12.0))
_ORDERS = [1 + k / 10 for k in range(1, 100)] + [float(k) for k in range(11, 61)] + [128.0]


def speed() -> list[Row]:
    """One row for each (q, noise): 150 orders by the peer and by us, and the worst relative error of each."""
    rows = []
    for q, noise in _SETTINGS:
        if (peer := _peer(q, noise)) is None:
            return []
        theirs, their_values = median_time(peer, repeats=3)
        ours, found = median_time(lambda q=q, noise=noise: s_up_orders(q, noise, _ORDERS))
        truth = [s_up(q, noise, alpha=alpha) for alpha in _ORDERS]
        radius = float(np.max((found.upper - found.lower) / found.value / 2))
        rows.append(
            Row(
                f"S_up at {len(_ORDERS)} orders, q = {q:g}, noise {noise:g}",
                "dp-accounting",
                theirs,
                ours,
                wanted_ratio=5.0,
                note=f"{_said(their_values, truth)}; ours: proved radius {radius:.0e}, error "
                f"{_worst(found.value, truth):.0e}",
            )
        )
    return rows


def accuracy() -> list[Limit]:
    """The settings where a peer is known to fail, and ours at them: relative error of the value."""
    rows = []
    for q, noise, alpha in ((0.1, 1.0, 1.1), (0.4, 12.0, 59.3), (1e-12, 1.0, 1.5)):
        truth = [s_up(q, noise, alpha=alpha)]
        ours = s_up_orders(q, noise, [alpha])
        peer = _peer(q, noise, [alpha])
        note = "" if peer is None else f"dp-accounting: {float(peer()[0]):.6g}, exactly {truth[0].middle:.6g}"
        name = f"relative error of S_up, q = {q:g}, noise {noise:g}, order {alpha:g}"
        rows.append(Limit(name, _worst(ours.value, truth), "", 1e-10, note))
    return rows


def _peer(q: float, noise: float, orders: list[float] | None = None) -> Any:
    """A call that returns the peer's Renyi divergences of one Poisson step, or None where it is not installed."""
    try:
        accounting = importlib.import_module("dp_accounting")
        rdp = importlib.import_module("dp_accounting.rdp")
    except ImportError:
        return None
    step = accounting.PoissonSampledDpEvent(q, accounting.GaussianDpEvent(noise))

    def call() -> Any:
        accountant = rdp.RdpAccountant(orders=orders or _ORDERS)
        accountant.compose(step)
        return accountant._rdp  # it has no public reader

    return call


def _said(values: Any, truth: list[Any]) -> str:
    lost = sum(not isfinite(value) for value in values)
    below = sum(value < ball.lower * (1 - 1e-12) for value, ball in zip(values, truth, strict=True))
    finite = [(v, b) for v, b in zip(values, truth, strict=True) if isfinite(v)]
    error = _worst([v for v, _ in finite], [b for _, b in finite])
    return f"dp-accounting: {lost} of {len(truth)} infinite, {below} below the rigorous value, error {error:.0e}"


def _worst(values: Any, truth: list[Any]) -> float:
    errors = (abs(float(v) - b.middle) / b.middle for v, b in zip(values, truth, strict=True))
    return max(errors, default=inf)
