"""Pairs of runs on adjacent data with the same batches and the same noise: their distance over time.

The forward-tracked distance D_t of the theory bounds the distance of every such pair at every time. Many pairs are run
side by side. The two runs of a pair share their batches and their noise, every pair has its own: the pairs are
independent draws of one coupling, and their ends independent draws of the laws of the two last iterates.

Every tracked distance says what it rests on. From constants that are proved (clipping, a closed form of the loss) it is
never exceeded; one from an assumption of the user is exceeded only if the assumption is false for this network; one
from measured constants may be, because a sampled constant is a lower estimate.

W_2^2 of the laws is at most the mean of |X - Y|^2 over the pairs, with Student's upper limit, asymptotic in their
number; of W_infinity the greatest of M distances is an upper limit with confidence c after a share 1 - (1 - c)^(1/M) of
the mass is left out. Both are at least <E X - E Y, u>, u the direction of the mean of the first half of the pairs, with
Student's lower limit for the other half. Between uniform laws on m points each, W_2 is an assignment problem and
W_infinity a bottleneck matching (Birkhoff 1946), both exact for the clouds.

Source: Chien & Li 2025, Lemmas 3.5 and 3.10, whose proofs have this coupling; docs/proofs/lower_bounds.md; Wilks 1941
for the share; Villani 2009, chapter 6, for the chain of distances.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import sqrt
from typing import Final, Unpack

import numpy as np
import torch

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count, teaches
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, described_assumption
from lastiterate.numeric.losses.expansion import ULPS, UpdateExpansion
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.store import Store
from lastiterate.runtime.attacks.attack import Initialisation, crafted_workload
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import Draw, Sampling, Settings, choose_member
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.adjacent import Differing, adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

COUPLED: Final = 2**41
"""The purpose of the stream that draws the noise of the pairs."""

_MATCHED: Final = 1000
_ROUNDING: Final = 1e-9
"""Most points of a cloud that is matched with another, in a time that grows with their third power; excess over a
tracked distance that rounding explains."""


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
        """The largest greatest[t] / D_t - 1 over all times, D_t of shape (steps + 1,); 0 where no pair exceeds it."""
        behind = self.greatest[1:] / np.maximum(tracked[1:], 1e-300) - 1
        return max(0.0, float(behind.max()))


def tracked_distance(run: NoisySGD, assumption: Assumption, replaced: int = 0) -> Array:
    """min(D, D_t) for t = 0..T, shape (steps + 1,), rounded up: no pair has a larger distance.

    Args:
        run: not of Poisson batches; of shuffled batches the distance holds for every order.
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
    known: dict[float, tuple[UpdateExpansion, UpdateExpansion]] = {}
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
    **settings: Unpack[Settings],
) -> CoupledRuns:
    """Run pairs on the first ``run.dataset_size`` samples and on the adjacent data.

    Under "replace" the adjacent data have the workload's last sample in the place of the one that differs, so the
    workload needs one sample more than the run; under "add_remove" they lack it.

    Args:
        workload: network, loss and data.
        run: the run.
        pairs: number of pairs M.
        replaced: index of the sample that differs.
        **settings: fields of `lastiterate.runtime.constants.sampling.Sampling`; blocks of pairs are kept.

    Raises:
        InputError: the workload has too few samples, no such sample, or the parameters stop being finite.
    """
    pairs = count("pairs", pairs)
    described_workload("coupled_runs", workload)
    described_run("coupled_runs", run)
    check_sample(workload, run, "replaced", replaced, spare=run.adjacency == "replace")
    sampling = Sampling(**settings)
    gradients, seed = sampling.gradients(workload), sampling.seed
    chosen = {"replaced": replaced, "dtype": sampling.dtype, "seed": seed}
    store = Store(sampling.folder, identify_workload(workload, gradients) | {"format": 3, "run": asdict(run)} | chosen)
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
    return CoupledRuns(run, replaced, distances, last, adjacent, _pull(gradients, run, differing))


def _pull(gradients: Gradients, run: NoisySGD, differing: Differing) -> float:
    here = differing.here(gradients.start[None])
    change, most = (here, 1) if differing.there is None else (here - differing.there(gradients.start[None]), 2)
    return float(torch.linalg.vector_norm(change)) / (most * run.clip_norm)


