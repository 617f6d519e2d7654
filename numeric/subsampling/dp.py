"""(epsilon, delta) of a run with random batches: the smallest of every valid conversion.

Each route of `sampled` gives a composition that dominates the last iterate. Worst batches are one Gaussian, converted
exactly. Composition and windows of shifts go through their privacy-loss distribution (`pld`); where floats do not reach
that, through their Renyi divergence. Which window is best depends on the order: a few orders are tried, each taken
from the slope of the last, and all that they find is converted.
"""

from dataclasses import dataclass
from math import inf, log, sqrt

from lastiterate.numeric.accounting.conversion import quick_rdp_to_dp, rdp_to_dp
from lastiterate.numeric.accounting.dominating import Composed
from lastiterate.numeric.accounting.pld import composed_epsilon
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.subsampling.without_replacement import Sampled, sampled_routes

__all__ = ["Converted", "sampled_dp"]

_FIRST_ORDER = 8.0
_ORDERS = 3
_PROMISING = 1.5
"""Routes whose Renyi conversion is so many times the best are not worth a privacy-loss distribution."""


@dataclass(frozen=True)
class Converted:
    """A rigorous epsilon at one delta.

    Attributes:
        epsilon: of (epsilon, delta)-DP, rounded up.
        order: the Renyi order that was converted; None where the conversion is not Renyi.
        route: what was converted and how, such as "window of shifts through PLD".
        found: the bound behind it.
    """

    epsilon: float
    order: float | None
    route: str
    found: Sampled


def sampled_dp(run: NoisySGD, assumption: Assumption, delta: float) -> Converted:
    """The least epsilon of (epsilon, delta)-DP that any route gives, rounded up.

    Args:
        run: as `sampled.sampled_routes`.
        assumption: as there.
        delta: in (0, 1).
    """
    order = _FIRST_ORDER
    tried: dict[float, list[Sampled]] = {}
    while len(tried) < _ORDERS and order not in tried:
        tried[order] = sampled_routes(run, assumption, order, delta)
        slope = min(one.within(order) for one in tried[order]) / order
        order = round(min(max(1 + sqrt(-log(delta) / slope), 1.05), 400.0), 3) if slope > 0 else 400.0
    estimates: dict[Composed, tuple[float, Sampled]] = {}
    renyi: list[tuple[float, float, Sampled]] = []
    for tried_order, routes in tried.items():
        for one in routes:
            renyi.append((quick_rdp_to_dp(tried_order, one.epsilon, delta), tried_order, one))
            estimate = quick_rdp_to_dp(tried_order, one.within(tried_order), delta)
            estimates[one.composed] = min(estimates.get(one.composed, (inf, one)), (estimate, one), key=lambda x: x[0])
    _, best_order, one = min(renyi, key=lambda x: x[0])
    through = f"{one.route} through RDP, order {best_order:.4g}"
    best = [Converted(rdp_to_dp(best_order, one.epsilon, delta), best_order, through, one)]
    least = min(estimate for estimate, _ in estimates.values())
    for estimate, one in estimates.values():
        if estimate <= _PROMISING * least or not one.composed.steps:
            how = "PLD" if one.composed.steps else "GDP"
            best.append(Converted(composed_epsilon(one.composed, delta), None, f"{one.route} through {how}", one))
    return min(best, key=lambda one: one.epsilon)
