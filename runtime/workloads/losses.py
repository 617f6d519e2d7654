"""Trial of a loss against the one whose constants are certified."""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.tied_rows import refuse_tied_losses
from lastiterate.runtime.workloads.together import at_random
from lastiterate.runtime.workloads.trials import told

_TRIED: Final = 8
_SAME: Final = 1e-5


def refuse_other_loss(
    given: Callable[[Tensor, Tensor], Tensor], targets: Tensor, outputs: int, loss: str, scale: float
) -> None:
    """Refuse a loss that is not ``scale`` times the one that is certified, at a few random outputs.

    Args:
        given: the loss, as a workload has it.
        targets: of its samples, shape (n, ...); the first few are tried.
        outputs: of its network.
        loss: "cross_entropy", or "logistic" of one output.
        scale: factor of the loss.

    Raises:
        InputError: another loss, one that raises, or one that ties the rows of a batch.
    """
    refuse_tied_losses("certified", at_random(given, targets, outputs))
    generator = torch.Generator().manual_seed(0)
    for target in targets[:_TRIED]:
        output = torch.randn(1, outputs, generator=generator, dtype=torch.float64)
        with told(f"The workload's loss needs to be scale times {loss}", "at a random output; name its loss."):
            wanted = (
                functional.cross_entropy(output, target[None].long())
                if loss == "cross_entropy"
                else functional.binary_cross_entropy_with_logits(output[0, 0], target.reshape(()).double())
            )
            got = float(given(output, target[None]))
        if not abs(got - scale * float(wanted)) <= _SAME * scale:
            raise InputError(
                f"The workload's loss needs to be scale times {loss}, got {got:g} where that is "
                f"{scale * float(wanted):g} with scale={scale:g}; give constants_of_network its loss and its scale, "
                f"which is {got / float(wanted):g} if it is this loss."
            )
