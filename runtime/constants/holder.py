"""Hölder constants of a real network, the experiment of Chien & Li 2025, appendix A.13.

For each initialisation the network is trained by the run that is accounted for; around every iterate points
are drawn in a ball; the change of the gradients over each (iterate, point) pair is kept. Constants for all
orders and the measured modulus are then read off one table.

The paper does not say whether its gradients are per sample or of the batch, nor whether they are clipped.
All four are measured. Theorem 3.7 assumes the constant of every per-sample gradient, of every sample that
could stand in the data set: a measurement over the samples at hand is a lower estimate of that, too.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, count, positive
from lastiterate.runtime.constants.kinds import Kind, PairTable
from lastiterate.runtime.constants.layers import layers_of
from lastiterate.runtime.constants.pairs import measure_pairs
from lastiterate.runtime.constants.reading import envelope_of, orders, read_off
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.constants.sampling import Draw
from lastiterate.runtime.constants.store import Store
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.memory import says_when_memory_runs_out
from lastiterate.runtime.threads import threads_of_torch
from lastiterate.runtime.training.descent import spread, stream, train
from lastiterate.runtime.workloads.fingerprint import fingerprint
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["Sampling", "estimate_holder"]

_SEEDS = 1_000_003
"""Initialisation i of a measurement with seed s uses the seed s * 1,000,003 + i."""


@dataclass(frozen=True)
class Sampling:
    """How a network is measured.

    Attributes:
        inits: number of initialisations.
        centers: how many iterates are kept and measured, evenly spaced, the first and the last included; None for all
            of them, as in A.13. The others are never stored, so that a large network fits.
        points: points drawn around every such iterate.
        radius: radius of the ball they are drawn in, a length.
        draw: ``uniform`` in the ball, or ``log-uniform`` radii.
        dtype: ``float32`` or ``float64``.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take; it changes nothing but speed.
        threads: threads of torch on the CPU. Small networks are fastest with one; on a busy machine two
            threads that wait for each other were five times slower than one.
        seed: seed of everything random, at least 0.

    Raises:
        InputError: a number out of its range, or an unknown draw.
    """

    inits: int = 20
    centers: int | None = None
    points: int = 100
    radius: float = 1.0
    draw: Draw = Draw.UNIFORM
    dtype: str = "float64"
    device: str = "cpu"
    memory: int = 256 * 2**20
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("inits", "points", "memory", "threads"):
            count(name, getattr(self, name))
        positive("radius", self.radius)
        spread(1, self.centers)
        if self.draw not in tuple(Draw):
            raise InputError(f"The draw must be one of {', '.join(Draw)}, got draw={self.draw}; choose one of them.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError(
                f"The seed must be an integer of at least 0, got seed={self.seed!r}; give one, for example 0."
            )


@says_when_memory_runs_out
def estimate_holder(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    sampling: Sampling | None = None,
    *,
    layers: bool = False,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> HolderEstimate:
    """Measure the Hölder constants of a workload for many orders at once.

    Args:
        workload: network, loss and data.
        run: the training run, over all samples of the workload; its iterates are the centers of the balls.
        lambdas: orders in (0, 1].
        sampling: how to measure; the numbers of A.13 by default.
        layers: whether to tell the layers apart, too; it costs no gradient.
        folder: where finished initialisations are kept and looked for; None keeps nothing.
        on_step: called with (finished, all) initialisations, first with those found in ``folder``.

    Returns:
        The constants and the measured modulus. Direction: lower estimates, measured.

    Raises:
        InputError: an order outside (0, 1], or a workload, run or setting that cannot be measured.
    """
    sampling = sampling or Sampling()
    asked = orders(lambdas)
    with threads_of_torch(sampling.threads):
        table = _all_initialisations(workload, run, sampling, folder, on_step)
    sizes = _gradients(workload, sampling, _SEEDS * sampling.seed).layer_sizes if layers else {}
    return _summary(workload, run, asked, sampling, table, sizes)


def _all_initialisations(
    workload: Workload,
    run: NoisySGD,
    sampling: Sampling,
    folder: Path | None,
    on_step: Callable[[int, int], None] | None,
) -> PairTable:
    seed = _SEEDS * sampling.seed
    store_settings = _settings(workload, _gradients(workload, sampling, seed), run, sampling)
    store = Store(folder, store_settings) if folder is not None else None
    tables: list[PairTable] = []
    for init in range(sampling.inits):
        if on_step is not None:
            on_step(init, sampling.inits)
        table = store.load(init) if store is not None else None
        if table is None:
            table = _one_initialisation(workload, run, sampling, init)
            if store is not None:
                store.save(init, table)
        tables.append(table)
    if on_step is not None:
        on_step(sampling.inits, sampling.inits)
    return PairTable.join(tables)


def _gradients(workload: Workload, sampling: Sampling, seed: int) -> Gradients:
    """The gradients around one initialisation, with its buffers and frozen parameters."""
    return Gradients(
        workload,
        workload.initial(seed),
        dtype=sampling.dtype,
        device=sampling.device,
        memory=sampling.memory,
    )


def _one_initialisation(workload: Workload, run: NoisySGD, sampling: Sampling, init: int) -> PairTable:
    seed = _SEEDS * sampling.seed + init
    gradients = _gradients(workload, sampling, seed)
    trajectory = train(gradients, gradients.start, run, seed, centers=sampling.centers)
    return measure_pairs(
        gradients,
        trajectory.points,
        run.clip_norm,
        points=sampling.points,
        radius=sampling.radius,
        draw=Draw(sampling.draw),
        generator=stream(seed, purpose=1),
    )


def _summary(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    sampling: Sampling,
    table: PairTable,
    sizes: dict[str, int],
) -> HolderEstimate:
    return HolderEstimate(
        workload=workload.name,
        lambdas=lambdas,
        measured={kind: read_off(table, kind, lambdas) for kind in Kind},
        envelopes={kind: envelope_of(table, kind, sampling.radius) for kind in Kind},
        run=run,
        inits=sampling.inits,
        centers=len(spread(run.steps, sampling.centers)),
        points=sampling.points,
        radius=float(sampling.radius),
        draw=str(sampling.draw),
        pairs=len(table.distances),
        distances=(float(table.distances.min()), float(table.distances.max())),
        dtype=sampling.dtype,
        device=sampling.device,
        seed=sampling.seed,
        remark=workload.remark,
        layers=layers_of(table, sizes, lambdas, sampling.radius),
        subset=workload.subset,
    )


def _settings(workload: Workload, gradients: Gradients, run: NoisySGD, sampling: Sampling) -> dict[str, object]:
    """Everything that decides the numbers of one initialisation."""
    kept = {key: value for key, value in asdict(sampling).items() if key not in ("inits", "memory", "threads")}
    return fingerprint(workload, gradients) | {
        "format": 2,
        "run": asdict(run),
        "sampling": kept | {"draw": str(sampling.draw)},
    }
