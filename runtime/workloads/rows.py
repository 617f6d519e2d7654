"""Samples where they lie, handed out on a device; and data sets whose rows are kept within a public bound."""

from collections.abc import Callable, Iterator, Sized
from math import inf
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils.data import Dataset

from lastiterate.numeric.errors import InputError, positive, teaches

_PART: Final = 2**24
"""Bytes that are looked at together."""

_LOOKED: Final = 2**18
"""Numbers that are tried on a narrower precision."""

_ROUNDED: Final = 2.0**-6
"""Share of what rows differ by that may be rounded away."""

_TINY: Final = 2.0**-40
"""Share of a number by which rows may differ without a meaning, and by which rows are shortened for their rounding."""


def in_parts(values: Tensor) -> Iterator[Tensor]:
    """The rows in their order, so many at a time that what is made of them stays small.

    >>> [len(part) for part in in_parts(torch.zeros(3, 2**21))]
    [2, 1]
    """
    bytes_of_a_row = max(1, values[:1].numel() * values.element_size())
    yield from torch.split(values, max(1, _PART // bytes_of_a_row))


def _refuse_rounded(values: Tensor, dtype: torch.dtype) -> None:
    """Refuse numbers that overflow in a dtype, or that it rounds by more than they differ from row to row."""
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
            f"The data need a precision that holds them and tells rows apart, got dtype={name} for numbers up to "
            f"{most:.6g}, which it rounds by {float(off.max()):.3g}; take float64, or subtract and divide by numbers "
            "that do not look at the data."
        )


class Rows:
    """Inputs or targets, handed out on a device and, where they are real numbers, in a dtype.

    Args:
        values: shape (n, ...).
        device: where they are handed out.
        dtype: of real numbers; whole numbers stay as they are.
        memory: bytes up to which all of them are placed there at once; of more, what is asked for alone.
        change: a map of rows to rows that they go through.

    Attributes:
        bytes_of_a_row: what one of them takes when it is asked for; 0 where all are placed.
    """

    def __init__(
        self,
        values: Tensor,
        device: torch.device,
        dtype: torch.dtype,
        memory: float = inf,
        change: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        _refuse_rounded(values, dtype)
        self.values, self.device = values, device
        self.dtype = dtype if values.is_floating_point() else values.dtype
        self._change = change
        self.bytes_of_a_row = values[:1].numel() * self.dtype.itemsize
        if len(values) * self.bytes_of_a_row <= memory:
            self.values, self._change, self.bytes_of_a_row = self[:], None, 0

    def alike(self, others: "Rows") -> bool:
        """Tell whether a row has the shape and the dtype of others."""
        return (self[:1].shape[1:], self.dtype) == (others[:1].shape[1:], others.dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int | slice | Tensor) -> Tensor:
        there = index.to(self.values.device) if isinstance(index, Tensor) else index
        chosen = self.values[there].to(self.device, self.dtype)
        return chosen if self._change is None else self._change(chosen)

    def through(self, change: Callable[[Tensor], Tensor], memory: float) -> "Rows":
        """The same, each gone through a map of rows to rows; ``memory`` as for the class."""
        return Rows(self.values, self.device, self.dtype, memory, change)


@teaches()
class ClippedRows(Dataset[tuple[Tensor, Any]]):
    """A data set of (input, target) whose inputs are scaled down to a norm where they are longer.

    A constant that is read off the data is a fact about these data alone; a bound that is enforced holds of every
    sample that anybody could add.

    Args:
        data: a data set of pairs, with a length.
        norm: greatest Euclidean norm of an input, all its entries as one vector. It must not look at the data.

    Raises:
        InputError: the norm is not positive, or an item is not a pair of a floating tensor and a target.

    >>> rows = ClippedRows(torch.utils.data.TensorDataset(torch.tensor([[3.0, 4.0]]), torch.zeros(1)), norm=1.0)
    >>> row, _ = rows[0]
    >>> 0.9999 < float(row.norm()) <= 1.0
    True
    """

    def __init__(self, data: Any, norm: float) -> None:
        if not isinstance(data, Sized):
            raise InputError(
                f"ClippedRows needs data with a length, got data={type(data).__name__}; give a map style one."
            )
        self.data: Any = data
        self.norm = positive("norm", norm)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        """The pair, the input no longer than the norm, however it is rounded."""
        row, target = pair_of(self.data[index])
        # Entries are rounded to the dtype after they were scaled, each by eps / 2 at most.
        most = self.norm * (1 - torch.finfo(row.dtype).eps - _TINY)
        length = float(torch.linalg.vector_norm(row.double()))
        return row if length <= most else (row.double() * (most / length)).to(row.dtype), target


def pair_of(item: Any) -> tuple[Tensor, Any]:
    """The input and the target of an item of a data set."""
    if not (isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], Tensor)):
        raise InputError(
            f"Rows are read off pairs of an input tensor and a target, got item={type(item).__name__}; make pairs."
        )
    row = item[0]
    if not row.is_floating_point() or not bool(torch.isfinite(row).all()):
        raise InputError(f"Rows need finite floating entries, got dtype={row.dtype}; convert and clean them first.")
    return row, item[1]
