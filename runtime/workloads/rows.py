"""Samples kept in their own memory and returned on a device, and a choice of samples for tests.

The chosen samples differ in labels, ignored entries, padding, weights and lengths.
"""

from collections.abc import Iterator
from math import inf
from time import monotonic
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Subset, TensorDataset, default_collate

from lastiterate.numeric.errors import InputError

_LOOKED: Final = 2**18
"""Largest number of entries tested for rounding in a narrower dtype."""

_ROUNDED: Final = 2.0**-6
"""Share of the differences between rows that rounding may remove."""

_TINY: Final = 2.0**-40
"""Relative size below which differences between rows are ignored."""

_EXAMINED: Final = 2**21
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


def _refuse_rounded(values: Tensor, dtype: torch.dtype) -> None:
    """Refuse numbers that overflow in a dtype, or whose rounding is large relative to their differences."""
    real = values.is_floating_point()
    narrower = values.dtype.itemsize > dtype.itemsize if real else values.dtype in (torch.int32, torch.int64)
    if not narrower or not values.numel():
        return
    number = max(1, min(len(values), _LOOKED // values[:1].numel()))
    places = torch.arange(number, device=values.device) * (len(values) - 1) // max(1, number - 1)
    some = values[places].reshape(number, -1).cpu()
    if not real and int(some.abs().max()) <= 2 / torch.finfo(dtype).eps:
        return
    cast = some.to(dtype)
    off = (cast.double() - some.double()) if real else (cast.to(torch.int64) - some)
    off, spread = off.abs().amax(dim=0).double(), (some.amax(dim=0) - some.amin(dim=0)).double().abs()
    told_apart = (off <= spread * _ROUNDED) | (spread <= _TINY * real * some.double().abs().amax(dim=0))
    if not bool(told_apart.all()) or not bool(cast.isfinite().all()):
        name, most = str(dtype).removeprefix("torch."), float(some.double().abs().max())
        raise InputError(
            f"The data need a precision that represents them and keeps rows distinct, got dtype={name} for "
            f"numbers up to {most:.6g}, which it rounds by {float(off.max()):.3g}; use float64, or shift and "
            "scale the data by constants that do not depend on them."
        )


class Rows:
    """Inputs or targets, shape (n, ...), returned on a device and, if floating-point, in a dtype.

    Data of at most ``memory`` bytes are moved to the device at once; otherwise only requested rows are moved.
    ``bytes_of_a_row`` is the size of a row that is moved on request, or 0 if all rows were moved at once.
    """

    def __init__(
        self,
        values: Tensor,
        device: torch.device,
        dtype: torch.dtype,
        memory: float = inf,
    ) -> None:
        _refuse_rounded(values, dtype)
        self.values, self.device = values, device
        self.dtype = dtype if values.is_floating_point() else values.dtype
        self.bytes_of_a_row = values[:1].numel() * self.dtype.itemsize
        if len(values) * self.bytes_of_a_row <= memory:
            self.values, self.bytes_of_a_row = self[:], 0

    def alike(self, others: "Rows") -> bool:
        """True if the rows have the same shape and dtype as the rows of ``others``."""
        return (self[:1].shape[1:], self.dtype) == (others[:1].shape[1:], others.dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int | slice | Tensor) -> Tensor:
        there = index.to(self.values.device) if isinstance(index, Tensor) else index
        return self.values[there].to(self.device, self.dtype)


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
    looked = max(1, min(len(values), _EXAMINED // row))
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
    """Inputs and targets of up to `SAMPLES` evenly spaced items of a data set, and of items with extreme values."""
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
