"""Workload of what ``make_private`` returned: its network without Opacus's hooks, and some of its samples."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from opacus import GradSampleModule
from torch import Tensor, nn
from torch.utils.data import default_collate

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.refutation import check_not_refuted, spread_over
from lastiterate.runtime.workloads.workload import Workload


def tried_on_data(
    module: nn.Module | None,
    loss: Callable[[Tensor, Tensor], Tensor] | None,
    data_loader: Any,
    run: NoisySGD,
    assumption: Assumption,
) -> str:
    """Try an assumption on some of the data, and say on how much; nothing where neither module nor loss is given.

    Raises:
        InputError: one of them is given alone, the assumption is refuted, or an item is no pair.
    """
    if module is None and loss is None:
        return ""
    if module is None or loss is None:
        raise InputError(
            f"describe needs module and loss together, got {'module' if loss is None else 'loss'} alone, with which "
            "nothing can be tried; hand over both, or neither."
        )
    return check_not_refuted("describe", workload_of(module, loss, data_loader), run, assumption)


def workload_of(module: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], data_loader: Any) -> Workload:
    """Copy the network as it is now, and take samples spread evenly over the data.

    Raises:
        InputError: an item of the data is no pair of an input and a target.
    """
    copied = deepcopy(module)
    plain = copied.to_standard_module() if isinstance(copied, GradSampleModule) else copied
    items = data_loader.dataset
    try:
        inputs, targets = default_collate([items[k] for k in spread_over(len(items))])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Assumptions are tried on pairs of an input and a target, got an item of type={type(items[0]).__name__}; "
            "leave module and loss out of describe."
        ) from error
    device = next(iter(plain.parameters())).device
    return Workload("described", lambda: deepcopy(plain), loss, inputs.to(device), targets.to(device))
