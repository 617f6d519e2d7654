"""Selection of test samples that differ in labels, ignored entries, padding, weights and lengths."""

from collections.abc import Iterator
from time import monotonic
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Subset, TensorDataset, default_collate

from lastiterate.runtime.workloads.rows import Rows

_LOOKED: Final = 2**21
"""Bytes of targets and of inputs that are examined; larger data are sampled at evenly spaced rows."""

_FEW: Final = 24
"""Number of values up to which all are examined; otherwise only rare, common and extreme values are."""

_COLUMNS: Final = 8
"""Number of a target's columns whose extremes are examined separately, since a column may be a weight."""

_SIGNS: Final = (0, -1, -100)
"""Integers that mark padding and ignored entries."""

_MOST: Final = 16
"""Number of rows tested together."""

SAMPLES: Final = 512
"""Largest number of samples examined."""

_SECONDS: Final = 1.0
"""Seconds for reading targets that a data set does not provide together."""


def telling_rows(inputs: Rows | Tensor, targets: Rows | Tensor) -> list[int]:
    """Indices of at most 16 rows in which a tie between rows would show first.

    >>> telling_rows(torch.ones(100, 2), torch.tensor([0] * 99 + [1]))
    [99, 0, 33, 66]
    """
    found: dict[int, None] = {}
    for values, share in ((targets, 3 * _MOST // 4), (inputs, _MOST)):
        given = values.values if isinstance(values, Rows) else values
        for index in _extremes(given):
            if len(found) < share:
                found[index] = None
    for index in torch.linspace(0, len(inputs) - 1, min(len(inputs), 4)).round().long().tolist():
        if len(found) < _MOST:
            found[index] = None
    return list(found)


def _distinct(values: Tensor) -> Tensor:
    """Distinct integer values, rarest first; only some if there are many."""
    kinds, counts = torch.unique(values, return_counts=True)
    found: Tensor = kinds[counts.argsort(stable=True)]
    if len(found) <= _FEW:
        return found
    rest = [found[: _FEW // 2], found[-_FEW // 4 :], torch.stack([found.min(), found.max()])]
    signs = torch.tensor(_SIGNS, dtype=found.dtype, device=found.device)
    return torch.cat([*rest, signs[torch.isin(signs, found)]])


def _extremes(values: Tensor) -> Iterator[int]:
    """Rows at which a quantity of `_counted` is largest or smallest."""
    if not values.numel() or values.is_complex():
        return
    row = values[:1].numel() * values.element_size()
    looked = max(1, min(len(values), _LOOKED // row))
    places = torch.linspace(0, len(values) - 1, looked, dtype=torch.float64).round().long()
    flat = (values if looked == len(values) else values[places.to(values.device)]).reshape(looked, -1)
    for counted in _counted(flat):
        for place in (counted.argmax(), counted.argmin()):
            yield int(places[place])


def _counted(flat: Tensor) -> Iterator[Tensor]:
    """Quantities of every row that a loss may use, each of shape (rows,)."""
    whole = flat.dtype is torch.bool or not flat.is_floating_point()
    if whole or len(torch.unique(flat)) <= _FEW:
        for value in _distinct(flat.int() if flat.dtype is torch.bool else flat):
            yield (flat == value).sum(dim=1)
    if not whole:
        yield from flat.T[:_COLUMNS]
        yield flat.count_nonzero(dim=1)
        yield torch.linalg.vector_norm(flat, dim=1, dtype=torch.float64 if flat.device.type != "mps" else None)


def spread_over(samples: int) -> list[int]:
    """Indices of at most `SAMPLES` evenly spaced samples."""
    return sorted({round(k) for k in np.linspace(0, samples - 1, min(SAMPLES, samples))})


def some_rows(items: Any) -> tuple[Tensor, Tensor]:
    """Inputs and targets of at most `SAMPLES` items spread over a data set, and of its telling items."""
    number = len(items)
    chosen, targets = spread_over(number), targets_of(items)
    if targets is not None:
        chosen = sorted({*chosen, *telling_rows(targets, targets)})
    inputs, found = default_collate([items[k] for k in chosen])
    return inputs, found


def targets_of(items: Any) -> Tensor | None:
    """Targets of all items, or of the items read in a second; None if incomplete for a subset."""
    if isinstance(items, TensorDataset) and len(items.tensors) == 2:
        return items.tensors[1]
    if isinstance(items, Subset):
        data: Any = items.dataset
        whole = targets_of(data)
        return None if whole is None or len(whole) < len(data) else whole[torch.as_tensor(items.indices)]
    for name in ("targets", "labels"):  # as in torchvision
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
