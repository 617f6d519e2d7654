"""Product of a Hessian with a vector: forward over reverse differentiation, or reverse over reverse where it must be.

Forward over reverse is the cheaper one. PyTorch does not know it for every loss (of huber_loss, soft_margin_loss and
others; mse_loss fails where the tangent of its target is not written out).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jvp, vjp

Gradient = Callable[[Tensor], Tensor]
"""Gradient of one sample's loss as a function of the point, (dimension,) to (dimension,)."""


def forward(gradient: Gradient, point: Tensor, vector: Tensor) -> Tensor:
    """The product by forward over reverse, shape (dimension,)."""
    pushed: Tensor = jvp(gradient, (point,), (vector,))[1]
    return pushed


def reverse(gradient: Gradient, point: Tensor, vector: Tensor) -> Tensor:
    """The product by reverse over reverse, as Hessians are symmetric, shape (dimension,)."""
    pulled: Tensor = vjp(gradient, point)[1](vector)[0]
    return pulled


def way_of(gradient: Gradient, point: Tensor) -> Callable[[Gradient, Tensor, Tensor], Tensor]:
    """The cheaper of the two that PyTorch has for this loss; tried at one point."""
    try:
        forward(gradient, point, torch.ones_like(point))
    except (RuntimeError, NotImplementedError):
        return reverse
    return forward
