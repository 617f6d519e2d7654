"""Samples in the batch of each step, drawn as described by `lastiterate.numeric.run.NoisySGD`."""

from collections.abc import Iterator

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
    everything, scheme = torch.arange(run.dataset_size), SCHEMES[run.sampling]
    order = everything
    for t in range(run.steps):
        place = t % run.batches
        if not scheme.fixed_size:
            rate = run.batch / run.dataset_size
            yield everything[generator.uniform(1, run.dataset_size)[0] < rate]
        elif scheme.random:
            yield generator.permutation(run.dataset_size)[: run.batch]
        else:
            if scheme.permuted and place == 0:
                order = generator.permutation(run.dataset_size)
            yield order[place * run.batch : (place + 1) * run.batch]


def draw_batches_of_many(
    run: StepSchedule, runs: int, generator: Stream, device: torch.device | str = "cpu"
) -> Iterator[Tensor]:
    """Sample indices in the batch of each step of many parallel runs, drawn from one stream.

    If all runs share the batch (full, cyclic), indices have shape (size,), on the CPU; otherwise they have
    shape (runs, size), on the device, with -1 for no sample.
    """
    scheme = SCHEMES[run.sampling]
    if scheme.fixed:
        yield from draw_batches(run, generator)
        return
    order = torch.empty(0)
    for t in range(run.steps):
        place = t % run.batches
        if not scheme.fixed_size:
            rate = run.batch / run.dataset_size
            yield _padded(torch.cat([drawn < rate for drawn in _uniform(run, runs, generator, device)]))
        elif scheme.random:
            yield torch.cat(
                [drawn.topk(run.batch, dim=1).indices for drawn in _uniform(run, runs, generator, device)]
            )
        else:
            if place == 0:
                order = torch.cat([drawn.argsort(dim=1) for drawn in _uniform(run, runs, generator, device)])
            yield order[:, place * run.batch : (place + 1) * run.batch]


def _uniform(run: StepSchedule, runs: int, generator: Stream, device: torch.device | str) -> Iterator[Tensor]:
    """Uniform numbers for every sample of every run, shape (runs, dataset_size), some runs at a time."""
    step = max(1, _DRAWN_AT_ONCE // run.dataset_size)
    for first in range(0, runs, step):
        yield generator.uniform(min(step, runs - first), run.dataset_size, device)


def _padded(taken: Tensor) -> Tensor:
    """Indices of the true entries in each row, shape (rows, largest number per row), filled up with -1."""
    places, columns = taken.cumsum(dim=1), torch.arange(taken.shape[1], device=taken.device)
    most = int(places[:, -1].max())
    found = torch.full((len(taken), most + 1), -1, device=taken.device)  # the last column collects the others
    return found.scatter_(1, torch.where(taken, places - 1, most), columns.expand_as(places))[:, :most]
