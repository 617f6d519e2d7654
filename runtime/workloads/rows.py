"""Samples kept in their own memory and returned on a device."""

from math import inf
from typing import Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError

_LOOKED: Final = 2**18
"""Largest number of entries tested for rounding in a narrower dtype."""

_ROUNDED: Final = 2.0**-6
"""Share of the differences between rows that rounding may remove."""

_TINY: Final = 2.0**-40
"""Relative size below which differences between rows are ignored."""


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
