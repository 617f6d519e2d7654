from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lastiterate.numeric.assumptions import Clipped
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.training.optimiser import ProjectedNoisySGD
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

RUN = NoisySGD(6, 0.5, 0.05, 0.3, dataset_size=150, batch_size=30, sampling="shuffled", diameter=1.0)
SCHEMES = ["full", "cyclic", "shuffled", "without_replacement", "poisson"]


def iris() -> Workload:
    return load_workload("builtin:iris-mlp-tanh")


def run_on(optimiser: ProjectedNoisySGD, workload: Workload, steps: int | None = None) -> None:
    for t, batch in enumerate(optimiser.batches()):
        if t == steps:
            return
        optimiser.step(workload.inputs[batch], workload.targets[batch])


@pytest.mark.parametrize("sampling", SCHEMES)
def test_it_is_the_trainer_that_is_accounted_for(sampling: str) -> None:
    workload = iris()
    run = replace(RUN, sampling=sampling, batch_size=None if sampling == "full" else 30, adjacency="")
    gradients = Gradients(workload, workload.initial(0))
    module = workload.initial(0).double()
    optimiser = ProjectedNoisySGD(module, workload.loss, run, seed=4)
    run_on(optimiser, workload)
    point = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
    torch.testing.assert_close(point, train(gradients, gradients.start, run, seed=4).points[-1], rtol=1e-12, atol=1e-14)
    assert optimiser.accounted() == run


def test_what_has_been_run_is_what_is_accounted_for() -> None:
    workload = iris()
    run = NoisySGD(5, [0.1, 0.2, 0.3, 0.4, 0.5], 0.1, 1.0, dataset_size=150, diameter=1.0)
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, run)
    with pytest.raises(InputError, match="done=0"):
        optimiser.accounted()
    run_on(optimiser, workload, steps=3)
    done = optimiser.accounted()
    assert (done.steps, done.step_size) == (3, (0.1, 0.2, 0.3))
    assert bound(done, Clipped(), delta=1e-5).epsilon > 0


def test_a_resumed_run_is_the_same_bit_by_bit(tmp_path: Path) -> None:
    workload = iris()
    whole = workload.initial(0).double()
    run_on(ProjectedNoisySGD(whole, workload.loss, RUN, seed=1), workload)
    first = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, RUN, seed=1)
    run_on(first, workload, steps=2)
    torch.save(first.state_dict(), tmp_path / "checkpoint.pt")
    module = workload.initial(7).double()
    second = ProjectedNoisySGD(module, workload.loss, RUN, seed=1)
    second.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True))
    assert second.done == 2
    run_on(second, workload)
    assert all(torch.equal(p, q) for p, q in zip(module.parameters(), whole.parameters(), strict=True))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extra": 1}, "extra"),
        ({"seed": 2}, "seed=2"),
        ({"run": {}}, "run={}"),
        ({"parameters": torch.zeros(3)}, r"parameters=\(3,\)"),
    ],
)
def test_a_checkpoint_of_something_else_changes_nothing(change: dict[str, object], said: str) -> None:
    workload = iris()
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, RUN)
    run_on(optimiser, workload, steps=1)
    before = optimiser.state_dict()
    with pytest.raises(InputError, match=said):
        optimiser.load_state_dict({**before, **change})
    after = optimiser.state_dict()
    assert after["done"] == before["done"]
    assert torch.equal(after["parameters"], before["parameters"])


def test_wrong_steps_are_refused() -> None:
    workload = iris()
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, replace(RUN, steps=1))
    with pytest.raises(InputError, match="got 29 inputs and 29 targets"):
        optimiser.step(workload.inputs[:29], workload.targets[:29])
    with pytest.raises(InputError, match="got 30 inputs and 29 targets"):
        optimiser.step(workload.inputs[:30], workload.targets[:29])
    optimiser.step(workload.inputs[:30], workload.targets[:30])
    with pytest.raises(InputError, match="steps=1"):
        optimiser.step(workload.inputs[:30], workload.targets[:30])
    with pytest.raises(InputError, match="BatchNorm1d"):
        ProjectedNoisySGD(nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)), cross_entropy, RUN)
    with pytest.raises(InputError, match="parameters to train"):
        ProjectedNoisySGD(nn.Flatten(), cross_entropy, RUN)
