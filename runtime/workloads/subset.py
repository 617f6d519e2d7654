"""A random subset of the samples of a workload, for data too large to go through at every point."""

from dataclasses import replace
from typing import Final

import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count
from lastiterate.runtime.pair_table import Subset
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["subset"]

_SUBSET: Final = 2**50
"""The purpose of the stream that draws the samples."""


def subset(workload: Workload, samples: int, seed: int) -> Workload:
    """The workload on a random subset of its samples, drawn uniformly, in the order of the data.

    What is run on it is a run on ``samples`` samples, and is accounted for as one: no privacy is claimed from the draw.

    Args:
        workload: network, loss and data, not a subset itself.
        samples: how many to draw, at most as many as there are.
        seed: seed of the draw.

    Raises:
        InputError: more samples than there are, fewer than one, or a workload that is a subset already.
    """
    if count("samples", samples) > workload.samples:
        raise InputError(
            f"A subset needs samples to be at most the {workload.samples} of {workload.name}, got samples={samples}; "
            "draw fewer, or leave it out for all of them."
        )
    if workload.subset is not None:
        raise InputError(f"A subset is drawn once, got {workload.name} with {workload.subset}; draw from all samples.")
    order = torch.randperm(workload.samples, generator=stream(seed, purpose=_SUBSET))
    chosen = order[:samples].sort().values
    return replace(
        workload,
        inputs=workload.inputs[chosen],
        targets=workload.targets[chosen],
        subset=Subset(samples, workload.samples, seed),
    )
