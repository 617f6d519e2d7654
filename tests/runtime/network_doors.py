"""Commands that measure a network, each as a function of a kind of network and of a folder to write in."""

import math
from collections.abc import Callable
from pathlib import Path

import torch
from network_corpus import Kind

import lastiterate as li
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import constants_along_training
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants

RADIUS = 0.01


def run(kind: Kind) -> li.NoisySGD:
    return li.NoisySGD(2, 0.1, 0.5, 1.0, len(kind.inputs), diameter=0.5)


def fewer(kind: Kind) -> li.NoisySGD:
    """Run on the data without the sample that is removed."""
    return li.NoisySGD(2, 0.1, 0.5, 1.0, len(kind.inputs) - 1, diameter=0.5)


def searched(kind: Kind, _folder: Path) -> float:
    return worst_case_constants(kind.workload(), run(kind), (1.0,)).found[0]


def drawn(kind: Kind, _folder: Path) -> float:
    return li.estimate_holder(kind.workload(), run(kind), (1.0,), Sampling(inits=1, points=2)).constant(1.0)


def proved(kind: Kind, _folder: Path) -> float:
    found = li.certified_constants(kind.workload(), RADIUS)
    if math.isinf(found.smoothness):
        raise InputError(found.statement)
    return found.smoothness


def along(kind: Kind, folder: Path) -> float:
    paths = [folder / f"{k}.pt" for k in range(2)]
    for seed, path in enumerate(paths):
        torch.save(kind.workload().initial(seed).state_dict(), path)
    found = constants_along_training(kind.workload(), paths, (1.0,), Sampling(points=2))
    return found.stages[1].around.constants[0]


def drifted(kind: Kind, _folder: Path) -> float:
    return float(li.measure_drift(kind.workload(), fewer(kind), li.Clipped(), pairs=2).coupled.distances.max())


def attacked(kind: Kind, _folder: Path) -> float:
    return li.attack(kind.workload(), fewer(kind), "loss", delta=1e-3, runs=8).epsilon


def trained(kind: Kind, _folder: Path) -> float:
    work = kind.workload()
    optimiser = li.ProjectedNoisySGD(work.initial(0), work.loss, run(kind))
    for batch in optimiser.batches():
        optimiser.step(work.inputs[batch], work.targets[batch])
    return optimiser.bound(li.Clipped(), delta=1e-5).epsilon


def refuted(kind: Kind, _folder: Path) -> float:
    found = li.refute(kind.workload(), run(kind), li.Smooth(1e-6))
    return 0.0 if found is None else found.constant


DOORS: dict[str, Callable[[Kind, Path], float]] = {
    "estimate": searched,
    "certified": proved,
    "estimate --draw": drawn,
    "checkpoints": along,
    "drift": drifted,
    "attack": attacked,
    "train": trained,
    "refute": refuted,
}
