"""Every kind of network at every command that measures: a number, or one sentence."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from network_corpus import KINDS, Kind

import lastiterate as li
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import constants_along_training
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants

FEW = ("prelu", "weight_norm", "lstm", "experts", "ctc_loss", "scripted", "dictionary", "autocast",
       "complex_parameters")  # fmt: skip
"""Kinds that run by day, one for each way to differentiate and one for each refusal."""

SLOW = {"estimate": {"experts", "ctc_loss", "lstm"}, "refute": {"experts", "ctc_loss"}}
"""Kinds that take seconds at some commands, and are measured there by night only."""

SHARE = 0.9
"""Share of the corpus that must get a number from a search for constants."""

pytestmark = pytest.mark.usefixtures("short_search", "short_refutation")


@dataclass
class Results:
    numbers: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)


def run(kind: Kind) -> li.NoisySGD:
    return li.NoisySGD(2, 0.1, 0.5, 1.0, len(kind.inputs), diameter=0.5)


def fewer(kind: Kind) -> li.NoisySGD:
    """Run on the data without the sample that is removed."""
    return li.NoisySGD(2, 0.1, 0.5, 1.0, len(kind.inputs) - 1, diameter=0.5)


def searched(kind: Kind, _folder: Path) -> float:
    return worst_case_constants(kind.workload(), run(kind), (1.0,)).found[0]


def drawn(kind: Kind, _folder: Path) -> float:
    return li.estimate_holder(kind.workload(), run(kind), (1.0,), Sampling(inits=1, points=2)).constant(1.0)


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
    "estimate --draw": drawn,
    "checkpoints": along,
    "drift": drifted,
    "attack": attacked,
    "train": trained,
    "refute": refuted,
}


def measured(door: str, kinds: list[Kind], folder: Path) -> Results:
    """Measured numbers and messages of refusal, by kind; other exceptions are not caught."""
    found = Results()
    for kind in kinds:
        own = folder / kind.name
        own.mkdir()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                value = DOORS[door](kind, own)
        except InputError as error:
            found.refused[kind.name] = str(error)
        else:
            assert 0 <= value < math.inf, kind.name
            found.numbers.add(kind.name)
    assert not [said for said in found.refused.values() if "\n" in said]
    return found


@pytest.mark.parametrize("door", DOORS)
def test_a_number_or_one_sentence(door: str, tmp_path: Path) -> None:
    few = set(FEW) - SLOW.get(door, set())
    found = measured(door, [kind for kind in KINDS if kind.name in few], tmp_path)
    assert set(found.refused) - {"scripted", "autocast"} == {"complex_parameters"}


@pytest.mark.nightly
@pytest.mark.parametrize("door", DOORS)
def test_a_number_or_one_sentence_for_all(door: str, tmp_path: Path) -> None:
    found = measured(door, KINDS, tmp_path)
    assert len(KINDS) >= 80
    assert len(found.numbers) >= SHARE * len(KINDS), found.refused
