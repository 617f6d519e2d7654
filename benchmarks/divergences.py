"""S_up at 150 orders against dp-accounting, in one run; and how far each is from the rigorous value.

The peer is in the extra `peers`; without it there are no rows. Its orders are its own defaults, extended to 150.
"""

from math import inf, isfinite
from typing import Any

import numpy as np

from benchmarks.accounting import FAILURES
from benchmarks.peers import RENYI, absent, quiet
from benchmarks.table import Limit, Row, median_time
from lastiterate.numeric.divergences import s_up, s_up_orders

__all__ = ["accuracy", "speed"]

_PEER = RENYI[0]
_SETTINGS = ((0.01, 1.0), (0.1, 1.0), (1e-3, 0.7), (0.4, 12.0))
_ORDERS = [1 + k / 10 for k in range(1, 100)] + [float(k) for k in range(11, 61)] + [128.0]


def speed() -> list[Row]:
    """One row for each (q, noise): 150 orders by the peer and by us, and the worst relative error of each."""
    rows: list[Row] = []
    if absent(_PEER):
        return rows
    for q, noise in _SETTINGS:
        with quiet():
            theirs, their_values = median_time(lambda q=q, noise=noise: _PEER.ask(q, noise, _ORDERS), repeats=3)
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
    """Ours where a peer is known to fail: relative error of the value. The peers' answers have a table of their own."""
    rows = []
    for q, noise, alpha in FAILURES:
        truth = s_up(q, noise, alpha=alpha)
        name = f"relative error of S_up, q = {q:g}, noise {noise:g}, order {alpha:g}"
        error = _worst(s_up_orders(q, noise, [alpha]).value, [truth])
        rows.append(Limit(name, error, "", 1e-10, f"exactly {truth.middle:.6g}"))
    return rows


def _said(values: Any, truth: list[Any]) -> str:
    lost = sum(not isfinite(value) for value in values)
    below = sum(value < ball.lower * (1 - 1e-12) for value, ball in zip(values, truth, strict=True))
    finite = [(v, b) for v, b in zip(values, truth, strict=True) if isfinite(v)]
    error = _worst([v for v, _ in finite], [b for _, b in finite])
    return f"dp-accounting: {lost} of {len(truth)} infinite, {below} below the rigorous value, error {error:.0e}"


def _worst(values: Any, truth: list[Any]) -> float:
    errors = (abs(float(v) - b.middle) / b.middle for v, b in zip(values, truth, strict=True))
    return max(errors, default=inf)
