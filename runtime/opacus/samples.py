"""Test of a description on some of the data, with the network of ``make_private`` without Opacus's hooks."""

from copy import deepcopy
from typing import Any

from opacus import GradSampleModule
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.refutation import check_not_refuted
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.independence import Loss, refuse_tied_rows
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.telling_rows import some_rows
from lastiterate.runtime.workloads.validation import DROPOUT, refuse_mixing
from lastiterate.runtime.workloads.workload import Workload


def try_on_data(
    module: nn.Module | None, loss: Loss | None, data_loader: Any, run: NoisySGD, assumption: Assumption
) -> str:
    """Test on some of the data whether rows change the gradients of others and whether the assumption holds.

    Returns a description of the tests; empty without module and loss.
    """
    if module is None and loss is None:
        return ""
    if module is None or loss is None:
        raise InputError(
            f"describe needs module and loss together, got only {'module' if loss is None else 'loss'}, which is not "
            "enough for a test; give both, or neither."
        )
    workload = _workload_of(module, loss, data_loader.dataset)
    plain = workload.module()
    for part in plain.modules():
        if isinstance(part, DROPOUT):
            part.eval()
    refuse_mixing(plain)
    held = next(plain.parameters())
    rows, targets = (Rows(values, held.device, held.dtype) for values in (workload.inputs, workload.targets))
    tied = refuse_tied_rows(workload.name, plain, workload.loss, rows, targets, batched=True)
    return "; ".join(filter(None, (tied, check_not_refuted("describe", workload, run, assumption))))


def _workload_of(module: nn.Module, loss: Any, items: Any) -> Workload:
    copied = deepcopy(module)
    plain = copied.to_standard_module() if isinstance(copied, GradSampleModule) else copied
    for part in plain.modules():  # the removal methods do not reach copied hooks
        for hooks in (part._forward_hooks, part._backward_hooks):
            for key, hook in list(hooks.items()):
                if str(getattr(getattr(hook, "func", hook), "__module__", "")).startswith("opacus."):
                    del hooks[key]
    with user_code(
        "A test of an assumption needs pairs of an input and a target",
        "in the data; leave out module and loss.",
    ):
        inputs, targets = some_rows(items)
    device = next(iter(plain.parameters())).device
    if isinstance(loss, DPLossFastGradientClipping):  # ghost clipping takes row losses
        criterion = deepcopy(loss.criterion)
        criterion.reduction = "none"
        loss = lambda output, target: criterion(output, target).reshape(len(output), -1).mean(dim=1).mean()  # noqa: E731
    return Workload("described", lambda: deepcopy(plain), loss, inputs.to(device), targets.to(device))