@dataclass(frozen=True)
class DriftInterval:
    """Limits of the distance of two laws, all at once with confidence ``level``. Direction: statistical.

    Attributes:
        low: of W_2 and of W_infinity, a length; asymptotic in the number of pairs.
        w2_high: of W_2, a length; asymptotic in the number of pairs.
        w_infinity_high: of W_infinity after ``share`` of the mass is left out, a length; for any number of pairs.
        share: the mass that may be left out, in (0, 1).
        level: confidence.
    """

    low: float
    w2_high: float
    w_infinity_high: float
    share: float
    level: float


def drift_interval(coupled: CoupledRuns, *, level: float = 0.95) -> DriftInterval:
    """Limits for the laws of the two last iterates, from at least 4 pairs; a third of the doubt goes to each.

    Raises:
        InputError: too few pairs, or a level out of its range.
    """
    doubt = (1 - chance("level", level)) / 3
    lengths = coupled.distances[-1]
    if len(lengths) < 4:
        raise InputError(f"An interval needs at least 4 pairs, got pairs={len(lengths)}; run more.")
    apart = coupled.last - coupled.last_adjacent
    half = len(apart) // 2
    mean = apart[:half].mean(axis=0)
    length = float(np.linalg.norm(mean))
    low = _limit(apart[half:] @ (mean / length), -1, doubt) if length > 0 else 0.0
    return DriftInterval(
        low=max(0.0, low),
        w2_high=sqrt(max(0.0, _limit(lengths**2, +1, doubt))),
        w_infinity_high=float(lengths.max()),
        share=-float(np.expm1(np.log(doubt) / len(lengths))),
        level=level,
    )


def _limit(values: Array, sign: int, doubt: float) -> float:
    """Student's limit of a mean, above it or below."""
    from scipy.stats import t

    return float(values.mean() + sign * t.isf(doubt, len(values) - 1) * values.std(ddof=1) / sqrt(len(values)))


def wasserstein_2(left: Array, right: Array) -> float:
    """W_2 of the uniform laws on two clouds of shape (points, dimension), a length. Exact up to rounding.

    >>> wasserstein_2(np.array([[0.0], [1.0]]), np.array([[1.5], [0.5]]))
    0.5
    """
    from scipy.optimize import linear_sum_assignment

    squares = _distances(left, right) ** 2
    return sqrt(float(squares[linear_sum_assignment(squares)].mean()))


