"""Certified constants of a workload whose network is feed-forward: the largest over its own samples.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from typing import Final

import torch
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.runtime.workloads.layers import layers_of
from lastiterate.runtime.workloads.validation import told
from lastiterate.runtime.workloads.workload import Workload, described_workload

_TRIED: Final = 8
_SAME: Final = 1e-5


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
    """Constants of the losses of a workload's samples on a ball around its initial parameters. Direction: upper bounds.

    They are about the samples of the workload, with any label. A bound for a run needs them of every sample that
    adjacent data may hold: `constants_of_network` has them, of any input as short as it is told.

    Args:
        workload: its module is a Sequential of linear layers, convolutions, averages, activations, `Residual` and
            `LowRank`; what asks for no gradient is frozen, so that a linear head or the last layers have constants of
            their own.
        radius: of the ball, a length.
        seed: of the initial parameters.
        input_radius: the constants hold for all inputs so near to those of the workload.
        inputs: as in `network_constants`.
        loss: "cross_entropy", or "logistic" of one output; the workload's loss is tried against it.
        scale: factor of the loss.

    Raises:
        InputError: a network that cannot be read, another loss, a number out of its range.

    >>> from torch import nn
    >>> line = Workload("line", lambda: nn.Linear(2, 2), functional.cross_entropy,
    ...                 torch.tensor([[0.6, 0.8]]), torch.tensor([0]))
    >>> certified_constants(line, 0.01).smoothness < 1
    True
    """
    module = described_workload("certified_constants", workload).initial(seed)
    layers = layers_of(module, workload.inputs.shape[1:])
    if isinstance(layers, str):
        return LossConstants.unknown(layers)
    rows = workload.inputs.detach().cpu().double().flatten(start_dim=1).numpy()
    found = network_constants(layers, rows, radius, input_radius=input_radius, inputs=inputs, loss=loss, scale=scale)
    _tried(workload, layers[-1].outputs, loss, scale)
    return found


def _tried(workload: Workload, outputs: int, loss: str, scale: float) -> None:
    """Refuse a workload whose loss is not the one that is certified, at a few random outputs."""
    generator = torch.Generator().manual_seed(0)
    for target in workload.targets[:_TRIED]:
        output = torch.randn(1, outputs, generator=generator, dtype=torch.float64)
        with told(f"The workload's loss needs to be scale times {loss}", "at a random output; name its loss."):
            wanted = (
                functional.cross_entropy(output, target[None].long())
                if loss == "cross_entropy"
                else functional.binary_cross_entropy_with_logits(output[0, 0], target.reshape(()).double())
            )
            got = float(workload.loss(output, target[None]))
        if not abs(got - scale * float(wanted)) <= _SAME * scale:
            raise InputError(
                f"The workload's loss needs to be scale times {loss}, got {got:g} where that is "
                f"{scale * float(wanted):g} with scale={scale:g}; give constants_of_network its loss and its scale, "
                f"which is {got / float(wanted):g} if it is this loss."
            )
