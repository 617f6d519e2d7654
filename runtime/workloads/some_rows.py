"""Samples of a data set of somebody's own that a trial looks at: some spread over all, and those of rare targets."""

from time import monotonic
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Subset, TensorDataset, default_collate

from lastiterate.runtime.workloads.clipped_rows import ClippedRows
from lastiterate.runtime.workloads.telling_rows import telling_rows

SAMPLES: Final = 512
"""Samples that are looked at where there are more."""

_SECONDS: Final = 1.0
"""Time to read targets that a data set does not hand out together."""


def spread_over(samples: int) -> list[int]:
    """Indices of at most `SAMPLES` samples, spread evenly over all."""
    return sorted({round(k) for k in np.linspace(0, samples - 1, min(SAMPLES, samples))})


def some_rows(items: Any) -> tuple[Tensor, Tensor]:
    """Inputs and targets of at most `SAMPLES` items spread over a data set, and of those with telling targets.

    Raises:
        TypeError: an item is no pair of what can be stacked.
        ValueError: likewise.
    """
    number = len(items)
    chosen, targets = spread_over(number), _targets(items)
    if targets is not None:
        chosen = sorted({*chosen, *telling_rows(targets, targets)})
    inputs, found = default_collate([items[k] for k in chosen])
    return inputs, found


def _targets(items: Any) -> Tensor | None:
    """The targets of all items, of as many as are read in a second, or None where there are none."""
    if isinstance(items, TensorDataset) and len(items.tensors) == 2:
        return items.tensors[1]
    if isinstance(items, Subset):
        data: Any = items.dataset
        whole = _targets(data)
        return None if whole is None or len(whole) < len(data) else whole[torch.as_tensor(items.indices)]
    if isinstance(items, ClippedRows):
        return _targets(items.data)
    for name in ("targets", "labels"):  # as torchvision has it
        held = getattr(items, name, None)
        if held is not None and len(held) == len(items):
            return torch.as_tensor(held)
    found, until = [], monotonic() + _SECONDS
    for k in range(len(items)):
        found.append(items[k][1])
        if monotonic() > until:
            break
    targets: Tensor = default_collate(found)
    return targets
