"""Hölder constants of a network from pairs drawn around iterates of a run or around training checkpoints.

For each initialisation, the network is trained as the run describes. Points are drawn in a ball around every
iterate, and a table stores how the gradients change over (iterate, point) pairs. All constants and the
measured modulus are read from this table, as in Chien & Li 2025, appendix A.13.

Gradients are per sample, unclipped (as Theorem 3.7 assumes) and clipped (as its proof needs). The theorem
concerns every possible sample, so a measurement over given samples is a lower estimate.

Around all checkpoints of a training run, points are drawn in the same directions, so that only the network
differs. Each checkpoint w_t also forms a pair with the previous checkpoint w_s; the ratio |g(w_t) - g(w_s)| /
|w_t - w_s|^lambda describes the change during training.
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
from lastiterate.runtime.constants.pairs import measure_between, measure_center
from lastiterate.runtime.constants.record import (
    AlongTraining,
    HolderEstimate,
    Stage,
    check_orders,
    constants_by_layer,
    envelope_of,
    read_off,
)
from lastiterate.runtime.constants.sampling import Sampling, Settings
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import seed_of, stream
from lastiterate.runtime.training.descent import spread_iterates, train
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.weights import INDEX, SHARD
from lastiterate.runtime.workloads.workload import Workload, described_workload

_PARTS: Final = 16
"""Number of parts into which the iterates of a run are divided; finished parts are stored."""


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

    Args:
        workload: network, loss and data.
        run: training run over all samples of the workload; its iterates are the centers of the balls.
        lambdas: orders in (0, 1].
        sampling: settings, those of A.13 by default.
        layers: whether to measure every layer's block of the gradient as well.
        **settings: fields of ``sampling`` to change.

    Raises:
        InputError: an order outside (0, 1], or a workload, run or setting that cannot be measured.
    """
    described_workload("estimate_holder", workload)
    described_run("estimate_holder", run)
    asked, sampling = check_orders(lambdas), _settings(sampling, settings)
    iterates = len(spread_iterates(run.steps, sampling.centers))
    with threads_of_torch(sampling.threads):
        first = sampling.gradients(workload, seed_of(sampling.seed, 0))
        table = _measured(workload, run, sampling, first, iterates)
    return HolderEstimate(
        workload=workload.name,
        lambdas=asked,
        measured={kind: read_off(table, kind, asked) for kind in Kind},
        envelopes={kind: envelope_of(table, kind, sampling.radius) for kind in Kind},
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
        remark=f"{workload.remark} {jumps(first.module)} {first.engine.words()}".strip(),
        layers=constants_by_layer(table, first.layer_sizes, asked) if layers else (),
        subset=workload.subset,
    )


def _settings(sampling: Sampling | None, changed: Settings) -> Sampling:
    if not isinstance(sampling, Sampling | None):
        raise InputError(
            f"sampling needs a Sampling, got sampling={sampling!r}; leave it out to draw as Chien & Li do in A.13."
        )
    return (sampling or Sampling()).but(**changed)


