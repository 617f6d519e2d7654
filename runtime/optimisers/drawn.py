"""Batches that a run drew, held against the rows that its steps are made on.

Steps on other rows have no bound: an account of Poisson batches is one of batches that were drawn so. What can be told
is told: a step without a batch drawn for it, one of another size, and a sample whose row is another than before.
"""

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError

_FACTOR: Final = 6364136223846793005
"""Odd: powers of it weigh the words of a row, modulo 2^64."""


class Drawn:
    """Batches that wait for their steps, and a checksum of every sample that a step was made on.

    Args:
        samples: how many there are.
    """

    def __init__(self, samples: int) -> None:
        self._waiting: dict[int, Tensor] = {}
        self._sums = torch.zeros(samples, dtype=torch.int64)  # 0 where the sample was not seen

    def noted(self, batches: Iterator[Tensor], first: int) -> Iterator[Tensor]:
        """Hand out batches, and note for which step each is, from the first on."""
        for t, batch in enumerate(batches, first):
            self._waiting[t] = batch
            yield batch

    def check(self, t: int, inputs: Tensor, targets: Tensor) -> Tensor:
        """Refuse rows that are not those of the batch of step t.

        Returns:
            Checksums of the samples, for `taken`.

        Raises:
            InputError: no batch was drawn for the step, it has another size, or a sample another row than before.
        """
        batch = self._waiting.get(t)
        if batch is None or not len(batch) == len(inputs) == len(targets):
            due = "none was drawn" if batch is None else f"{len(batch)} rows with a target each"
            raise InputError(
                f"A step needs the batch that the run drew ({due} for step={t + 1}), got {len(inputs)} inputs and "
                f"{len(targets)} targets; take the indices from batches(), which draws as the run says, one a step."
            )
        now = _checksums(inputs) * _FACTOR + _checksums(targets) | 1
        before = self._sums[batch]
        other = torch.nonzero((before != 0) & (before != now)).flatten().tolist()
        if other:
            raise InputError(
                f"A step needs the rows that the run drew, the same for a sample every time, got another row for "
                f"sample={int(batch[other[0]])} in step={t + 1}; give inputs[batch] and targets[batch] for each batch "
                "of batches(), in its order and without random transforms."
            )
        return now

    def taken(self, t: int, now: Tensor) -> None:
        """Note that step t was made."""
        self._sums[self._waiting.pop(t)] = now


def _checksums(rows: Tensor) -> Tensor:
    """A number for each row by its bytes, shape (k,), on the CPU; equal rows have equal ones on every device."""
    if not isinstance(rows, Tensor) or not rows.numel():  # what is no tensor is refused where gradients are made
        return torch.zeros(len(rows), dtype=torch.int64)
    words = rows.detach().contiguous().reshape(len(rows), -1).view(torch.uint8)
    words = words.view(torch.int32) if words.shape[1] % 4 == 0 else words
    weights = torch.full((words.shape[1],), _FACTOR, device=rows.device).cumprod(0)
    return (words * weights).sum(dim=1).cpu()
