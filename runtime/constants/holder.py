"""Hölder constants of a real network, the experiment of Chien & Li 2025, appendix A.13.

For each initialisation the network is trained by the run that is accounted for; around every iterate points
are drawn in a ball; the change of the gradients over each (iterate, point) pair is kept. Constants for all
orders and the measured modulus are then read off one table.

The paper does not say whether its gradients are per sample or of the batch, nor whether they are clipped.
All four are measured. Theorem 3.7 assumes the constant of every per-sample gradient, of every sample that
could stand in the data set: a measurement over the samples at hand is a lower estimate of that, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

import numpy as np

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.constants.distributed import joined, local_device, team
from lastiterate.runtime.constants.fit import envelope_of, orders, read_off
from lastiterate.runtime.constants.layers import layers_of
from lastiterate.runtime.constants.pairs import Around, Draw, measure_center
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairStore, PairTable
from lastiterate.runtime.random_streams import seed_of, stream
from lastiterate.runtime.training.descent import spread_iterates, train
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload, described_workload

_KEPT_EVERY = 10.0
"""Seconds after which the finished iterates of an initialisation are kept, where it takes that long."""


@dataclass(frozen=True)
class Sampling:
    """Settings of a measurement.

    Attributes:
        inits: number of initialisations.
        centers: how many iterates are kept and measured, evenly spaced, the first and the last included; None for all
            of them, as in A.13. The others are never stored, so that a large network fits.
        points: points drawn around every such iterate.
        radius: radius of the ball they are drawn in, a length.
        draw: ``uniform`` in the ball, or ``log-uniform`` radii.
        dtype: ``float32`` or ``float64``; in ``bfloat16`` no drawn pair can be trusted, a search can.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take, None for what the device has room for; it changes nothing
            but speed.
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
    memory: int | None = None
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("inits", "points", "memory", "threads"):
            if getattr(self, name) is not None or name != "memory":
                object.__setattr__(self, name, count(name, getattr(self, name)))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        spread_iterates(1, self.centers)
        if self.draw not in tuple(Draw):
            raise InputError(f"The draw must be one of {', '.join(Draw)}, got draw={self.draw}; choose one of them.")
        object.__setattr__(self, "seed", count("seed", self.seed, least=0))


