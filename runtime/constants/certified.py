"""Proved constants of feed-forward networks on a ball around their initial parameters.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from dataclasses import replace
from math import inf, isfinite
from typing import Any, Final

import torch

from lastiterate.numeric.errors import InputError, teaches
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.runtime.constants.sampling import InputSet
from lastiterate.runtime.workloads.independence import refuse_other_loss
from lastiterate.runtime.workloads.layers import layers_of
from lastiterate.runtime.workloads.workload import Workload, described_workload

_TRIED: Final = 8
_UP: Final = 1 + 1e-12
"""Number of samples on which a loss is tested; factor that exceeds the rounding of a power and of products."""


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

    The constants hold for the samples of the workload, with any label. A bound for a run needs
    `constants_of_network`, whose constants hold for every possible sample.

    Args:
        workload: workload whose module is a Sequential of linear layers, convolutions, averages and
            activations; parameters that require no gradient are frozen.
        radius: radius of the ball, a length.
        seed: seed of the initial parameters.
        input_radius: distance from the inputs of the workload within which the constants hold.
        inputs: as in `network_constants`.
        loss: "cross_entropy", or "logistic" for one output; the workload's loss is tested against it.
        scale: factor of the loss.

    Raises:
        InputError: a network that cannot be read, another loss, or a number out of its range.
    """
    module = described_workload("certified_constants", workload).initial(seed)
    layers = layers_of(module, workload.inputs.shape[1:])
    if isinstance(layers, str):
        return LossConstants.unknown(layers)
    rows = workload.inputs.detach().cpu().double().flatten(start_dim=1).numpy()
    found = network_constants(
        layers, rows, radius, input_radius=input_radius, inputs=inputs, loss=loss, scale=scale
    )
    refuse_other_loss(workload.loss, workload.targets, layers[-1].outputs, loss, scale)
    return found


def certified_side(
    workload: Workload, seed: int, diameter: float, free: InputSet | None = None
) -> tuple[LossConstants | None, str]:
    """Constants on the ball of ``diameter`` around the parameters initialised from ``seed``. Upper bounds.

    The workload's closed form gives the constants. Without a closed form, or if inputs are free, constants are
    proved for the network: for the samples of the workload with any label, or for every input of the set. The
    second result is the reason why constants are unknown (None) or infinite; otherwise, it is empty.
    """
    try:
        if free is None and workload.constants is not None:
            constants = workload.certified(seed, diameter)
        elif not isfinite(diameter):
            return None, "not known: the domain is unbounded"
        else:
            near: dict[str, Any] = {}
            if free is not None:
                some = workload.inputs[:_TRIED].double()
                middle, reach = free.around(some[0].numel())
                near = {"input_radius": reach, "inputs": f"every input of {free}"}
                workload = replace(
                    workload, inputs=torch.full_like(some, middle), targets=workload.targets[:_TRIED]
                )
            module, row = workload.initial(seed), workload.inputs[:1]
            with torch.no_grad():
                output = module(row.to(next(module.parameters())) if row.is_floating_point() else row)
            if not isinstance(output, torch.Tensor):
                return None, f"not known: the output is a {type(output).__name__}, not a tensor"
            loss = "logistic" if output.shape[-1] == 1 else "cross_entropy"
            constants = certified_constants(workload, diameter / 2, seed=seed, loss=loss, **near)
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
