"""Forward and backward passes in bfloat16 of a network whose parameters and gradients are kept in float32.

The unit roundoff is u = 2^-8. A gradient passes k roundings one after another, each by a share of at most u: to first
order they add up to k u where they all push one way, and to about k^(1/2) u where they do not. What is assumed of a
gradient, 32 eps = 64 u times its length (`lastiterate.runtime.constants.pairs.FLOOR_ULPS`), covers 64 of the first kind
and 4,096 of the second. So a difference of two gradients is never trusted for a constant: a quarter of their lengths is
more than the thousandth that is let pass. It says where to look, and what is found there is computed in float64.

Parameters are rounded, too, which moves a point by up to u of its length. So pairs are taken at points that bfloat16
knows, and their distance is that of those.
"""

from itertools import chain

import torch
from torch import Tensor, nn
from torch.func import functional_call


class InBfloat16(nn.Module):
    """A network that takes and gives float32, and computes in bfloat16 in between.

    Args:
        module: with parameters and buffers in float32.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, rows: Tensor) -> Tensor:
        """The outputs, shape (rows, ...)."""
        named = chain(self.module.named_parameters(remove_duplicate=False), self.module.named_buffers())
        state = {name: _cast(values) for name, values in named}
        found: Tensor = functional_call(self.module, state, (_cast(rows),), tie_weights=False).float()
        return found


def _cast(values: Tensor) -> Tensor:
    return values.to(torch.bfloat16) if values.is_floating_point() else values
