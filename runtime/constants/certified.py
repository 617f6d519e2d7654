"""Proved constants of networks on a ball around their initial parameters.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from copy import deepcopy
from dataclasses import replace
from math import inf, isfinite
from typing import Any, Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError, teaches, within
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.runtime.clock import UNLIMITED, Clock
from lastiterate.runtime.constants.sampling import InputSet
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.independence import refuse_other_loss, refuse_tied_rows
from lastiterate.runtime.workloads.networks import constants_of_any_label, proved_constants
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.workload import Workload, described_workload

_UP: Final = 1 + 1e-12
"""Factor that exceeds the rounding of a power, of products and of lengths."""

_MANY: Final = 32
"""Number of samples up to which the constants are proved one by one."""


@teaches()
def certified_constants(
    workload: Workload,
    radius: float,
    *,
    seed: int = 0,
    input_radius: float = 0.0,
    inputs: str = "",
    loss: str = "cross_entropy",
    scale: float = 1.0,
) -> LossConstants:
    """Constants of a workload's losses on a ball around its initial parameters. Direction: upper bounds.

    The constants hold for the samples of the workload with their own targets. A bound for a run needs
    `constants_of_network`, whose constants hold for every possible sample.

    Args:
        workload: workload whose loss is made of operators that have rules; parameters that require no gradient
            are frozen.
        radius: radius of the ball, a length.
        seed: seed of the initial parameters.
        input_radius: distance from the inputs of the workload within which the constants hold, with any label.
        inputs: description of a set that these neighbourhoods cover, if the set was chosen without looking at
            the data. The constants then hold for all data in the set and give a bound.
        loss: with ``input_radius``, "cross_entropy", or "logistic" for one output; the workload's loss is tested
            against it.
        scale: with ``input_radius``, the factor of the loss.

    Returns:
        Upper bounds. They are infinite where none is proved. The statement is the reason, which names the
        operator and its layer. If the ball may contain a kink, only the smoothness is infinite.

    Raises:
        InputError: a loss that cannot be captured, another loss, or a number out of its range.
    """
    module = described_workload("certified_constants", workload).initial(seed)
    reach, near = (
        within(name, value, "a finite number of at least 0", lambda x: 0 <= x < inf, "0 is one point.")
        for name, value in (("radius", radius), ("input_radius", input_radius))
    )
    rows, targets = workload.inputs, workload.targets
    if not near:
        samples = (Rows(values, torch.device("cpu"), torch.float64) for values in (rows, targets))
        with user_code("Certified constants need a copy of the module", "in deepcopy; make it copyable."):
            copied = deepcopy(module).double()
        refuse_tied_rows(workload.name, copied, workload.loss, *samples)
        said = (
            f"loss of {workload.name}, parameters within {reach:g}, for the samples and targets that were given"
        )
        known = [
            proved_constants(module, workload.loss, inputs_of, labels, reach, said, distance, any_sample=False)
            for inputs_of, labels, distance in _covers(rows, targets)
        ]
        best = min(known, key=lambda one: one.smoothness)
        return replace(best, lipschitz=min(one.lipschitz for one in known))
    rows = torch.unique(rows.detach().cpu().double(), dim=0)
    origin = not rows.any()
    near_some = f"of norm at most {near:g}" if origin else f"within {near:g} of one of the samples"
    found = constants_of_any_label(
        module, rows, reach, near, inputs or f"every input {near_some}", loss, scale,
        any_sample=bool(inputs) or origin, input_norm=near if origin and not inputs else inf,
    )  # fmt: skip
    with torch.no_grad():
        outputs = module.double()(rows[:1]).shape[1]
    refuse_other_loss(workload.loss, targets, outputs, loss, scale)
    return found


def _covers(rows: Tensor, targets: Tensor) -> list[tuple[Tensor, Tensor, float]]:
    """The samples or, if they are many, the middle of their inputs, or 0, with each target; distances to all inputs."""
    labels = torch.unique(targets, dim=0)
    if len(rows) <= _MANY or len(labels) > _MANY or not rows.is_floating_point():
        return [(rows, targets, 0.0)]
    flat = rows.detach().cpu().double()
    middle = (flat.amin(0) + flat.amax(0))[None] / 2
    found = []
    for center in (middle, 0 * middle):
        reach = float(torch.linalg.vector_norm((flat - center).flatten(start_dim=1), dim=1).max()) * _UP
        found.append((center.expand(len(labels), *rows.shape[1:]), labels, reach))
    return found


def certified_side(
    workload: Workload, seed: int, diameter: float, free: InputSet | None = None, time: Clock = UNLIMITED
) -> tuple[LossConstants | None, str]:
    """Constants on the ball of ``diameter`` around the parameters initialised from ``seed``. Upper bounds.

    The workload's closed form gives the constants. Without a closed form, or if inputs are free, constants are
    proved for the network: for the samples of the workload, or for every input of the set with any label. The
    second result is the reason why constants are unknown (None) or infinite; otherwise, it is empty.
    """
    try:
        if free is None and workload.constants is not None:
            with time.running():
                constants = workload.certified(seed, diameter)
        elif not isfinite(diameter):
            return None, "not known: the domain is unbounded"
        else:
            near: dict[str, Any] = {}
            if free is not None:
                row = workload.inputs[:1].double()
                middle, reach = free.around(row.numel())
                workload = replace(workload, inputs=torch.full_like(workload.inputs.double(), middle))
                with torch.no_grad():
                    outputs = workload.initial(seed).double()(row).shape[-1]
                near = {"input_radius": reach, "inputs": f"every input of {free}"}
                near["loss"] = "logistic" if outputs == 1 else "cross_entropy"
            with time.running():
                constants = certified_constants(workload, diameter / 2, seed=seed, **near)
    except InputError as error:
        return None, f"not known: {str(error)[:1].lower()}{str(error)[1:]}"
    except (IndexError, RuntimeError, TypeError, ValueError):
        return None, "not known: the loss is not a cross-entropy of labels"
    said = constants.statement
    if "not known: " in said:
        why = said.partition("not known: ")[2]
        return None, f"not known: {why[:1].lower()}{why[1:]}"
    return constants, "" if isfinite(constants.smoothness) else said if said.startswith(
        "inf"
    ) else f"infinite: {said}"


def certified_holder(
    constants: LossConstants | None, lam: float, diameter: float, clip_norm: float
) -> float | None:
    """Certified constant of an order, gradient / length^lambda; None if unknown. An upper bound.

    Gradients that are L-Lipschitz and at most G long change by at most min(L r, 2 G) over a distance r, and
    this is at most L min(D, 2 G / L)^(1 - lambda) r^lambda on a domain of diameter D. Clipping to K does not
    enlarge changes and makes G at most K, and a mean over samples has the constants of each sample. For the
    order 0 this bounds every change, also if L is infinite.
    """
    if constants is None:
        return None
    smoothness = constants.smoothness
    if lam == 0 and smoothness == inf:
        return 2 * min(constants.lipschitz, clip_norm)
    if lam == 1 or not 0 < smoothness < inf:
        return smoothness
    reach = min(diameter, 2 * min(constants.lipschitz, clip_norm) / smoothness)
    return float(smoothness * reach ** (1 - lam) * _UP)
