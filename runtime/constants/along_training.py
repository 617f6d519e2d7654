"""Hölder constants along a training, from checkpoints saved on the way: around each, and from one to the next.

Around a checkpoint points are drawn in a ball, in the same directions for all, so that what differs is the network.
From one checkpoint to the next there is one pair: |g(w_t) - g(w_s)| / |w_t - w_s|^lambda is what the training met on
its way. Both are of per-sample gradients, not clipped, the largest over the samples at hand. Nothing is trained. The
checkpoints go round the processes of torchrun.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import Arrays
from lastiterate.runtime.constants.along_record import AlongTraining, Stage
from lastiterate.runtime.constants.distributed import Tasks, in_turn, local_device
from lastiterate.runtime.constants.fit import orders, read_off
from lastiterate.runtime.constants.holder import Sampling
from lastiterate.runtime.constants.layers import layers_of
from lastiterate.runtime.constants.pairs import Around, Draw, measure_between, measure_center
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairStore, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.metric import Metric, in_metric
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload, described_workload

_POINTS: Final = 1
"""The purpose of the stream that draws the points."""
_ENDINGS: Final = (".pt", ".pth", ".bin", ".safetensors")
_IN_A_FOLDER: Final = "model.safetensors"


def checkpoints_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of weights that are named, and those in the folders that are named, in the order of their numbers.

    Of a folder it is those ending in .pt, .pth, .bin or .safetensors, and model.safetensors of each folder in it, as a
    Trainer of Hugging Face writes ``checkpoint-500``.

    Raises:
        InputError: a path is neither, or a folder has none.
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


@says_when_memory_runs_out
def constants_along_training(
    workload: Workload,
    checkpoints: Sequence[Path],
    lambdas: tuple[float, ...],
    sampling: Sampling | None = None,
    *,
    layers: bool = False,
    metric: Metric | None = None,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> AlongTraining:
    """Measure the constants of a workload at each of several checkpoints of its training.

    Args:
        workload: network, loss and data; its own weights are not looked at.
        checkpoints: files of weights, in the order of the training, as `Workload.at_checkpoint` takes them.
        lambdas: orders in (0, 1].
        sampling: points, radius, draw, dtype, device, memory, threads and seed count; the others do not.
        layers: whether to tell the layers apart, too; it costs no gradient.
        metric: weights of the coordinates; None for the Euclidean norm.
        folder: where finished checkpoints are kept and looked for; None keeps nothing.
        on_step: called with (finished, all) checkpoints; of several processes each counts its own.

    Raises:
        InputError: fewer than two checkpoints, one that does not fit, or a workload or setting that cannot be measured.
    """
    described_workload("constants_along_training", workload)
    asked, sampling = orders(lambdas), sampling or Sampling()
    if len(checkpoints) < 2:
        raise InputError(
            f"Constants along a training need at least 2 checkpoints, got {len(checkpoints)}; one of them alone is "
            "measured by lastiterate estimate --checkpoint."
        )
    places = {str(place): place for place in range(len(checkpoints))}
    tasks: Tasks = {
        name: partial(
            _measured, workload, checkpoints[place - 1] if place else None, checkpoints[place], metric, sampling, folder
        )
        for name, place in places.items()
    }
    with threads_of_torch(sampling.threads):
        found = in_turn([tasks], on_step or (lambda _done, _all: None))
    sizes = _gradients(_at(workload, checkpoints[0], metric), sampling).layer_sizes if layers else {}
    stages = [_stage(checkpoints[place], found[name], asked, sampling.radius, sizes) for name, place in places.items()]
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


def _measured(
    workload: Workload,
    before: Path | None,
    path: Path,
    metric: Metric | None,
    sampling: Sampling,
    folder: Path | None,
    _earlier: object,
) -> Arrays:
    """The pairs around a checkpoint, and the one with the checkpoint before it, as columns."""
    there = _at(workload, path, metric)
    gradients = _gradients(there, sampling)
    kept = {key: getattr(sampling, key) for key in ("points", "radius", "dtype", "seed")}
    settings = identify_workload(there, gradients) | kept | {"draw": str(sampling.draw), "along": 2}
    store = PairStore(folder, settings)
    around = store.load_pairs(0)
    if around is None:
        drawn = Around(sampling.points, sampling.radius, Draw(sampling.draw))
        own = stream(sampling.seed, purpose=_POINTS)
        around = measure_center(gradients, gradients.start, inf, drawn, own)
        store.save_pairs(0, around)
    found = {"around": around.columns()}
    if before is not None:  # both through the frozen parts of the later one
        start = _gradients(_at(workload, before, metric), sampling).start
        pair = measure_between(gradients, gradients.start, start, inf)
        found["between"] = pair.columns()
    return found


def _stage(path: Path, measured: Arrays, lambdas: tuple[float, ...], radius: float, sizes: dict[str, int]) -> Stage:
    around = PairTable.of_columns(measured["around"])
    between = PairTable.of_columns(measured["between"]) if "between" in measured else None
    told = layers_of(around, sizes, lambdas, radius) if sizes else ()
    return Stage(
        checkpoint=str(path),
        around=read_off(around, Kind.SAMPLE, lambdas),
        moved=None if between is None else float(between.distances[0]),
        between=None if between is None else read_off(between, Kind.SAMPLE, lambdas),
        layers={one.name: one.measured[Kind.SAMPLE] for one in told},
    )


def _at(workload: Workload, path: Path, metric: Metric | None) -> Workload:
    there = workload.at_checkpoint(path)
    return there if metric is None else in_metric(there, metric)


def _gradients(workload: Workload, sampling: Sampling) -> Gradients:
    device = local_device(sampling.device)
    return Gradients(workload, workload.initial(0), dtype=sampling.dtype, device=device, memory=sampling.memory)
