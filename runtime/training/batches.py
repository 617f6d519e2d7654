"""Which samples are in the batch of each step, drawn as `lastiterate.numeric.run.NoisySGD` says."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lastiterate.numeric.run import NoisySGD

__all__ = ["batches"]


def batches(run: NoisySGD, generator: torch.Generator) -> Iterator[Tensor]:
    """The indices of the samples in the batch of each step, sorted or not, on the CPU.

    Args:
        run: says how batches are drawn; cyclic batches are consecutive samples in the order of the data.
        generator: on the CPU; full and cyclic batches draw nothing from it.

    Yields:
        One tensor of shape (size of the batch,) a step; a Poisson batch can be empty.

    >>> run = NoisySGD(4, 0.1, 1.0, 1.0, dataset_size=6, batch_size=2, sampling="cyclic")
    >>> [batch.tolist() for batch in batches(run, torch.Generator())]
    [[0, 1], [2, 3], [4, 5], [0, 1]]
    """
    everything = torch.arange(run.dataset_size)
    order = everything
    for t in range(run.steps):
        place = t % run.batches
        if run.sampling == "full":
            yield everything
        elif run.sampling == "poisson":
            rate = run.batch / run.dataset_size
            yield everything[torch.rand(run.dataset_size, generator=generator, dtype=torch.float64) < rate]
        elif run.sampling == "without_replacement":
            yield torch.randperm(run.dataset_size, generator=generator)[: run.batch]
        else:
            if run.sampling == "shuffled" and place == 0:
                order = torch.randperm(run.dataset_size, generator=generator)
            yield order[place * run.batch : (place + 1) * run.batch]
