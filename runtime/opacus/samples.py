"""Workload of what ``make_private`` returned: its network without Opacus's hooks, and some of its samples."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import numpy as np
from opacus import GradSampleModule
from torch import Tensor, nn
from torch.utils.data import default_collate

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.workload import Workload

_SAMPLES: Final = 512
"""Samples that are looked at, spread evenly over the data."""


def workload_of(module: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], data_loader: Any) -> Workload:
    """Copy the network as it is now, and take samples spread evenly over the data.

    Raises:
        InputError: an item of the data is no pair of an input and a target.
    """
    copied = deepcopy(module)
    plain = copied.to_standard_module() if isinstance(copied, GradSampleModule) else copied
    items = data_loader.dataset
    chosen = sorted({round(k) for k in np.linspace(0, len(items) - 1, min(_SAMPLES, len(items)))})
    try:
        inputs, targets = default_collate([items[k] for k in chosen])
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Assumptions are tried on pairs of an input and a target, got an item of type={type(items[0]).__name__}; "
            "leave module and loss out of describe."
        ) from error
    device = next(iter(plain.parameters())).device
    return Workload("described", lambda: deepcopy(plain), loss, inputs.to(device), targets.to(device))