def wasserstein_infinity(left: Array, right: Array) -> float:
    """W_infinity of the uniform laws on two clouds of shape (points, dimension), a length. Exact up to rounding.

    >>> wasserstein_infinity(np.array([[0.0], [1.0]]), np.array([[1.5], [0.0]]))
    0.5
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    distances = _distances(left, right)
    least = max(distances.min(axis=0).max(), distances.min(axis=1).max())  # every point is matched with some other
    most = distances[linear_sum_assignment(distances**2)].max()  # some matching, and often the best
    candidates = np.unique(distances[(distances >= least) & (distances <= most)])

    def matches_all(threshold: float) -> bool:
        matched = maximum_bipartite_matching(csr_array(distances <= threshold), perm_type="column")
        return bool((matched >= 0).all())

    return float(candidates[bisect_left(candidates, True, hi=len(candidates) - 1, key=matches_all)])


def _distances(left: Array, right: Array) -> Array:
    from scipy.spatial.distance import cdist

    if left.ndim != 2 or left.shape != right.shape or not len(left):
        raise InputError(
            "Two clouds need one shape (points, dimension) with at least one point, got "
            f"left.shape={left.shape}, right.shape={right.shape}; run as many of the one as of the other."
        )
    return np.asarray(cdist(left, right), dtype=np.float64)


class Rests(StrEnum):
    """Foundation of a tracked distance."""

    CERTIFIED = "certified"
    ASSUMED = "assumed"
    MEASURED = "estimate"


@dataclass(frozen=True, eq=False)
class TrackedDistance:
    """One tracked distance.

    Attributes:
        name: a few words.
        rests: what it rests on.
        distances: min(D, D_t), shape (steps + 1,), lengths.
        excess: how far some pair is beyond it, relatively; 0 where none is, up to rounding.
        statement: the assumption, or what the estimate is conditional on.
    """

    name: str
    rests: Rests
    distances: Array
    excess: float
    statement: str


@dataclass(frozen=True, eq=False)
class Drift:
    """Coupled runs, and what the theory and statistics say of them.

    Attributes:
        coupled: the runs.
        tracked: the tracked distances, none for Poisson batches.
        interval: limits of W_2 and W_infinity of the laws of the last iterates.
        w2: W_2 of the two clouds of last iterates, a length.
        w_infinity: W_infinity of the two clouds, a length.
        matched: how many points of each cloud the two numbers are about.
        remark: what was left out, and why; or "".
    """

    coupled: CoupledRuns
    tracked: tuple[TrackedDistance, ...]
    interval: DriftInterval
    w2: float
    w_infinity: float
    matched: int
    remark: str

    @property
    def refuted(self) -> tuple[TrackedDistance, ...]:
        """The tracked distances that some pair exceeds although they are no estimates."""
        return tuple(one for one in self.tracked if one.excess > 0 and one.rests != Rests.MEASURED)


@teaches()
def measure_drift(
    workload: Workload,
    run: NoisySGD,
    assumption: Assumption,
    *,
    pairs: int = 1000,
    replaced: int = 0,
    level: float = 0.95,
    initialisation: Initialisation | str = Initialisation.DRAWN,
    **settings: Unpack[Settings],
) -> Drift:
    """Run coupled pairs and compare them with every tracked distance that is known.

    The assumption is that of the losses, the level is the confidence of the interval, and the initialisation is drawn
    or crafted so that the sample still matters; tracked distances hold for every start. Constants are measured at 10
    points around every iterate, where ``points`` says nothing else, and 0 measures none. All other arguments are as for
    `coupled_runs`; measurements are kept, too.

    Raises:
        InputError: as `coupled_runs`, `drift_interval` and `tracked_distance`, or ``points`` is negative.
    """
    described_workload("measure_drift", workload)
    described_run("measure_drift", run)
    described_assumption(assumption)
    points, sampling = count("points", settings.pop("points", 10), least=0), Sampling(**settings)
    initialisation = choose_member("initialisation", initialisation, Initialisation)
    check_sample(workload, run, "replaced", replaced, spare=run.adjacency == "replace")
    if initialisation == Initialisation.CRAFTED:
        workload = crafted_workload(workload, run, replaced, sampling)
    known: list[tuple[str, Rests, Assumption, str]] = []
    if assumption != Clipped():
        known.append(("the file", Rests.ASSUMED, assumption, assumption.statement))
    if workload.constants is not None:
        constants = workload.certified(sampling.seed, run.diameter)
        proved = constants.assumption(run)
        if proved != Clipped():
            known.append(("closed form", Rests.CERTIFIED, proved, f"{constants.statement}: {proved.statement}"))
    known.append(("clipping alone", Rests.CERTIFIED, Clipped(), Clipped().statement))
    trackable = run.scheme.fixed_size
    paths = [tracked_distance(run, one, replaced) for _, _, one, _ in known] if trackable else []
    coupled = coupled_runs(workload, run, pairs=pairs, replaced=replaced, **settings)
    interval = drift_interval(coupled, level=level)
    tracked = [
        TrackedDistance(name, rests, path, _excess(coupled, path), said)
        for (name, rests, _, said), path in zip(known, paths, strict=trackable)
    ]
    remark = "" if trackable else "The size of Poisson batches is random, so that there is no tracked distance."
    radius = float(coupled.greatest.max())
    if trackable and points and radius > 0:
        drawn = sampling.but(points=points, radius=radius, draw=Draw.LOG_UNIFORM, inits=1, on_step=None)
        measured, remark = _measured(coupled, workload, run, replaced, drawn)
        tracked += measured
    left, right = coupled.last[:_MATCHED], coupled.last_adjacent[:_MATCHED]
    w2, w_infinity = wasserstein_2(left, right), wasserstein_infinity(left, right)
    return Drift(coupled, tuple(tracked), interval, w2, w_infinity, len(left), remark)


def _measured(
    coupled: CoupledRuns, workload: Workload, run: NoisySGD, replaced: int, sampling: Sampling
) -> tuple[list[TrackedDistance], str]:
    """Tracked distance by the measured constant of the clipped gradients, and a remark where there is none."""
    kept = slice(run.dataset_size)
    data = replace(workload, inputs=workload.inputs[kept], targets=workload.targets[kept])
    found = estimate_holder(data, run, (1.0,), sampling)
    try:
        measured = found.holder(1.0, Kind.SAMPLE_CLIPPED)
    except InputError as error:
        return [], f"No constants were measured: {error}"
    path = tracked_distance(run, measured.assumption, replaced)
    return [TrackedDistance("measured", Rests.MEASURED, path, _excess(coupled, path), measured.conditional_on)], ""


def _excess(coupled: CoupledRuns, tracked: Array) -> float:
    found = coupled.excess(tracked)
    return found if found > _ROUNDING else 0.0
