"""Data sets whose rows are kept within a public bound, which constants in closed form can rest on.

A constant that is read off the data is a fact about these data alone: a neighbouring data set may hold a longer row. A
bound that is enforced holds of every sample that anybody could add.
"""

from collections.abc import Sized
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils.data import Dataset

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, positive

_BELOW: Final = 2.0**-40


@teaches()
class ClippedRows(Dataset[tuple[Tensor, Any]]):
    """A data set of (input, target) whose inputs are scaled down to a norm where they are longer.

    Args:
        data: a data set of pairs, with a length.
        norm: greatest Euclidean norm of an input, all its entries as one vector. It must not look at the data.

    Raises:
        InputError: the norm is not positive, or an item is no pair of a floating tensor and a target.

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
        """Number of samples."""
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        """The pair, the input no longer than the norm, however it is rounded."""
        row, target = pair_of(self.data[index])
        # Entries are rounded to the dtype after they were scaled, each by eps / 2 at most.
        most = self.norm * (1 - torch.finfo(row.dtype).eps - _BELOW)
        length = float(torch.linalg.vector_norm(row.double()))
        if not length <= most:
            row = (row.double() * (most / length)).to(row.dtype)
        return row, target


def pair_of(item: Any) -> tuple[Tensor, Any]:
    """The input and the target of an item of a data set.

    Raises:
        InputError: it is no such pair, or the input is not finite.
    """
    if not (isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], Tensor)):
        raise InputError(
            f"Rows are read off pairs of an input tensor and a target, got item={type(item).__name__}; make pairs."
        )
    row = item[0]
    if not row.is_floating_point() or not bool(torch.isfinite(row).all()):
        raise InputError(f"Rows need finite floating entries, got dtype={row.dtype}; convert and clean them first.")
    return row, item[1]
