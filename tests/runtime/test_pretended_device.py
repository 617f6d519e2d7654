"""Every path of the runtime on a device that is not there: nothing stays on the CPU, and few things are waited for."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import torch
from pretended import THERE, PretendedDevice
from torch.nn import Module

from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime import factors, gradients
from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.attacks.drift import measure_drift
from lastiterate.runtime.constants import worst_case_constants as worst
from lastiterate.runtime.constants.holder import constants_along_training, estimate_holder
from lastiterate.runtime.constants.sampling import InputSet, Sampling
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

MEANT: Final = {
    "validation": "a workload is tried once, when its gradients are made",
    "rows._counted": "which rows a workload is tried on together, once",
    "rows._distinct": "likewise",
    "rows._extremes": "likewise",
    "engine": "whether derivatives are right, once, before the first of them",
    "independence": "whether rows change the outputs or the losses of others, when a workload is tried",
    "rows._refuse_rounded": "whether rows of more precision survive that of a step, once a step where they have more",
    "fingerprint": "what is kept is named by the weights and the data, once a measurement",
    "workload.Workload.__post_init__": "whether the rows of a step are finite, once a step",
    "optimiser.ProjectedNoisySGD.step": "whether the parameters are finite, once a step",
    "optimiser._checksums": "whether the rows of a step are those of the samples that were drawn, once a step",
    "descent.train": "whether the parameters are finite, once a step",
    "adjacent.adjacent_runs": "whether all parameters are finite, once a step of all runs side by side",
    "batches._padded": "the size of the largest Poisson batch, once a step of all runs side by side",
    "drift.coupled_runs": "distances and last iterates of a block of pairs, at its end, and the pull of the sample",
    "attack.attack": "scores of a block of runs, at its end, and where the runs began",
    "pairs._table": "the table of the pairs around one centre, at its end",
    "search.Search.curved": "the curvature that was reached and the pairs as they are kept, at the end of an ascent",
    "search.labels_of": "the labels that a free input may have, before and between two ascents",
    "search.Search.pairs": "whether gradients are finite at the starts",
    "search.Search._with_worst_samples": "the worst sample of four pairs, between two ascents",
    "search.Search._gains": "whether an ascent still gains, once in ten steps",
    "operators.graph_of": "whether a graph is right, once, before it is used",
    "search._taken": "the starts with finite derivatives, at the end",
    "search._ends": "the pairs that were found, at the end",
    "kinks.Kinks": "the number of halvings at the start, and the jumps that were found at the end",
    "factors": "whether the factors give the gradient, once, before the first of them",
}
"""Functions that may read something off the device, and why that is not in an inner loop, or is worth it."""

COPIED: Final = {
    "?": "what these tests put there: modules, and the rows of a loop of one's own",
    "random_streams.philox": "random bits, which NumPy makes where there is no kernel of Triton",
    "gradients.Gradients.__init__": "the network",
    "rows.Rows.__getitem__": "the data, or a chunk of it where it is too large; the indices of a batch, once a step",
    "gradients.Gradients.total": "the indices of a batch, once a step",
    "gradients.Gradients.totals": "the indices of a batch that all runs share, once a step",
    "validation": "rows that a workload is tried on",
    "rows.telling_rows": "the indices of the rows that are tried together",
    "independence": "likewise, and labels that the data do not have",
    "engine": "points and vectors that derivatives are tried on",
    "adjacent.real_sample": "the index of the sample that differs",
    "attack.attack": "the initial parameters, or the sample that is attacked",
    "search._Bend.one_ascent": "which points go on, once a screening",
    "search.Search._again": "the pairs that are taken up, once a search",
    "search.Search._with_worst_samples": "the index of a sample",
    "worst_case_constants": "the iterates that are looked at",
    "kinks.Kinks.jumps": "the pairs that are halved, once a search",
}
"""Functions that may copy something to the device."""

THERE_IS: Final = {"device": "meta", "memory": 2**28}
RUN: Final = NoisySGD(3, 0.1, 0.01, 1.0, 12, 4, sampling="without_replacement", diameter=2.0)


def few() -> Workload:
    whole = load_workload("builtin:iris-mlp-tanh")
    return replace(whole, inputs=whole.inputs[::6], targets=whole.targets[::6])


pytestmark = pytest.mark.usefixtures("short_search")


@pytest.fixture(autouse=True)
def _pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients, "device_of", lambda name: torch.device(name))


def measured() -> None:
    workload = few()
    estimate_holder(workload, paper_run(workload, steps=2), (1.0,), Sampling(inits=1, points=3, **THERE_IS))


def searched(kind: Kind) -> Callable[[], object]:
    workload = few()
    return lambda: worst.worst_case_constants(
        workload, paper_run(workload, steps=2), (1.0,), kind=kind, points=2, **THERE_IS
    )


def searched_inputs() -> None:
    workload = few()
    run = paper_run(workload, steps=2)
    worst.worst_case_constants(
        workload, run, (1.0,), kind=Kind.SAMPLE, inputs=InputSet(0, 1), points=2, **THERE_IS
    )


def along_training() -> None:
    workload = few()
    with TemporaryDirectory() as folder:
        files = [Path(folder, f"step-{seed}.pt") for seed in range(2)]
        for seed, file in enumerate(files):
            torch.save(workload.initial(seed).state_dict(), file)
        constants_along_training(workload, files, (1.0,), Sampling(inits=1, points=3, **THERE_IS))


def stepped(optimiser: Callable[..., Any], run: Callable[[Module], Any]) -> Callable[[], None]:
    def path() -> None:
        workload = few()
        module = workload.module().to(THERE)
        trained = optimiser(module, workload.loss, run(module))
        for batch in trained.batches():
            trained.step(workload.inputs[batch].to(THERE), workload.targets[batch].to(THERE))
        assert trained.accounted() == trained.run

    return path


def drifted(sampling: str) -> Callable[[], object]:
    run = replace(RUN, sampling=sampling, batch_size=None if sampling == "full" else 4, adjacency="")
    return lambda: measure_drift(few(), run, Clipped(), pairs=5, **THERE_IS)


def attacked(kind: str, **named: Any) -> Callable[[], object]:
    return lambda: attack(few(), RUN, kind, delta=1e-5, runs=6, **named, **THERE_IS)


PATHS: Final = {
    "measured": measured,
    **{f"searched {kind}": searched(kind) for kind in Kind},
    "searched inputs": searched_inputs,
    "along training": along_training,
    "optimiser": stepped(ProjectedNoisySGD, lambda _: RUN),
    **{f"drift {scheme}": drifted(scheme) for scheme in ("full", "cyclic", "poisson", "without_replacement")},
    **{f"attack {kind}": attacked(kind) for kind in ("canary", "loss", "shadow")},
}


NIGHTLY: Final = (
    "searched inputs",
    f"searched {Kind.SAMPLE}",
    "drift cyclic",
    "drift without_replacement",
    "attack loss",
    "attack shadow",
)
"""Paths that go the same way as others: searches as that of clipped gradients, drift and attacks as other kinds."""


def unmeant(asking: Iterator[str], meant: dict[str, str]) -> set[str]:
    return {name for name in asking if not any(name.startswith(one) for one in meant)}


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.nightly] * (path in NIGHTLY)) for path in PATHS]
)
@pytest.mark.usefixtures("short_search")
def test_nothing_is_left_on_the_cpu_and_what_is_waited_for_is_meant(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_ITERATIONS", "_BENDING", "_CURVED"):
        monkeypatch.setattr(worst, name, 1)
    with PretendedDevice() as mode:
        PATHS[path]()
    assert sum(mode.waits.values()) > 0, "it was on the device"
    assert unmeant((name for name, _ in mode.waits), MEANT) == set()
    assert unmeant(iter(mode.copies), COPIED) == set()


def test_factored_gradients_wait_for_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "_FEWEST", 1)
    monkeypatch.setattr(factors, "_GRAM_COST", 0)
    with PretendedDevice() as mode:
        measured()
    assert unmeant((name for name, _ in mode.waits), MEANT) == set()


def test_numbers_are_those_of_the_cpu() -> None:
    like = torch.zeros(1, dtype=torch.float64)
    with PretendedDevice() as mode:
        found = stream(3, 1).normals(4, 9, like.to(THERE))
        assert found.device == THERE
        assert not mode.waits
        there = found.cpu()
    assert torch.equal(there, stream(3, 1).normals(4, 9, like))


def test_the_pretended_device_sees_what_it_should() -> None:
    with PretendedDevice() as mode:
        values = torch.arange(4.0, device=THERE)
        with pytest.raises(RuntimeError, match="on the CPU"):
            _ = values + torch.ones(4)
        _ = bool(values[1]), values[values > 2], values.nonzero(), values.cpu(), values[torch.tensor([1])]
        _ = values + torch.ones(())
        with pytest.raises(AssertionError, match="by way of the CPU"):
            _ = values + torch.tensor([1.0] * 4, device=THERE)
    assert {what for _, what in mode.waits} == {"_local_scalar_dense", "mask", "nonzero", "copied"}
    assert sum(mode.copies.values()) == 1
