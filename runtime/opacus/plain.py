"""Opacus optimisers that the theorems cover; every other is refused by name."""

from typing import Any

import torch
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping

from lastiterate.numeric.errors import InputError

__all__ = ["check_plain"]

_FLAT = (DPOptimizer, DPOptimizerFastGradientClipping)
"""Both clip each sample's whole gradient; the second ("ghost") without storing it, in the loss that Opacus returns."""


def check_plain(optimizer: Any) -> None:
    """Refuse an optimiser whose update is not ``W - eta / b * (sum of clipped gradients + noise)``.

    Raises:
        InputError: another optimiser than SGD, momentum or weight decay, several step sizes, per-layer clipping.
    """
    if isinstance(optimizer, torch.optim.Optimizer) and not isinstance(optimizer, DPOptimizer):
        raise InputError(
            f"The accountant needs the optimizer that make_private returned, got optimizer={type(optimizer).__name__}; "
            "pass that one."
        )
    if type(optimizer) not in _FLAT:
        raise InputError(
            f"The theorems need flat clipping to a fixed norm on one worker, got optimizer={type(optimizer).__name__}; "
            "use make_private with clipping='flat' and a model that is not distributed."
        )
    inner = optimizer.original_optimizer
    if type(inner) is not torch.optim.SGD:
        raise InputError(f"The theorems need plain SGD, got optimizer={type(inner).__name__}; use torch.optim.SGD.")
    for group in inner.param_groups:
        for name in ("momentum", "weight_decay", "dampening", "nesterov", "maximize"):
            if group.get(name):
                raise InputError(f"The theorems need plain SGD, got {name}={group[name]}; leave it out.")
        if group["lr"] != inner.param_groups[0]["lr"]:
            raise InputError(
                f"The theorems need one step size for all parameters, got lr={group['lr']:g} and "
                f"lr={inner.param_groups[0]['lr']:g}; put them in one group."
            )
    if optimizer.loss_reduction != "mean":
        raise InputError(
            f"The theorems need gradients that are divided by the batch size, got loss_reduction="
            f"{optimizer.loss_reduction!r}; use 'mean'."
        )