@teaches()
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

    Where torch's default process group is initialised its processes share the work, and all return the same, see
    `lastiterate.runtime.constants.distributed`.

    Args:
        workload: network, loss and data.
        run: the training run, over all samples of the workload; its iterates are the centers of the balls.
        lambdas: orders in (0, 1].
        sampling: how to measure; the numbers of A.13 by default.
        layers: whether to tell the layers apart, too; it costs no gradient.
        folder: where finished initialisations are kept and looked for, and the finished iterates of one that takes
            long; None keeps nothing.
        on_step: called with (finished, all) initialisations, first with those found in ``folder``; of several
            processes each counts its own.

    Returns:
        The constants and the measured modulus. Direction: lower estimates, measured.

    Raises:
        InputError: an order outside (0, 1], or a workload, run or setting that cannot be measured.
    """
    described_workload("estimate_holder", workload)
    described_run("estimate_holder", run)
    sampling = Sampling() if sampling is None else sampling
    if not isinstance(sampling, Sampling):
        raise InputError(f"sampling needs a Sampling, got sampling={sampling!r}; leave it out for the one of A.13.")
    asked, measurement = orders(lambdas), _Measurement(workload, run, sampling)
    with threads_of_torch(sampling.threads):
        first = measurement.gradients(0)
        table = measurement.all_initialisations(first, folder, on_step)
    sizes = first.layer_sizes if layers else {}
    return HolderEstimate(
        workload=workload.name,
        lambdas=asked,
        measured={kind: read_off(table, kind, asked) for kind in Kind},
        envelopes={kind: envelope_of(table, kind, sampling.radius) for kind in Kind},
        run=run,
        inits=sampling.inits,
        centers=measurement.iterates,
        points=sampling.points,
        radius=float(sampling.radius),
        draw=str(sampling.draw),
        pairs=len(table.distances),
        distances=(float(table.distances.min()), float(table.distances.max())),
        dtype=sampling.dtype,
        device=sampling.device,
        memory=first.memory,
        seed=sampling.seed,
        remark=f"{workload.remark} {jumps(first.module)}".strip(),
        layers=layers_of(table, sizes, asked, sampling.radius),
        subset=workload.subset,
    )


@dataclass(frozen=True)
class _Measurement:
    """Workload, run and settings of a measurement."""

    workload: Workload
    run: NoisySGD
    sampling: Sampling

    @property
    def iterates(self) -> int:
        """The number of iterates of an initialisation around which points are drawn."""
        return len(spread_iterates(self.run.steps, self.sampling.centers))

    def gradients(self, init: int) -> Gradients:
        """The gradients around one initialisation, with its buffers and frozen parameters."""
        return Gradients(
            self.workload,
            self.workload.initial(seed_of(self.sampling.seed, init)),
            dtype=self.sampling.dtype,
            device=local_device(self.sampling.device),
            memory=self.sampling.memory,
        )

    def all_initialisations(
        self, first: Gradients, folder: Path | None, on_step: Callable[[int, int], None] | None
    ) -> PairTable:
        """The pairs of all initialisations, of which ``first`` is one; of several processes each measures its share."""
        me = team()
        store = PairStore(folder, {} if folder is None else self._settings(first))
        shares = [me.share(init, self.sampling.inits) for init in range(self.sampling.inits)]
        mine, done = sum(share is not None for share in shares), 0
        tables: list[dict[int, PairTable]] = []
        for init, share in enumerate(shares):
            if on_step is not None:
                on_step(done, mine)
            tables.append(
                {} if share is None else self._one_initialisation(store, init, share, None if init else first)
            )
            done += share is not None
        if on_step is not None:
            on_step(mine, mine)
        return PairTable.join([self._together(store, init, own, len(first.layers)) for init, own in enumerate(tables)])

    def _one_initialisation(
        self, store: PairStore, init: int, share: tuple[int, int], gradients: Gradients | None
    ) -> dict[int, PairTable]:
        """The pairs around this process's share of the iterates, by the iterate's index."""
        sampling, seed, rank = self.sampling, seed_of(self.sampling.seed, init), team().rank
        wanted = range(share[0], self.iterates, share[1])
        finished = store.load_pairs(init)
        if finished is not None:
            return {at: finished.rows(slice(at * sampling.points, (at + 1) * sampling.points)) for at in wanted}
        kept = store.load_iterates(init)
        found = {at: kept[at] for at in wanted if at in kept}
        if len(found) == len(wanted):
            return found
        gradients, checkpoint = gradients or self.gradients(init), store.training(init, rank)
        trajectory = train(gradients, gradients.start, self.run, seed, centers=sampling.centers, checkpoint=checkpoint)
        own = stream(seed, purpose=1)
        drawn, kept_at = Around(sampling.points, sampling.radius, Draw(sampling.draw)), monotonic()
        try:
            for at in wanted:
                if at not in found:
                    found[at] = measure_center(gradients, trajectory[at], self.run.clip_norm, drawn, own.part(at))
                if monotonic() - kept_at > _KEPT_EVERY:
                    store.save_iterates(init, rank, found)
                    kept_at = monotonic()
        except BaseException:
            if found:
                store.save_iterates(init, rank, found)
            raise
        if share == (0, 1):
            store.save_pairs(init, PairTable.join([found[at] for at in wanted]))
        else:
            store.save_iterates(init, rank, found)
        return found

    def _together(self, store: PairStore, init: int, own: Mapping[int, PairTable], layers: int) -> PairTable:
        """The pairs of one initialisation from all processes."""
        me, width = team(), 2 + len(Kind) * (1 + layers)
        if me.size == 1:
            return PairTable.join([own[at] for at in range(self.iterates)])
        columns = np.zeros((self.iterates, self.sampling.points, width))
        for at, table in own.items():
            columns[at] = table.columns()
        table = PairTable.of_columns(joined(columns.reshape(-1, width)))
        if me.rank == 0 and self.sampling.inits < me.size:
            store.save_pairs(init, table)
        return table

    def _settings(self, gradients: Gradients) -> dict[str, object]:
        """Everything that decides the numbers of one initialisation."""
        kept = asdict(self.sampling) | {"draw": str(self.sampling.draw)}
        for name in ("inits", "device", "memory", "threads"):
            del kept[name]
        return identify_workload(self.workload, gradients) | {
            "format": 6,
            "run": asdict(self.run),
            "sampling": kept,
        }
