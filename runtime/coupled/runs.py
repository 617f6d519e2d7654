"""Pairs of runs on adjacent data with the same batches and the same noise: how far apart they really drift.

The forward-tracked distance D_t of the theory bounds the distance of every such pair at every time. Many pairs are run
side by side. The two runs of a pair share their batches and their noise, every pair has its own: the pairs are
independent draws of one coupling, and their ends independent draws of the laws of the two last iterates.

Source: Chien & Li 2025, Lemmas 3.5 and 3.10; the coupling is the one of their proofs.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import count
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import ULPS, Expansion
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.store import Store
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.adjacent import Differing, adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

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
        pull: change of the clipped gradient at the start where the sample differs, as a share of the greatest that
            clipping leaves; in [0, 1]. Where it is near 0 the sample is fitted there, and little can be seen of it.
    """

    run: NoisySGD
    replaced: int
    distances: Array
    last: Array
    last_adjacent: Array
    pull: float

    @property
    def greatest(self) -> Array:
        """The greatest distance over the pairs at each time, shape (steps + 1,)."""
        return np.asarray(self.distances.max(axis=1))

    def excess(self, tracked: Array) -> float:
        """Largest excess of the pairs over a tracked distance, over all times; 0 where there is none.

        Args:
            tracked: D_t, shape (steps + 1,), lengths; see `tracked_distance`.

        Returns:
            The largest greatest[t] / D_t - 1. With a certified D_t it is 0 but for rounding; with a measured one it
            need not be, and then the measured constants were too small.
        """
        behind = self.greatest[1:] / np.maximum(tracked[1:], 1e-300) - 1
        return max(0.0, float(behind.max()))


def tracked_distance(run: NoisySGD, assumption: Assumption, replaced: int = 0) -> Array:
    """min(D, D_t) for t = 0..T, shape (steps + 1,), rounded up: no pair is ever farther apart.

    Args:
        run: full, cyclic or without replacement; of shuffled batches the distance holds for every order.
        assumption: what is assumed of the losses; what comes of measured constants is an estimate.
        replaced: index of the sample that differs; cyclic batches are consecutive samples.

    Raises:
        InputError: Poisson batches, an assumption that does not fit the run, or an index that is none.
    """
    replaced = count("replaced", replaced, least=0)
    if run.scheme.permuted:
        return _tracked_in_any_order(run, assumption)
    position = replaced // run.batch if run.scheme.fixed else 0
    return ShiftProgram(run, assumption, position).tracked


def _tracked_in_any_order(run: NoisySGD, assumption: Assumption) -> Array:
    """The greatest tracked distance over the places of the sample in each epoch.

    A larger distance stays larger (e is nondecreasing), so that the worst place may be taken epoch by epoch.
    """
    known: dict[float, tuple[Expansion, Expansion]] = {}
    up = 1 + 2 * ULPS * np.finfo(float).eps
    distances = np.zeros(run.batches)  # one for each place of the sample in this epoch
    found = np.zeros(run.steps + 1)
    for t in range(run.steps):
        eta, place = run.step_size_at(t), t % run.batches
        if eta not in known:
            with precision():
                known[eta] = assumption.expansion(run, t, differs=False), assumption.expansion(run, t, differs=True)
        plain, met = known[eta]
        if place == 0:
            distances[:] = distances.max()
        before = distances[place : place + 1].copy()
        distances = plain.value(distances)
        distances[place] = met.value(before)[0]
        distances = np.minimum(distances * up, run.diameter)
        found[t + 1] = distances.max()
    return found


@teaches()
@says_when_memory_runs_out
def coupled_runs(
    workload: Workload,
    run: NoisySGD,
    *,
    pairs: int = 100,
    replaced: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
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
        memory: bytes that one chunk of gradients may take, None for what the device has room for; it changes nothing
            but speed and the last bits.
        seed: of the initial point, the batches and the noise, at least 0.
        folder: where finished pairs are kept and looked for, many at a time; None keeps nothing.
        on_step: called with (finished, all) steps, first with those found in ``folder``.

    Raises:
        InputError: the workload has too few samples, no such sample, or the parameters stop being finite.
    """
    pairs = count("pairs", pairs)
    described_workload("coupled_runs", workload)
    described_run("coupled_runs", run)
    check_sample(workload, run, "replaced", replaced, spare=run.adjacency == "replace")
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    chosen = {"replaced": replaced, "dtype": dtype, "seed": seed}
    store = Store(folder, identify_workload(workload, gradients) | {"format": 3, "run": asdict(run)} | chosen)
    differing = real_sample(gradients, run, replaced)

    def block(number: int, size: int, tick: Callable[[], None]) -> dict[str, Array]:
        distances = gradients.start.new_zeros(run.steps + 1, size)
        sides = (gradients.start[None], gradients.start[None])
        iterates = adjacent_runs(
            gradients, run, differing, size, coupled=True, seed=seed, block=number, purpose=COUPLED
        )
        for t, (here, there) in enumerate(iterates, start=1):
            sides = here, there
            distances[t] = torch.linalg.vector_norm(here - there, dim=1)
            tick()
        kept = (points.cpu().double().numpy() for points in (distances, *sides))
        return dict(zip(("distances", "last", "last_adjacent"), kept, strict=True))

    found = in_blocks(gradients, run, pairs, block, store, on_step)
    distances = np.concatenate([part["distances"] for part in found], axis=1)
    last, adjacent = (np.concatenate([part[name] for part in found]) for name in ("last", "last_adjacent"))
    return CoupledRuns(run, replaced, distances, last, adjacent, _pull(gradients, run, differing))


def _pull(gradients: Gradients, run: NoisySGD, differing: Differing) -> float:
    here = differing.here(gradients.start[None])
    change, most = (here, 1) if differing.there is None else (here - differing.there(gradients.start[None]), 2)
    return float(torch.linalg.vector_norm(change)) / (most * run.clip_norm)
