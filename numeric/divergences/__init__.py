"""Divergences of Gaussians and of their mixtures, each with a guaranteed direction of error.

The law named first is always the numerator: D(P || Q) is an expectation of powers of P / Q.
"""

from lastiterate.numeric.divergences.enclosure import Enclosure
from lastiterate.numeric.divergences.hockey_stick import hockey_stick_gaussian, hockey_stick_mixtures
from lastiterate.numeric.divergences.mixtures import Mixture, renyi_mixtures
from lastiterate.numeric.divergences.orders import Orders, s_down_orders, s_up_orders
from lastiterate.numeric.divergences.replacement import replacement_step
from lastiterate.numeric.divergences.sampled import renyi_gaussian, s_down, s_up

__all__ = [
    "Enclosure",
    "Mixture",
    "Orders",
    "hockey_stick_gaussian",
    "hockey_stick_mixtures",
    "renyi_gaussian",
    "renyi_mixtures",
    "replacement_step",
    "s_down",
    "s_down_orders",
    "s_up",
    "s_up_orders",
]
