"""Distance of coupled runs over time: measured distances beside the tracked ones of the theory.

Every tracked distance says what it rests on. From constants that are proved (clipping, a closed form of the loss) it is
never exceeded; one from an assumption of the user is exceeded only if the assumption is false for this network; one
from measured constants may be, because a sampled constant is a lower estimate.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from typing import Final

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, described_assumption
from lastiterate.numeric.plotting import COLORS, Curve, Figure, Panel, Status
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.attacks.attack import Initialisation
from lastiterate.runtime.attacks.initialisation import crafted_workload
from lastiterate.runtime.constants.holder import Sampling, estimate_holder
from lastiterate.runtime.constants.pairs import Draw
from lastiterate.runtime.coupled.intervals import DriftInterval, drift_interval, wasserstein_2, wasserstein_infinity
from lastiterate.runtime.coupled.runs import CoupledRuns, coupled_runs, tracked_distance
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.adjacent import check_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

_MATCHED: Final = 1000
"""Most points of a cloud that is matched with another; the time grows with their third power."""

_ROUNDING: Final = 1e-9


class Rests(StrEnum):
    """Foundation of a tracked distance."""

    CERTIFIED = "certified"
    ASSUMED = "assumed"
    MEASURED = "estimate"


@dataclass(frozen=True, eq=False)
class Tracked:
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
    tracked: tuple[Tracked, ...]
    interval: DriftInterval
    w2: float
    w_infinity: float
    matched: int
    remark: str

    @property
    def refuted(self) -> tuple[Tracked, ...]:
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
    points: int = 10,
    level: float = 0.95,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int | None = None,
    seed: int = 0,
    initialisation: Initialisation | str = Initialisation.DRAWN,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Drift:
    """Run coupled pairs and compare them with every tracked distance that is known.

    The assumption is what is assumed of the losses, ``points`` are the points around every iterate at which constants
    are measured (0 measures none), and the level is the confidence of the interval. The initialisation is drawn, or
    crafted so that the sample still matters: all others are fitted there, and it is not
    (`lastiterate.runtime.attacks.initialisation`); tracked distances hold for every start. All other arguments are as
    for `coupled_runs`; measurements are kept in ``folder``, too.

    Raises:
        InputError: as `coupled_runs`, `drift_interval` and `tracked_distance`, or ``points`` is negative.
    """
    described_workload("measure_drift", workload)
    described_run("measure_drift", run)
    described_assumption(assumption)
    points = count("points", points, least=0)
    if initialisation not in tuple(Initialisation):
        raise InputError(
            f"initialisation needs {' or '.join(Initialisation)}, got initialisation={initialisation!r}; choose one."
        )
    check_sample(workload, run, "replaced", replaced, spare=run.adjacency == "replace")
    if initialisation == Initialisation.CRAFTED:
        workload = crafted_workload(workload, run, replaced, seed, dtype=dtype, device=device, memory=memory)
    known: list[tuple[str, Rests, Assumption, str]] = []
    if assumption != Clipped():
        known.append(("the file", Rests.ASSUMED, assumption, assumption.statement))
    if workload.constants is not None:
        constants = workload.certified(seed, run.diameter)
        proved = constants.assumption(run)
        if proved != Clipped():
            known.append(("closed form", Rests.CERTIFIED, proved, f"{constants.statement}: {proved.statement}"))
    known.append(("clipping alone", Rests.CERTIFIED, Clipped(), Clipped().statement))
    trackable = run.scheme.fixed_size
    paths = [tracked_distance(run, one, replaced) for _, _, one, _ in known] if trackable else []
    coupled = coupled_runs(
        workload,
        run,
        pairs=pairs,
        replaced=replaced,
        dtype=dtype,
        device=device,
        memory=memory,
        seed=seed,
        folder=folder,
        on_step=on_step,
    )
    interval = drift_interval(coupled, level=level)
    tracked = [
        Tracked(name, rests, path, _excess(coupled, path), said)
        for (name, rests, _, said), path in zip(known, paths, strict=trackable)
    ]
    remark = "" if trackable else "The size of Poisson batches is random, so that there is no tracked distance."
    radius = float(coupled.greatest.max())
    if trackable and points and radius > 0:
        sampling = Sampling(
            inits=1,
            points=points,
            radius=radius,
            draw=Draw.LOG_UNIFORM,
            dtype=dtype,
            device=device,
            memory=memory,
            seed=seed,
        )
        measured, remark = _measured(workload, run, replaced, sampling, coupled, folder)
        tracked += measured
    left, right = coupled.last[:_MATCHED], coupled.last_adjacent[:_MATCHED]
    w2, w_infinity = wasserstein_2(left, right), wasserstein_infinity(left, right)
    return Drift(coupled, tuple(tracked), interval, w2, w_infinity, len(left), remark)


def _measured(
    workload: Workload,
    run: NoisySGD,
    replaced: int,
    sampling: Sampling,
    coupled: CoupledRuns,
    folder: Path | None,
) -> tuple[list[Tracked], str]:
    """Tracked distance by the measured constant of the clipped gradients, and a remark where there is none."""
    kept = slice(run.dataset_size)
    data = replace(workload, inputs=workload.inputs[kept], targets=workload.targets[kept])
    found = estimate_holder(data, run, (1.0,), sampling, folder=folder)
    try:
        measured = found.holder(1.0, Kind.SAMPLE_CLIPPED)
    except InputError as error:
        return [], f"No constants were measured: {error}"
    path = tracked_distance(run, measured.assumption, replaced)
    return [Tracked("measured", Rests.MEASURED, path, _excess(coupled, path), measured.conditional_on)], ""


def _excess(coupled: CoupledRuns, tracked: Array) -> float:
    found = coupled.excess(tracked)
    return found if found > _ROUNDING else 0.0


_STATUS: Final = {Rests.CERTIFIED: Status.BOUND, Rests.ASSUMED: Status.BOUND, Rests.MEASURED: Status.ESTIMATE}
_ROOM: Final = 1.3


def picture(drift: Drift, workload: str) -> Figure:
    """The greatest distance of the pairs at every time, and every tracked distance."""
    run, measured = drift.coupled.run, drift.coupled.greatest[1:]
    steps = tuple(range(1, run.steps + 1))
    pairs = drift.coupled.distances.shape[1]
    curves = [Curve("greatest", f"greatest of {pairs} pairs", steps, tuple(measured.tolist()), Status.MEASURED)]
    values = [measured, *(one.distances[1:] for one in drift.tracked)]
    above = [float(some) for path in values for some in path if some > 0] or [1.0]
    colors = cycle(COLORS[name] for name in ("blue", "orange", "green", "purple"))
    for one, color in zip(drift.tracked, colors, strict=False):
        label = f"$D_t$ by {one.name}{', assumed' * (one.rests is Rests.ASSUMED)}"
        curves.append(Curve(one.name, label, steps, tuple(one.distances[1:].tolist()), _STATUS[one.rests], color, "--"))
    lasts = drift.interval
    note = (
        f"η = {_said(run.step_size)}, K = {run.clip_norm:g}, noise {_said(run.noise_std)}, n = {run.dataset_size}, "
        f"b = {run.batch} ({run.sampling}), D = {run.diameter:g}; sample {drift.coupled.replaced} differs. W_2 of the "
        f"last iterates is {lasts.low:.4g} to {lasts.w2_high:.4g} with {lasts.level:g} confidence. {drift.remark}"
    )
    panel = Panel(
        tuple(curves),
        top=_ROOM * max(above),
        across="step $t$",
        upward="distance $|W_t - W'_t|$",
        logarithmic=False,
        bottom=min(above) / _ROOM,
    )
    return Figure(f"{workload}: how far coupled runs drift apart", note, (panel,))


def _said(values: float | tuple[float, ...]) -> str:
    return f"{min(values):g} to {max(values):g}" if isinstance(values, tuple) else f"{values:g}"
