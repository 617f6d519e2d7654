"""Samples in the batch of each step, drawn as described by `lastiterate.numeric.run.NoisySGD`."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from lastiterate.numeric.run import StepSchedule
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.runtime.random_streams import Stream

_DRAWN_AT_ONCE = 2**22


def draw_batches(run: StepSchedule, generator: Stream) -> Iterator[Tensor]:
    """Sample indices in the batch of each step, in any order, on the CPU, shape (size of the batch,).

    Cyclic batches are consecutive samples in the order of the data. A Poisson batch can be empty.
    """
    for chosen in draw_batches_of_many(run, 1, generator):
        yield chosen if chosen.ndim == 1 else chosen[0]


def draw_batches_of_many(
    run: StepSchedule, runs: int, generator: Stream, device: torch.device | str = "cpu"
) -> Iterator[Tensor]:
    """Sample indices in the batch of each step of many parallel runs, drawn from one stream.

    If all runs share the batch (full, cyclic), indices have shape (size,), on the CPU; otherwise they have
    shape (runs, size), on the device, with -1 for no sample.
    """
    scheme, order = SCHEMES[run.sampling], torch.arange(run.dataset_size)
    most = max(1, _DRAWN_AT_ONCE // run.dataset_size)
    parts = [min(most, runs - first) for first in range(0, runs, most)]  # some runs at a time

    def drawn(draw: Callable[..., Tensor], keep: Callable[[Tensor], Tensor]) -> Tensor:
        return torch.cat([keep(draw(part, run.dataset_size, device)) for part in parts])

    for t in range(run.steps):
        place = t % run.batches
        if not scheme.fixed_size:
            rate = run.batch / run.dataset_size
            yield _padded(drawn(generator.uniform, lambda numbers: numbers < rate))  # noqa: B023
        elif scheme.random:
            smallest = partial(torch.topk, k=run.batch, dim=1, largest=False)
            yield drawn(generator.words, lambda words: smallest(words).indices)  # noqa: B023
        else:
            if scheme.permuted and place == 0:
                order = drawn(generator.words, partial(torch.argsort, dim=1))
            yield order[..., place * run.batch : (place + 1) * run.batch]


def _padded(taken: Tensor) -> Tensor:
    """Indices of the true entries in each row, shape (rows, largest number per row), filled up with -1."""
    places, columns = taken.cumsum(dim=1), torch.arange(taken.shape[1], device=taken.device)
    most = int(places[:, -1].max())
    found = torch.full((len(taken), most + 1), -1, device=taken.device)  # the last column collects the others
    return found.scatter_(1, torch.where(taken, places - 1, most), columns.expand_as(places))[:, :most]
