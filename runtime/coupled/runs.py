"""Pairs of runs on adjacent data with the same batches and the same noise: how far apart they really drift.

The forward-tracked distance D_t of the theory bounds the distance of every such pair at every time. Many pairs are run
side by side, each with noise of its own; the batches are the same for all of them.

Source: Chien & Li 2025, Lemmas 3.5 and 3.10; the coupling is the one of their proofs.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lastiterate.numeric.assumptions import Assumption
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, count
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.memory import says_when_memory_runs_out
from lastiterate.runtime.training.batches import batches
from lastiterate.runtime.training.descent import BATCHES, project, stream
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["COUPLED", "CoupledRuns", "coupled_runs", "tracked_distance"]

Array = NDArray[np.float64]

COUPLED = 2**41
"""The purpose of the stream that draws the noise of the pairs."""


@dataclass(frozen=True)
class CoupledRuns:
    """Measured distances of coupled runs. Direction: lower estimates of the greatest distance.

    Attributes:
        run: what was run.
        replaced: index of the sample that differs.
        distances: |W_t - W'_t|, shape (steps + 1, pairs), lengths.
        last: last iterates of the runs on the data, shape (pairs, dimension).
        last_adjacent: those of the runs on the adjacent data, the same shape.
    """

    run: NoisySGD
    replaced: int
    distances: Array
    last: Array
    last_adjacent: Array

    @property
    def greatest(self) -> Array:
        """The greatest distance over the pairs at each time, shape (steps + 1,)."""
        return np.asarray(self.distances.max(axis=1))


def tracked_distance(run: NoisySGD, assumption: Assumption, replaced: int = 0) -> Array:
    """min(D, D_t) for t = 0..T, shape (steps + 1,), rounded up: no pair is ever farther apart.

    Args:
        run: full, cyclic or without replacement.
        assumption: what is assumed of the losses.
        replaced: index of the sample that differs; cyclic batches are consecutive samples.

    Raises:
        InputError: shuffled or Poisson batches, or an assumption that does not fit the run.
    """
    position = replaced // run.batch if run.sampling == "cyclic" else 0
    return ShiftProgram(run, assumption, position).tracked


@says_when_memory_runs_out
@torch.no_grad()
def coupled_runs(
    workload: Workload,
    run: NoisySGD,
    *,
    pairs: int = 100,
    replaced: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int = 256 * 2**20,
    seed: int = 0,
) -> CoupledRuns:
    """Run pairs on the first ``run.dataset_size`` samples and on the adjacent data.

    Under "replace" the adjacent data have the workload's last sample in the place of the one that differs, so the
    workload needs one sample more than the run; under "add_remove" they lack it.

    Args:
        workload: network, loss and data.
        run: the run.
        pairs: number of pairs M.
        replaced: index of the sample that differs.
        dtype: float32 or float64.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take.
        seed: of the initial point, the batches and the noise.

    Raises:
        InputError: the workload has too few samples, no such sample, or the parameters stop being finite.
    """
    count("pairs", pairs)
    needed = run.dataset_size + (run.adjacency == "replace")
    if workload.samples < needed:
        raise InputError(
            f"Coupled runs need {needed} samples for dataset_size={run.dataset_size}, got {workload.samples} in "
            f"workload={workload.name}; the one that takes the place of another must not be in the data."
        )
    if not 0 <= replaced < run.dataset_size:
        raise InputError(
            f"replaced needs an index below dataset_size={run.dataset_size}, got replaced={replaced}; count from 0."
        )
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    noise = stream(seed, purpose=COUPLED)
    centre = gradients.start
    here = centre.repeat(pairs, 1)
    there = here.clone()
    distances = np.zeros((run.steps + 1, pairs))
    for t, batch in enumerate(batches(run, stream(seed, purpose=BATCHES))):
        steps = gradients.totals(torch.cat([here, there]), run.clip_norm, batch)
        first, second = steps[:pairs], steps[pairs:]
        if bool((batch == replaced).any()):
            second = second - gradients.totals(there, run.clip_norm, torch.tensor([replaced]))
            if run.adjacency == "replace":
                second = second + gradients.totals(there, run.clip_norm, torch.tensor([workload.samples - 1]))
        drawn = torch.randn(pairs, gradients.dimension, generator=noise, dtype=torch.float64).to(here)
        eta, sigma = run.step_size_at(t) / run.batch, run.noise_std_at(t)
        here = project(here - eta * first + sigma * drawn, centre, run.diameter)
        there = project(there - eta * second + sigma * drawn, centre, run.diameter)
        distances[t + 1] = torch.linalg.vector_norm(here - there, dim=1).cpu().numpy()
        if not np.isfinite(distances[t + 1]).all():
            raise InputError(
                f"Coupled runs need finite parameters, got nan or inf after step={t + 1}; lower step_size."
            )
    last, adjacent = (points.cpu().double().numpy() for points in (here, there))
    return CoupledRuns(run, replaced, distances, last, adjacent)
