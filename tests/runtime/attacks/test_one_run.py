"""One training with many canaries: scores of a known law, bounds that stand, smaller ones that fall."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import known
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, StronglyConvex
from lastiterate.numeric.lower.one_run import OneRun
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks import attack as one_run
from lastiterate.runtime.attacks.attack import AttackKind, attack_once, worst_case
from lastiterate.runtime.workloads.loading import load_workload

DELTA = 1e-5
SURE, TINY = 1 - 1e-9, 1e-15
"""A confidence at which a test that fails has found a defect, and a delta that can be refuted with so little doubt."""
SCHEMES = [("full", None), ("cyclic", 500), ("shuffled", 500), ("without_replacement", 500), ("poisson", 500)]
LINEAR = NoisySGD(16, 1.0, 1.0, 1000.0, 2000)
"""One step moves a canary by half of the noise, so that 16 make two standard deviations to either side."""


def crafted(run: NoisySGD, canaries: int, assumption: Assumption | None = None, **named: Any) -> OneRun:
    workload = worst_case(run, assumption or Clipped(), dimension=canaries)
    return attack_once(workload, run, canaries=canaries, assumption=assumption, **({"delta": DELTA} | named))


def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """The scores and the coins of every audit from now on."""
    kept: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []
    real = one_run.one_run

    def noted(scores: NDArray[np.float64], coins: NDArray[np.bool_], **named: Any) -> OneRun:
        kept.append((scores, coins))
        return real(scores, coins, **named)

    monkeypatch.setattr(one_run, "one_run", noted)
    return kept


def test_scores_of_linear_losses_are_gaussians_as_far_apart_as_the_bound_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """2000 canaries tell the distance to a per cent: mu = 4, the bound itself, is lost to each of them."""
    kept = seen(monkeypatch)
    for seed in range(4):
        crafted(LINEAR, 2000, Convex(1.0), seed=seed)
    signed = np.concatenate([np.where(coins, scores, -scores) for scores, coins in kept])
    assert signed.std() == pytest.approx(4.0, rel=0.03)
    mu = 2 * signed.mean() / signed.std()
    assert mu == pytest.approx(4.0, rel=0.03)
    assert bound(LINEAR, Convex(1.0)).mu == pytest.approx(4.0)
    heads = np.concatenate([coins for _scores, coins in kept])
    assert abs(heads.mean() - 0.5) < 5 * 0.5 / len(heads) ** 0.5
    assert len({coins.tobytes() for _scores, coins in kept}) == 4


def test_a_canary_of_poisson_batches_is_there_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is missing it pulls nowhere, and the divisor stays: no other canary moves further for it."""
    kept = seen(monkeypatch)
    run = NoisySGD(400, 1.0, 1e-9, 1.0, 100, 50, "poisson", adjacency="add_remove")
    crafted(run, 100)
    scores, coins = kept[0]
    assert abs(scores[~coins]).max() < 1e-6
    steps = 400 * coins.sum()  # in half of which the canary is in the batch, give or take five standard deviations
    assert scores[coins].sum() == pytest.approx(0.5 * steps / 50, abs=5 * 0.5 * steps**0.5 / 50)


@pytest.mark.parametrize(("sampling", "batch"), SCHEMES)
def test_no_training_exceeds_its_bound_and_a_much_smaller_one_is_refuted(sampling: str, batch: int | None) -> None:
    adjacency = "add_remove" if sampling == "poisson" else "replace"
    scale = 500.0 if batch is None else 250.0
    run = NoisySGD(16, 1.0, 1.0, scale, 1000, batch, sampling, adjacency=adjacency)
    found = crafted(run, 1000, Convex(1.0), level=SURE, delta=TINY)
    assert found.adjacency == adjacency
    assert found.refutes(bound(run, Convex(1.0), delta=TINY)) == ()
    assert 0.5 < found.epsilon < bound(run, Convex(1.0), delta=TINY).epsilon
    assert "epsilon" in found.refutes(bound(replace(run, noise_std=100.0), Convex(1.0), delta=TINY))
    other = NoisySGD(16, 1.0, 1.0, scale, 1000, 500, "cyclic" if sampling == "poisson" else "poisson")
    with pytest.raises(InputError, match="needs a bound for the adjacency of the coins"):
        found.refutes(bound(other, Convex(1.0), delta=TINY))


