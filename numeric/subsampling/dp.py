"""Bounds at one delta from bounds at Renyi orders: the best conversions of every route.

Worst batches are one Gaussian, converted exactly. Composition and windows of shifts go through their privacy-loss
distribution; where floats do not reach that, through their Renyi divergence. Which window is best depends on the order:
a few orders are tried, each taken from the slope of the last, and all that they find is converted.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, log, sqrt

from lastiterate.numeric.accounting.candidate import Candidate
from lastiterate.numeric.accounting.conversion import quick_rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair

__all__ = ["converted"]

_FIRST_ORDER = 8.0
_ORDERS = 3
_PROMISING = 1.5
"""Routes whose Renyi conversion is so many times the best are not worth a privacy-loss distribution."""


def converted(routes: Callable[[float], list[Candidate]], delta: float) -> list[Candidate]:
    """Bounds at one delta, one of them near the least that any route gives.

    Args:
        routes: the bounds that are best near an order.
        delta: in (0, 1).
    """
    order = _FIRST_ORDER
    tried: dict[float, list[Candidate]] = {}
    while len(tried) < _ORDERS and order not in tried:
        tried[order] = routes(order)
        slope = min(one.pair.conditional.rdp(order) for one in tried[order]) / order
        order = round(min(max(1 + sqrt(-log(delta) / slope), 1.05), 400.0), 3) if slope > 0 else 400.0
    estimates: dict[DominatingPair, tuple[float, Candidate]] = {}
    renyi: list[tuple[float, Candidate]] = []
    for tried_order, found in tried.items():
        for one in found:
            at_order = replace(
                one,
                renyi=(tried_order, one.rdp(tried_order)),
                route=f"{one.route} through RDP, order {tried_order:.4g}",
            )
            renyi.append((quick_rdp_to_dp(tried_order, one.rdp(tried_order), delta), at_order))
            estimate = quick_rdp_to_dp(tried_order, one.pair.conditional.rdp(tried_order), delta)
            estimates[one.pair] = min(estimates.get(one.pair, (inf, one)), (estimate, one), key=lambda x: x[0])
    least = min(estimate for estimate, _ in estimates.values())
    return [min(renyi, key=lambda x: x[0])[1]] + [
        replace(one, renyi=None, route=f"{one.route} through {'PLD' if one.pair.steps else 'GDP'}")
        for estimate, one in estimates.values()
        if estimate <= _PROMISING * least or not one.pair.steps
    ]
