"""Divergences of Gaussians and of their mixtures, each with a guaranteed direction of error.

The law named first is always the numerator: D(P || Q) is an expectation of powers of P / Q.

| module | what | how |
|---|---|---|
| `enclosure` | the record that is returned, precision that adapts, and tests of the arguments | balls |
| `mixtures` | Rényi divergence of two mixtures of two Gaussians each | rigorous quadrature |
| `sampled` | two Gaussians; S_up and S_down of the sampled Gaussian | closed form, finite sum, `mixtures` |
| `hockey_stick` | H_t(P || Q) = integral of max(P - t Q, 0) | isolated roots |
| `replacement` | one step without replacement, by advanced joint convexity | rigorous quadrature |
| `orders` | S_up and S_down at many orders in floats | the trapezoid rule with a proved error |
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