def _measured(
    workload: Workload, run: NoisySGD, sampling: Sampling, first: Gradients, iterates: int
) -> PairTable:
    settings = {"format": 9, "run": asdict(run), "sampling": sampling.deciding}
    store = Store(sampling.folder, identify_workload(workload, first) | settings if sampling.folder else {})
    parts = min(_PARTS, iterates)

    @lru_cache(maxsize=1)
    def trajectory(init: int) -> tuple[Gradients, Tensor]:
        seed = seed_of(sampling.seed, init)
        gradients = sampling.gradients(workload, seed) if init else first
        return gradients, train(gradients, gradients.start, run, seed, centers=sampling.centers)

    def measure(init: int, part: int, _earlier: object) -> Arrays:
        gradients, points = trajectory(init)
        own = stream(seed_of(sampling.seed, init), purpose=1)
        chosen = range(part * iterates // parts, (part + 1) * iterates // parts)
        tables = [measure_center(gradients, points[at], run.clip_norm, sampling, own.part(at)) for at in chosen]
        return {"columns": np.concatenate([table.columns() for table in tables])}

    every = [(init, part) for init in range(sampling.inits) for part in range(parts)]
    tasks = {f"init-{init:04d}-{part:02d}": partial(measure, init, part) for init, part in every}
    return PairTable.of_columns(
        np.concatenate([one["columns"] for one in sampling.compute(tasks, store).values()])
    )


_ENDINGS: Final = (".pt", ".pth", ".bin", ".safetensors")
_IN_A_FOLDER: Final = ("*/model.safetensors", f"*/model.safetensors{INDEX}", f"*{INDEX}")


def checkpoints_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """``paths`` with every folder replaced by its files of weights, which are sorted by number.

    These end in .pt, .pth, .bin or .safetensors, or are model.safetensors in a subfolder. The index of weights in
    several files stands for these files.

    Raises:
        InputError: a folder contains no such file, or an entry is not a path.
    """
    found: list[Path] = []
    for named in paths:
        if not isinstance(named, str | Path):
            raise InputError(
                f"Checkpoints must be paths of files or folders, got checkpoint={named!r}; give a path."
            )
        path = Path(named)
        if not path.is_dir():
            found.append(path)
            continue
        inside = [one for one in path.iterdir() if one.suffix in _ENDINGS and not SHARD.search(one.name)]
        inside += [one for pattern in _IN_A_FOLDER for one in path.glob(pattern)]
        if not inside:
            raise InputError(
                f"A folder of checkpoints needs files ending in {', '.join(_ENDINGS)}, got checkpoint={path} without "
                "any; name the folder that training wrote to."
            )
        found += sorted(inside, key=lambda one: _numbered(one.relative_to(path)))
    return tuple(found)


def _numbered(path: Path) -> tuple[tuple[int, str], ...]:
    """Words and numbers of a path, as a sort key that puts step 20 before step 100."""
    return tuple(
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.as_posix())
    )


@teaches()
@says_when_memory_runs_out
def constants_along_training(
    workload: Workload,
    checkpoints: Sequence[Path],
    lambdas: tuple[float, ...],
    sampling: Sampling | None = None,
    *,
    layers: bool = False,
    **settings: Unpack[Settings],
) -> AlongTraining:
    """Measure the constants of a workload at each of several checkpoints of its training.

    Checkpoints are files of weights or folders of such files, as in `checkpoints_in`, in training order.
    All other arguments are as for `estimate_holder`; initialisations and centers are not used.

    Raises:
        InputError: fewer than two or unsuitable checkpoints, or a workload or setting that does not fit.
    """
    described_workload("constants_along_training", workload)
    asked, sampling = check_orders(lambdas), _settings(sampling, settings)
    checkpoints = checkpoints_in(checkpoints)
    if len(checkpoints) < 2:
        raise InputError(
            f"Constants along a training run need at least 2 checkpoints, got {len(checkpoints)}; for a single one, "
            "use lastiterate estimate --checkpoint."
        )

    def measure(place: int, _earlier: object) -> Arrays:
        there = workload.at_checkpoint(checkpoints[place])
        gradients = sampling.gradients(there, 0)
        store = Store(sampling.folder, identify_workload(there, gradients) | sampling.deciding | {"along": 5})
        own = stream(sampling.seed, purpose=1)
        found = store.part(
            "around",
            lambda: {"around": measure_center(gradients, gradients.start, inf, sampling, own).columns()},
        )
        if place:  # both points have the frozen parts of the later checkpoint
            before = sampling.gradients(workload.at_checkpoint(checkpoints[place - 1]), 0).start
            found["between"] = measure_between(gradients, gradients.start, before, inf).columns()
        return found

    tasks = {str(k): partial(measure, k) for k in range(len(checkpoints))}
    with threads_of_torch(sampling.threads):
        found = sampling.compute(tasks, Store(None, {})).values()
    sizes = sampling.gradients(workload.at_checkpoint(checkpoints[0]), 0).layer_sizes if layers else {}
    stages = []
    for path, columns in zip(checkpoints, found, strict=True):
        around = PairTable.of_columns(columns["around"])
        between = PairTable.of_columns(columns["between"]) if "between" in columns else None
        stages.append(
            Stage(
                checkpoint=str(path),
                around=read_off(around, Kind.SAMPLE, asked),
                moved=None if between is None else float(between.distances[0]),
                between=None if between is None else read_off(between, Kind.SAMPLE, asked),
                layers={
                    one.name: one.measured[Kind.SAMPLE] for one in constants_by_layer(around, sizes, asked)
                },
            )
        )
    return AlongTraining(
        workload=workload.name,
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
