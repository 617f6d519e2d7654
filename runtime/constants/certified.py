"""Certified constants of a workload whose network is feed-forward: the largest over its own samples.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.runtime.workloads.independence import refuse_other_loss
from lastiterate.runtime.workloads.layers import layers_of
from lastiterate.runtime.workloads.workload import Workload, described_workload


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

    >>> import torch
    >>> from torch import nn
    >>> line = Workload("line", lambda: nn.Linear(2, 2), nn.functional.cross_entropy,
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
    refuse_other_loss(workload.loss, workload.targets, layers[-1].outputs, loss, scale)
    return found
