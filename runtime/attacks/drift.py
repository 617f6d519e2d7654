"""Distance over time between runs on adjacent data with the same batches and noise.

The forward-tracked distance D_t of the theory bounds the distance between every two such runs at time t.
Different pairs are independent of each other, so the last iterates of the runs on the data are independent
draws from their law, as are the last iterates of the runs on the adjacent data.

A tracked distance from proved constants is never exceeded. A distance from the user's assumption is exceeded
only if the assumption is false for this network.

Source: Chien & Li 2025, Lemmas 3.5 and 3.10, whose proofs use this coupling; docs/proofs/lower_bounds.md.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Unpack

import numpy as np
import torch

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import count, teaches
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, described_assumption
from lastiterate.numeric.losses.expansion import ULPS, UpdateExpansion
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.store import Store
from lastiterate.runtime.constants.sampling import Sampling, Settings
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.training.adjacent import adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

COUPLED: Final = 2**41
"""Purpose of the stream that draws the noise of the pairs."""

_ROUNDING: Final = 1e-9
"""Relative excess over a tracked distance that is attributed to rounding."""


@dataclass(frozen=True)
class CoupledRuns:
    """Measured distances between coupled runs. Direction: lower estimates of the largest distance.

    Attributes:
        replaced: index of the differing sample.
        distances: |W_t - W'_t|, shape (steps + 1, pairs), lengths.
        last: last iterates of the runs on the data, shape (pairs, dimension).
        last_adjacent: last iterates of the runs on the adjacent data, same shape.
        pull: change of the clipped gradient at the start due to the differing sample, as a share in [0, 1] of
            the maximum that clipping allows.
    """

    run: NoisySGD
    replaced: int
    distances: Array
    last: Array
    last_adjacent: Array
    pull: float

    @property
    def greatest(self) -> Array:
        """Largest distance over the pairs at each time, shape (steps + 1,)."""
        return np.asarray(self.distances.max(axis=1))

    def excess(self, tracked: Array) -> float:
        """Largest relative excess of `greatest` over ``tracked``; 0 if rounding explains it."""
        found = float((self.greatest[1:] / np.maximum(tracked[1:], 1e-300) - 1).max())
        return found if found > _ROUNDING else 0.0


def tracked_distance(run: NoisySGD, assumption: Assumption, replaced: int = 0) -> Array:
    """Bounds min(D, D_t) on the distance between coupled runs, t = 0..T, rounded up, shape (steps + 1,).

    For shuffled batches the bounds hold for every order. Bounds from measured constants are estimates.
    ``replaced`` is the index of the differing sample.

    Raises:
        InputError: Poisson batches, an assumption that does not fit the run, or an invalid index.
    """
    replaced = count("replaced", replaced, least=0)
    if run.scheme.permuted:
        return _tracked_in_any_order(run, assumption)
    position = replaced // run.batch if run.scheme.fixed else 0
    return ShiftProgram(run, assumption, position).tracked


def _tracked_in_any_order(run: NoisySGD, assumption: Assumption) -> Array:
    """Largest tracked distances, for any place of the sample in each epoch; expansions are nondecreasing."""
    known: dict[float, tuple[UpdateExpansion, UpdateExpansion]] = {}
    up = 1 + 2 * ULPS * np.finfo(float).eps
    distances = np.zeros(run.batches)  # one per place of the sample in this epoch
    found = np.zeros(run.steps + 1)
    for t in range(run.steps):
        eta, place = run.step_size_at(t), t % run.batches
        if eta not in known:
            with precision():
                known[eta] = (
                    assumption.expansion(run, t, differs=False),
                    assumption.expansion(run, t, differs=True),
                )
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
    **settings: Unpack[Settings],
) -> CoupledRuns:
    """Run pairs on the first ``run.dataset_size`` samples and adjacent data, with common batches and noise.

    Under "replace" the workload's last sample replaces the sample with index ``replaced``, so the workload
    needs one more sample than the run. Under "add_remove" the adjacent data omit this sample. ``settings``
    are fields of `lastiterate.runtime.constants.sampling.Sampling`; blocks of pairs are stored.

    Raises:
        InputError: too few samples, an invalid index, or parameters that become non-finite.
    """
    pairs = count("pairs", pairs)
    described_workload("coupled_runs", workload)
    described_run("coupled_runs", run)
    check_sample(workload, run, "replaced", replaced, spare=run.adjacency == "replace")
    sampling = Sampling(**settings)
    gradients, seed = sampling.gradients(workload), sampling.seed
    chosen = {"replaced": replaced, "dtype": sampling.dtype, "seed": seed}
    store = Store(
        sampling.folder, identify_workload(workload, gradients) | {"format": 4, "run": asdict(run)} | chosen
    )
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

    found = in_blocks(gradients, run, pairs, block, store, sampling.on_step)
    distances = np.concatenate([part["distances"] for part in found], axis=1)
    last, adjacent = (np.concatenate([part[name] for part in found]) for name in ("last", "last_adjacent"))
    change, most = differing.here(gradients.start[None]), 1
    if differing.there is not None:
        change, most = change - differing.there(gradients.start[None]), 2
    pull = float(torch.linalg.vector_norm(change)) / (most * run.clip_norm)
    return CoupledRuns(run, replaced, distances, last, adjacent, pull)


@dataclass(frozen=True, eq=False)
class TrackedDistance:
    """One tracked distance.

    Attributes:
        rests: "certified" for proved constants, "assumed" for an assumption of the user.
        distances: min(D, D_t), shape (steps + 1,), lengths.
        excess: largest relative excess of a pair's distance; 0 if rounding explains it.
        statement: the assumption.
    """

    name: str
    rests: str
    distances: Array
    excess: float
    statement: str


@dataclass(frozen=True, eq=False)
class Drift:
    """Coupled runs with their tracked distances.

    Attributes:
        tracked: the tracked distances; empty for Poisson batches.
        remark: reason why no distance is tracked, or empty.
    """

    coupled: CoupledRuns
    tracked: tuple[TrackedDistance, ...]
    remark: str

    @property
    def refuted(self) -> tuple[TrackedDistance, ...]:
        """Tracked distances that some pair exceeds."""
        return tuple(one for one in self.tracked if one.excess > 0)

    def as_dict(self) -> dict[str, Any]:
        """Distances at each step and their basis, as plain data for JSON."""
        coupled = self.coupled
        return {
            "pairs": coupled.distances.shape[1],
            "replaced": coupled.replaced,
            "pull": coupled.pull,
            "greatest": coupled.greatest.tolist(),
            "root_mean_square": np.sqrt((coupled.distances**2).mean(axis=1)).tolist(),
            "tracked": [
                {"name": one.name, "kind": str(one.rests), "statement": one.statement, "excess": one.excess}
                | {"distances": one.distances.tolist()}
                for one in self.tracked
            ],
            "remark": self.remark,
        }


@teaches()
def measure_drift(
    workload: Workload,
    run: NoisySGD,
    assumption: Assumption,
    *,
    pairs: int = 1000,
    replaced: int = 0,
    **settings: Unpack[Settings],
) -> Drift:
    """Run coupled pairs and compare them with all known tracked distances.

    ``assumption`` concerns the losses. All other arguments are those of `coupled_runs`.

    Raises:
        InputError: as in `coupled_runs` and `tracked_distance`.
    """
    described_workload("measure_drift", workload)
    described_run("measure_drift", run)
    described_assumption(assumption)
    sampling = Sampling(**settings)
    known: list[tuple[str, str, Assumption, str]] = []
    if assumption != Clipped():
        known.append(("the file", "assumed", assumption, assumption.statement))
    if workload.constants is not None:
        constants = workload.certified(sampling.seed, run.diameter)
        proved = constants.assumption(run)
        if proved != Clipped():
            known.append(("closed form", "certified", proved, f"{constants.statement}: {proved.statement}"))
    known.append(("clipping alone", "certified", Clipped(), Clipped().statement))
    trackable = run.scheme.fixed_size
    paths = [tracked_distance(run, one, replaced) for _, _, one, _ in known] if trackable else []
    coupled = coupled_runs(workload, run, pairs=pairs, replaced=replaced, **settings)
    tracked = [
        TrackedDistance(name, rests, path, coupled.excess(path), said)
        for (name, rests, _, said), path in zip(known, paths, strict=trackable)
    ]
    remark = "" if trackable else "The size of Poisson batches is random, so there is no tracked distance."
    return Drift(coupled, tuple(tracked), remark)
