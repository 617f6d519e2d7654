"""Trial of what is described on some of the data, on the network of ``make_private`` without Opacus's hooks."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from opacus import GradSampleModule
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.refutation import check_not_refuted
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.some_rows import some_rows
from lastiterate.runtime.workloads.tied_rows import refuse_tied_rows
from lastiterate.runtime.workloads.validation import refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

Loss = Callable[[Tensor, Tensor], Tensor]


def tried_on_data(
    module: nn.Module | None, loss: Loss | None, data_loader: Any, run: NoisySGD, assumption: Assumption
) -> str:
    """Try on some of the data whether rows change the gradients of others, and whether the assumption is met.

    Returns:
        On what it was tried, in words; nothing where neither module nor loss is given.

    Raises:
        InputError: one of them is given alone, rows are tied, the assumption is refuted, or an item is no pair.
    """
    if module is None and loss is None:
        return ""
    if module is None or loss is None:
        raise InputError(
            f"describe needs module and loss together, got {'module' if loss is None else 'loss'} alone, with which "
            "nothing can be tried; hand over both, or neither."
        )
    workload = workload_of(module, loss, data_loader)
    plain = workload.module()
    for part in plain.modules():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            part.eval()
    refuse_mixing(plain)
    held = next(plain.parameters())
    rows, targets = (Rows(values, held.device, held.dtype) for values in (workload.inputs, workload.targets))
    tied = refuse_tied_rows(workload.name, plain, workload.loss, rows, targets, clip_norm=run.clip_norm, batched=True)
    return "; ".join(filter(None, (tied, check_not_refuted("describe", workload, run, assumption))))


def workload_of(module: nn.Module, loss: Loss, data_loader: Any) -> Workload:
    """Copy the network as it is now, and take samples spread over the data.

    Raises:
        InputError: an item of the data is no pair of an input and a target.
    """
    copied = deepcopy(module)
    plain = copied.to_standard_module() if isinstance(copied, GradSampleModule) else copied
    for part in plain.modules():  # a copied hook is out of reach of what would remove it
        for hooks in (part._forward_hooks, part._backward_hooks):
            for key, hook in list(hooks.items()):
                if str(getattr(getattr(hook, "func", hook), "__module__", "")).startswith("opacus."):
                    del hooks[key]
    items = data_loader.dataset
    try:
        inputs, targets = some_rows(items)
    except (TypeError, ValueError, LookupError) as error:
        raise InputError(
            f"Assumptions are tried on pairs of an input and a target, got an item of type={type(items[0]).__name__}; "
            "leave module and loss out of describe."
        ) from error
    device = next(iter(plain.parameters())).device
    whole = _of_ghosts(loss) if isinstance(loss, DPLossFastGradientClipping) else loss
    return Workload("described", lambda: deepcopy(plain), whole, inputs.to(device), targets.to(device))


def _of_ghosts(loss: Any) -> Loss:
    """The loss of a batch where Opacus, clipping without gradients of samples, takes the losses of its rows."""
    criterion = deepcopy(loss.criterion)
    criterion.reduction = "none"
    return lambda output, target: criterion(output, target).reshape(len(output), -1).mean(dim=1).mean()
