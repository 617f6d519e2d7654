"""Crafted initial parameters: the others are fitted, the sample is not, and its loss tells more; never too much."""

from pathlib import Path

import pytest
import torch

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks import attack as attacks
from lastiterate.runtime.attacks.attack import AttackKind, attack, crafted_start
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import norm
from lastiterate.runtime.workloads.loading import load_workload

RUNS = {
    "builtin:iris-mlp-tanh": NoisySGD(10, 0.3, 0.1, 1.0, 20),
    "builtin:breast-cancer": NoisySGD(10, 1.0, 0.2, 1.0, 20),
}


@pytest.fixture(autouse=True)
def _few_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a third of the steps crafts is enough of a difference, but not for the network, by night."""
    if request.node.get_closest_marker("nightly") is None:
        monkeypatch.setattr(attacks, "_STEPS", 300)


@pytest.mark.parametrize(
    ("name", "drawn", "crafted"),
    [pytest.param("builtin:iris-mlp-tanh", 0.1, 0.7, marks=pytest.mark.nightly), ("builtin:breast-cancer", 0.1, 2.0)],
)
def test_the_loss_of_a_real_sample_tells_nothing_from_drawn_parameters_and_much_from_crafted_ones(
    name: str, drawn: float, crafted: float
) -> None:
    """500 runs a side, at delta = 1e-5; the bounds are 4.12 and 7.51, and hold at every start."""
    run, workload = RUNS[name], load_workload(name)
    stated = bound(run, Clipped(), delta=1e-5)
    before, after = (
        attack(workload, run, AttackKind.LOSS, delta=1e-5, initialisation=start) for start in ("drawn", "crafted")
    )
    assert before.gaussian_epsilon < drawn
    assert crafted < after.gaussian_epsilon <= stated.epsilon
    assert after.refutes(stated) == ()


def test_the_sample_is_missed_and_the_others_and_the_substitute_are_fitted() -> None:
    run, workload = RUNS["builtin:breast-cancer"], load_workload("builtin:breast-cancer")
    gradients = Gradients(workload, workload.initial(0))

    def lengths(point: torch.Tensor) -> torch.Tensor:
        found = norm(gradients.at(point[None], torch.tensor([*range(20), gradients.samples - 1])))[0]
        return found.clamp(max=run.clip_norm)

    drawn, crafted = lengths(gradients.start), lengths(crafted_start(gradients, run, 3))
    others = [k for k in range(21) if k != 3]
    assert drawn[others].mean() > 0.9
    assert crafted[others].mean() < 0.1
    assert crafted[3] == run.clip_norm


def test_crafted_parameters_are_kept_and_are_no_drawn_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, workload = RUNS["builtin:breast-cancer"], load_workload("builtin:breast-cancer")

    def found(start: str) -> object:
        return attack(workload, run, AttackKind.LOSS, delta=1e-5, runs=100, initialisation=start, folder=tmp_path)

    drawn, crafted = found("drawn"), found("crafted")
    assert drawn != crafted
    monkeypatch.setattr(attacks, "crafted_start", None)
    assert (found("drawn"), found("crafted")) == (drawn, crafted)
    with pytest.raises(InputError, match="initialisation needs one of drawn, crafted, got initialisation=worst"):
        found("worst")
