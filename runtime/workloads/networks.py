"""Constants of feed-forward networks of torch for any short input, as a workload takes them.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np
from torch import nn

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import within
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.runtime.workloads.layers import layers_of


def no_constants(why: str) -> Callable[[nn.Module, float], LossConstants]:
    """Constants of a network for which none are proved, and why.

    >>> no_constants("not known: attention is not read")(nn.Linear(1, 1), 0.1).smoothness
    inf
    """
    return lambda _module, _diameter: LossConstants.unknown(why)


@teaches()
def constants_of_network(
    input_norm: float, *, shape: Sequence[int] | None = None, loss: str = "cross_entropy", scale: float = 1.0
) -> Callable[[nn.Module, float], LossConstants]:
    """Constants of a feed-forward network for any short input, as a `Workload` takes them.

    Args:
        input_norm: greatest norm of any possible input.
        shape: of an input, (channels, *sizes), which convolutions need; None for one vector.
        loss: "cross_entropy", or "logistic" of one output; what the workload's loss is, but for its scale.
        scale: factor of the loss.

    Returns:
        constants(module, diameter), as `lastiterate.runtime.workloads.workload.Workload` has them. Upper bounds.

    >>> round(constants_of_network(1.0)(nn.Linear(2, 2), 1e6).smoothness, 12)
    1.0
    """
    reach = within("input_norm", input_norm, "a finite number of at least 0", lambda x: 0 <= x < inf, "shorten inputs.")

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        layers = layers_of(module, shape)
        if isinstance(layers, str):
            return LossConstants.unknown(layers)
        origin = np.zeros((1, layers[0].inputs))
        if within("diameter", diameter, "a number of at least 0", lambda x: x >= 0, "0 is a point.") == inf:
            return LossConstants.unknown("the domain is unbounded, and so may be the constants of a network")
        return network_constants(layers, origin, diameter / 2, input_radius=reach, loss=loss, scale=scale)

    return constants
