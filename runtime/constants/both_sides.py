"""The certified side of a constant, beside what is found: the number, or why there is none."""

from dataclasses import replace
from math import isfinite
from typing import Any, Final, NamedTuple

import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.runtime.constants.certified import certified_constants
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.workloads.workload import Workload

_TRIED: Final = 8
_UP: Final = 1 + 1e-12
"""More than the rounding of a power and two products."""


class Certified(NamedTuple):
    """Proved constants of the per-sample gradients of a workload on the domain.

    Attributes:
        constants: upper bounds, perhaps infinite; None where nothing is known.
        why: why nothing is known; empty otherwise.
    """

    constants: LossConstants | None
    why: str

    @property
    def reason(self) -> str:
        """Obstacle to a finite constant, in words; empty where there is one."""
        if self.constants is None:
            return f"not known: {self.why[:1].lower()}{self.why[1:]}"
        said = self.constants.statement
        return "" if isfinite(self.constants.smoothness) else said if said.startswith("inf") else f"infinite: {said}"


def certified_side(workload: Workload, seed: int, diameter: float, free: InputSet | None = None) -> Certified:
    """The constants on the ball of this diameter around the parameters initialised from ``seed``.

    They are those that the workload brings along, or else, and where inputs are free, those that are proved of its
    network: for its own samples with any label, or for every input of the set.
    """
    try:
        if free is None and workload.constants is not None:
            return _known(workload.certified(seed, diameter))
        if not isfinite(diameter):
            return Certified(None, "the domain is unbounded")
        near: dict[str, Any] = {}
        if free is not None:
            some = workload.inputs[:_TRIED].double()
            middle, reach = free.around(some[0].numel())
            near = {"input_radius": reach, "inputs": f"every input of {free}"}
            workload = replace(workload, inputs=torch.full_like(some, middle), targets=workload.targets[:_TRIED])
        loss = "logistic" if _outputs(workload, seed) == 1 else "cross_entropy"
        return _known(certified_constants(workload, diameter / 2, seed=seed, loss=loss, **near))
    except InputError as error:
        return Certified(None, str(error))
    except (IndexError, RuntimeError, TypeError, ValueError):
        return Certified(None, "the loss is no cross-entropy of labels")


def _known(constants: LossConstants) -> Certified:
    """Constants, or why they are not known, as they say it themselves."""
    _, unknown, why = constants.statement.partition("not known: ")
    return Certified(None, why) if unknown else Certified(constants, "")


def certified_holder(constants: LossConstants, lam: float, diameter: float, clip_norm: float) -> float:
    """The certified constant of an order, gradient / length^lambda. Direction: an upper bound.

    Gradients that are L-Lipschitz and at most G long change by min(L r, 2 G) over a distance r, which is at most
    L min(D, 2 G / L)^(1 - lambda) r^lambda on a domain of diameter D. Clipping to K makes no change longer and G at
    most K, and a mean over samples has the constants of each.
    """
    smoothness = constants.smoothness
    if lam == 1 or not 0 < smoothness < float("inf"):
        return smoothness
    reach = min(diameter, 2 * min(constants.lipschitz, clip_norm) / smoothness)
    return float(smoothness * reach ** (1 - lam) * _UP)


def _outputs(workload: Workload, seed: int) -> int:
    """The number of outputs of the network."""
    module = workload.initial(seed)
    row = workload.inputs[:1]
    with torch.no_grad():
        output = module(row.to(next(module.parameters())) if row.is_floating_point() else row)
    return int(output.shape[-1])
