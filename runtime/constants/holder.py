"""Hölder constants of a real network by drawn pairs: of a training, and along one from its checkpoints.

For each initialisation the network is trained by the run that is accounted for; around every iterate points
are drawn in a ball; the change of the gradients over each (iterate, point) pair is kept. Constants for all
orders and the measured modulus are then read off one table: the experiment of Chien & Li 2025, appendix A.13.

The paper does not say whether its gradients are per sample or of the batch, nor whether they are clipped.
All four are measured. Theorem 3.7 assumes the constant of every per-sample gradient, of every sample that
could stand in the data set: a measurement over the samples at hand is a lower estimate of that, too.

Around the checkpoints of a training points are drawn in the same directions for all, so that what differs is the
network; and from one to the next there is one pair: |g(w_t) - g(w_s)| / |w_t - w_s|^lambda is what the training met on
its way. Both are of per-sample gradients, not clipped, the largest over the samples. Nothing is trained.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from typing import Final, Unpack

import numpy as np
from torch import Tensor

from lastiterate.numeric.errors import InputError, teaches
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.constants.distributed import in_turn, team
from lastiterate.runtime.constants.pairs import measure_between, measure_center
from lastiterate.runtime.constants.record import (
    AlongTraining,
    HolderEstimate,
    Stage,
    check_orders,
    constants_by_layer,
    read_all,
    read_off,
)
from lastiterate.runtime.constants.sampling import Sampling, Settings
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import seed_of, stream
from lastiterate.runtime.training.descent import spread_iterates, train
from lastiterate.runtime.workloads.metric import Metric, in_metric
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload, described_workload

_PARTS: Final = 16
"""An initialisation is measured in so many parts, each of some iterates, which are kept as they are finished."""


@teaches()
@says_when_memory_runs_out
def estimate_holder(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    sampling: Sampling | None = None,
    *,
    layers: bool = False,
    **settings: Unpack[Settings],
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
        **settings: fields of ``sampling`` that are changed.

    Returns:
        The constants and the measured modulus. Direction: lower estimates, measured.

    Raises:
        InputError: an order outside (0, 1], or a workload, run or setting that cannot be measured.
    """
    described_workload("estimate_holder", workload)
    described_run("estimate_holder", run)
    asked, sampling = check_orders(lambdas), _described_sampling(sampling).but(**settings)
    iterates = len(spread_iterates(run.steps, sampling.centers))
    with threads_of_torch(sampling.threads):
        first = sampling.gradients(workload, seed_of(sampling.seed, 0))
        table = _measured(workload, run, sampling, first, iterates)
    measured, envelopes = read_all(table, asked, sampling.radius)
    return HolderEstimate(
        workload=workload.name,
        lambdas=asked,
        measured=measured,
        envelopes=envelopes,
        run=run,
        inits=sampling.inits,
        centers=iterates,
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
        layers=constants_by_layer(table, first.layer_sizes, asked, sampling.radius) if layers else (),
        subset=workload.subset,
    )


def _described_sampling(sampling: Sampling | None) -> Sampling:
    if not isinstance(sampling, Sampling | None):
        raise InputError(f"sampling needs a Sampling, got sampling={sampling!r}; leave it out for the one of A.13.")
    return sampling or Sampling()


def _measured(workload: Workload, run: NoisySGD, sampling: Sampling, first: Gradients, iterates: int) -> PairTable:
    """The pairs of all initialisations, of which ``first`` is one; of several processes each measures its share."""
    settings = {"format": 7, "run": asdict(run), "sampling": sampling.deciding}
    store = Store(sampling.folder, identify_workload(workload, first) | settings if sampling.folder else {})
    parts = min(_PARTS, iterates)

    @lru_cache(maxsize=1)
    def trajectory(init: int) -> tuple[Gradients, Tensor]:
        """The gradients around one initialisation, with its buffers and frozen parameters, and the iterates."""
        seed = seed_of(sampling.seed, init)
        gradients = sampling.gradients(workload, seed) if init else first
        checkpoint = store.folder and store.folder / f"init-{init:04d}-training-{team().rank:04d}"
        return gradients, train(gradients, gradients.start, run, seed, centers=sampling.centers, checkpoint=checkpoint)

    def measure(init: int, part: int, _earlier: object) -> Arrays:
        gradients, points = trajectory(init)
        own = stream(seed_of(sampling.seed, init), purpose=1)
        chosen = range(part * iterates // parts, (part + 1) * iterates // parts)
        tables = [measure_center(gradients, points[at], run.clip_norm, sampling, own.part(at)) for at in chosen]
        return {"columns": PairTable.join(tables).columns()}

    every = [(init, part) for init in range(sampling.inits) for part in range(parts)]
    tasks = {f"init-{init:04d}-{part:02d}": partial(measure, init, part) for init, part in every}
    found = in_turn([tasks], sampling.tell, store)
    for path in store.folder.glob("init-*-training-*") if store.folder and not team().rank else ():
        path.unlink(missing_ok=True)
    return PairTable.of_columns(np.concatenate([found[name]["columns"] for name in tasks]))


_POINTS: Final = 1
"""The purpose of the stream that draws the points."""
_ENDINGS: Final = (".pt", ".pth", ".bin", ".safetensors")
_IN_A_FOLDER: Final = "model.safetensors"


def checkpoints_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of weights that are named, and those in the folders that are named, in the order of their numbers.

    Of a folder it is those ending in .pt, .pth, .bin or .safetensors, and model.safetensors of each folder in it, as a
    Trainer of Hugging Face writes ``checkpoint-500``.

    Raises:
        InputError: a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [one for one in path.iterdir() if one.suffix in _ENDINGS] + [*path.glob(f"*/{_IN_A_FOLDER}")]
        if not inside:
            raise InputError(
                f"A folder of checkpoints needs files ending in {', '.join(_ENDINGS)}, got checkpoint={path} without "
                "any; name the folder that the training wrote to."
            )
        found += sorted(inside, key=lambda one: _numbered(one.relative_to(path)))
    return tuple(found)


def _numbered(path: Path) -> tuple[tuple[int, str], ...]:
    """Words and numbers of a path, so that step 20 comes before step 100.

    >>> sorted(map(Path, ("step-100.pt", "step-20.pt", "step-3.pt")), key=_numbered)[0].name
    'step-3.pt'
    """
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.as_posix()))


