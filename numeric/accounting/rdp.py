"""The Renyi divergence of what dominates a last iterate: prices add.

Statement    D_alpha <= alpha cost / 2 + sum over the sampled parts of count times S(rate, multiplier; alpha), of either
             law from the other. S is the price of one step in the unit of its noise, never above that of the whole
             batch, alpha / (2 multiplier^2):
             "replace"     `divergences.replacement_step` at distance 1, which serves both directions;
             "add_remove"  S_up at shift 1, which is at least S_down.
Extremes     With less noise than a ninth of the distance there is nothing to gain by sampling, and beyond order 1000
             the quadrature takes too long: there the price of the whole batch is taken.
Source       Renyi divergences of a composition add, Mironov 2017, proposition 1; claims ours/sampled/*, ours/poisson/*.
"""

from functools import lru_cache

from lastiterate.numeric.accounting.dominating import Composed
from lastiterate.numeric.divergences import replacement_step, s_up
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, precision, upper

__all__ = ["composed_rdp", "step_price"]

LEAST_MULTIPLIER = 1 / 9
HIGH_ORDER = 1000.0


def composed_rdp(composed: Composed, order: float) -> float:
    """Epsilon of (order, epsilon)-RDP, rounded up; of either law from the other.

    Args:
        composed: what dominates; without a chance of failure, outside which no Renyi divergence is bounded.
        order: alpha > 1.

    Raises:
        InputError: the composition may fail.

    >>> from lastiterate.numeric.accounting.dominating import SampledStep
    >>> composed_rdp(Composed(cost=0.25, steps=(SampledStep(1.0, 2.0, "add_remove", count=3),)), order=2.0)
    1.0
    """
    if composed.failure:
        raise InputError(
            f"A Renyi bound needs a composition that never fails, got failure={composed.failure:g}; "
            "mix it with a bound that holds outside the event, or ask for (epsilon, delta)."
        )
    with precision():
        total = exact(order) * exact(composed.cost) / 2
        for step in composed.steps:
            total += step.count * exact(step_price(step.rate, step.multiplier, step.adjacency, order))
        return upper(total)


@lru_cache(maxsize=65536)
def step_price(rate: float, multiplier: float, adjacency: str, order: float) -> float:
    """S of the module docstring for one step, rounded up. Arguments as `SampledStep`, and the order alpha > 1."""
    with precision():
        whole = upper(exact(order) / (2 * exact(multiplier) ** 2))
    if rate >= 1 or multiplier < LEAST_MULTIPLIER or order > HIGH_ORDER:
        return whole
    divergence = replacement_step if adjacency == "replace" else s_up
    return min(divergence(rate, multiplier, alpha=order).upper, whole)