@pytest.mark.parametrize("kind", [AttackKind.CANARY, AttackKind.LOSS])
@pytest.mark.parametrize(("sampling", "batch"), [("full", None), ("cyclic", 50), ("poisson", 50)])
def test_a_network_stays_below_its_bound(sampling: str, batch: int | None, kind: AttackKind) -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    adjacency = "add_remove" if sampling == "poisson" else "replace"
    run = NoisySGD(20, 1.0, 0.02, 1.0, 100, batch, sampling, adjacency=adjacency)
    found = attack_once(workload, run, kind, canaries=20, delta=DELTA, level=0.8)
    stated = bound(run, Clipped(), delta=DELTA)
    assert found.refutes(stated) == ()
    assert found.canaries == 20
    if kind == AttackKind.CANARY:
        assert found.guesses[0][1] >= 14, "the attack bites"


def test_real_canaries_are_seen_in_their_own_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample pulls one coordinate, its substitute another one: each loss tells which of the two was there."""
    kept = seen(monkeypatch)
    rows = torch.eye(80).tolist()
    run = NoisySGD(600, 1.0, 1e-6, 1.0, 40)
    workload = replace(known.quadratic(rows), loss=lambda out, row: (row * (out - 1).square()).sum() / 2)
    found = attack_once(workload, run, AttackKind.LOSS, canaries=40, delta=DELTA)
    assert found.guesses[1] == (20, 20)
    scores, coins = kept[0]
    with pytest.raises(InputError, match=r"a sample each to stand in their place, 80 in all, got 79 samples"):
        attack_once(known.quadratic(rows[:79]), run, AttackKind.LOSS, canaries=40, delta=DELTA)
    assert scores[coins].min() > 0 > scores[~coins].max()


def test_canaries_in_strongly_convex_losses_are_strongly_convex() -> None:
    run = replace(LINEAR, steps=50, diameter=4000.0)
    strong = StronglyConvex(0.5, 0.2)
    found = crafted(run, 1000, strong, level=SURE)
    assert found.mu > 0.2
    assert found.refutes(bound(run, strong, delta=DELTA)) == ()


def test_a_sum_over_canaries_is_that_of_their_gradients() -> None:
    """Directions are orthogonal and of unit length; a canary that is met adds its gradient m (w - w_0) +- tilt u."""
    workload = worst_case(LINEAR, Convex(1.0), dimension=7)
    signs = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    made = one_run._Planted(workload, workload.initial(0))
    made.craft(signs, (0.5, 3.0), seed=0)
    last = torch.arange(made.samples - 3, made.samples)
    units = torch.stack([made.total(made.start, chosen=last[[k]]) / 3.0 for k in range(3)])
    assert torch.allclose(units @ units.T, torch.eye(3, dtype=torch.float64))
    point = torch.arange(7.0, dtype=torch.float64)
    expected = 2 * 0.5 * point + 3.0 * (units[0] + units[2])
    assert torch.allclose(made.total(point, chosen=last[[0, 2]]), expected)
    assert torch.allclose(made.scores(point), -(units * signs[:, None]) @ point)


def test_a_finished_training_is_found_again_and_an_interrupted_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ticks = replace(LINEAR, dataset_size=100, clip_norm=50.0), list[tuple[int, int]]()
    whole = crafted(run, 100)

    def stop(done: int, _all: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crafted(run, 100, folder=tmp_path, on_step=stop)
    assert list(tmp_path.rglob("training.checkpoint"))
    assert crafted(run, 100, folder=tmp_path, on_step=lambda *step: ticks.append(step)) == whole
    assert len(ticks) < 16
    assert ticks[-1] == (16, 16)
    assert not list(tmp_path.rglob("training.checkpoint"))
    monkeypatch.setattr(one_run, "train", None)
    assert crafted(run, 100, folder=tmp_path) == whole
    with pytest.raises(TypeError):
        crafted(run, 100, folder=tmp_path, seed=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"canaries": 1}, "canaries needs a whole number of at least 2, got canaries=1"),
        ({"canaries": 11}, "canaries needs to be at most dataset_size=10, got canaries=11"),
        ({"canaries": 4}, "Crafted canaries need a parameter each, got canaries=4 for the 3 parameters"),
        ({"kind": "shadow"}, "kind canary or loss, got kind=shadow"),
        ({"delta": 0.0}, "delta=0"),
        ({"level": 1.0}, "level=1"),
    ],
)
def test_bad_input(change: dict[str, Any], said: str) -> None:
    run = NoisySGD(2, 1.0, 1.0, 1.0, 10)
    workload = worst_case(run, Clipped(), dimension=3)
    with pytest.raises(InputError, match=said):
        attack_once(workload, run, **({"canaries": 3, "delta": DELTA} | change))


def test_others_that_pull_have_one_dimension() -> None:
    with pytest.raises(InputError, match="got others=pull and dimension=2; choose others='still'"):
        worst_case(LINEAR, Convex(1.0), "pull", dimension=2)
