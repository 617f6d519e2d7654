"""Projection of the vector of all parameters onto a ball after every step of an Opacus optimiser.

The centre of the ball must not depend on the data, so a resumed training run needs its initial centre.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError, positive
from lastiterate.runtime.training.descent import project_onto_ball

_NAME = "_lastiterate_projection"


class Projection:
    """Ball onto which an optimiser projects after each of its steps.

    Attributes:
        diameter: diameter of the ball, a length.
        centre: centre of the ball, shape (dimension,), in the order of the parameters.
        steps: number of projected steps.
    """

    def __init__(self, parameters: Sequence[Tensor], diameter: float, centre: Tensor) -> None:
        self.diameter = diameter
        self.centre = centre
        self.steps = 0
        self._parameters = parameters

    def __call__(self, *_: Any) -> None:
        with torch.no_grad():
            here = torch.cat([one.reshape(-1) for one in self._parameters])
            moved = project_onto_ball(here, self.centre, self.diameter)
            if moved is not here:
                sizes = [one.numel() for one in self._parameters]
                for parameter, values in zip(self._parameters, torch.split(moved, sizes), strict=True):
                    parameter.copy_(values.view_as(parameter))
        self.steps += 1


def project(optimizer: Any, diameter: float, centre: Sequence[Tensor] | None = None) -> Projection:
    """Make an optimiser project its parameters onto a ball after every step.

    Args:
        optimizer: an Opacus optimiser, before its first step.
        diameter: diameter of the ball (not its radius), a length.
        centre: one tensor per parameter, chosen before training; None for the current parameters.

    Raises:
        InputError: an optimiser that already projects, a diameter of at most 0, or an unsuitable centre.
    """
    if attached(optimizer) is not None:
        raise InputError(
            f"project needs an optimiser that does not already project, got one with diameter="
            f"{attached(optimizer).diameter:g}; make a new optimiser."  # type: ignore[union-attr]
        )
    parameters = parameters_of(optimizer)
    start = parameters if centre is None else list(centre)
    if [one.shape for one in start] != [one.shape for one in parameters]:
        raise InputError(
            "centre needs one tensor of the same shape for each parameter, got centre of "
            f"{[tuple(one.shape) for one in start]}; give copies of the initial parameters."
        )
    flat = torch.cat([one.detach().reshape(-1).to(parameters[0]) for one in start]).clone()
    found = Projection(parameters, positive("diameter", diameter, finite=False), flat)
    inner = getattr(optimizer, "original_optimizer", optimizer)
    inner.register_step_post_hook(found)
    setattr(inner, _NAME, found)
    return found


def attached(optimizer: Any) -> Projection | None:
    """Projection of an optimiser, or None."""
    found = getattr(getattr(optimizer, "original_optimizer", optimizer), _NAME, None)
    return found if isinstance(found, Projection) else None


def parameters_of(optimizer: Any) -> list[Tensor]:
    """Parameters that an optimiser trains, in its order."""
    return [one for group in optimizer.param_groups for one in group["params"] if one.requires_grad]