@teaches()
@says_when_memory_runs_out
def constants_along_training(
    workload: Workload,
    checkpoints: Sequence[Path],
    lambdas: tuple[float, ...],
    sampling: Sampling | None = None,
    *,
    layers: bool = False,
    metric: Metric | None = None,
    **settings: Unpack[Settings],
) -> AlongTraining:
    """Measure the constants of a workload at each of several checkpoints of its training.

    Checkpoints are files of weights, in the order of the training, as `Workload.at_checkpoint` takes them; the
    workload's own weights are not looked at. The metric has weights of the coordinates, None for the Euclidean norm.
    All other arguments are as for `estimate_holder`; initialisations and centers do not count.

    Raises:
        InputError: fewer than two checkpoints, one that does not fit, or a workload or setting that cannot be measured.
    """
    described_workload("constants_along_training", workload)
    asked, sampling = check_orders(lambdas), _described_sampling(sampling).but(**settings)
    if len(checkpoints) < 2:
        raise InputError(
            f"Constants along a training need at least 2 checkpoints, got {len(checkpoints)}; one of them alone is "
            "measured by lastiterate estimate --checkpoint."
        )

    def at(path: Path) -> Workload:
        there = workload.at_checkpoint(path)
        return there if metric is None else in_metric(there, metric)

    def measure(place: int, _earlier: object) -> Arrays:
        """The pairs around a checkpoint, and the one with the checkpoint before it, as columns."""
        there = at(checkpoints[place])
        gradients = sampling.gradients(there, 0)
        store = Store(sampling.folder, identify_workload(there, gradients) | sampling.deciding | {"along": 3})
        own = stream(sampling.seed, purpose=_POINTS)
        found = store.part(
            "around", lambda: {"around": measure_center(gradients, gradients.start, inf, sampling, own).columns()}
        )
        if place:  # both through the frozen parts of the later one
            before = sampling.gradients(at(checkpoints[place - 1]), 0).start
            found["between"] = measure_between(gradients, gradients.start, before, inf).columns()
        return found

    with threads_of_torch(sampling.threads):
        found = in_turn([{str(k): partial(measure, k) for k in range(len(checkpoints))}], sampling.tell)
    sizes = sampling.gradients(at(checkpoints[0]), 0).layer_sizes if layers else {}
    stages = []
    for k, path in enumerate(checkpoints):
        around = PairTable.of_columns(found[str(k)]["around"])
        between = PairTable.of_columns(found[str(k)]["between"]) if k else None
        told = constants_by_layer(around, sizes, asked, sampling.radius)
        stages.append(
            Stage(
                checkpoint=str(path),
                around=read_off(around, Kind.SAMPLE, asked),
                moved=None if between is None else float(between.distances[0]),
                between=None if between is None else read_off(between, Kind.SAMPLE, asked),
                layers={one.name: one.measured[Kind.SAMPLE] for one in told},
            )
        )
    return AlongTraining(
        workload=workload.name if metric is None else f"{workload.name} in the metric of {metric.source}",
        lambdas=asked,
        stages=tuple(stages),
        points=sampling.points,
        radius=float(sampling.radius),
        draw=str(sampling.draw),
        dtype=sampling.dtype,
        seed=sampling.seed,
        samples=workload.samples,
        remark=f"{workload.remark} {jumps(workload.initial(0))}".strip(),
    )
