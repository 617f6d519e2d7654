from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import known
import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.drift import coupled_runs, tracked_distance
from lastiterate.runtime.training import adjacent
from lastiterate.runtime.workloads.loading import load_workload


def test_equal_data_never_part() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1], [1.0, 0.5]])
    found = coupled_runs(workload, NoisySGD(20, 0.1, 0.5, 1e6, dataset_size=2, diameter=3.0), pairs=7)
    assert found.greatest.max() == 0, "the sample that is replaced and the one in its place are the same"


def test_the_distance_of_quadratics_is_the_plain_recursion() -> None:
    rows = np.array([[1.0, 0.5], [3.0, 0.1], [0.2, 4.0]])
    workload = known.quadratic(rows.tolist())
    run = NoisySGD(15, 0.1, 1e-9, 1e6, dataset_size=2, diameter=inf)
    found = coupled_runs(workload, run, pairs=2, replaced=1)
    start = workload.initial(0).value.detach().double().numpy()
    w = v = start
    for t in range(15):
        w = w - 0.1 * rows[:2].mean(axis=0) * w
        v = v - 0.1 * rows[[0, 2]].mean(axis=0) * v
        assert found.distances[t + 1] == pytest.approx(np.linalg.norm(w - v), abs=1e-6)


@pytest.mark.parametrize("sampling", ["full", "cyclic", "without_replacement"])
def test_certified_tracking_is_never_exceeded(sampling: str) -> None:
    workload = load_workload("builtin:breast-cancer")
    batch = None if sampling == "full" else 71
    run = NoisySGD(12, 0.2, 0.01, 1.0, 568, batch, sampling=sampling, diameter=2.0)
    assumption = workload.certified(0, 2.0).assumption(run)
    assert isinstance(assumption, Convex)
    found = coupled_runs(workload, run, pairs=5, replaced=3)
    bound = tracked_distance(run, assumption, replaced=3)
    assert (found.greatest <= bound * (1 + 1e-9)).all()
    assert found.greatest[-1] > 0.02 * bound[-1]


def test_a_smooth_network_stays_below_its_certified_tracking_and_a_wrong_constant_is_caught() -> None:
    workload = known.quadratic([[2.0], [2.0], [-2.0]])
    run = NoisySGD(30, 0.5, 0.1, 4.0, dataset_size=2, diameter=8.0)
    found = coupled_runs(workload, run, pairs=50)
    assert (found.greatest <= tracked_distance(run, Smooth(2.0)) * (1 + 1e-12)).all()
    assert (found.greatest > tracked_distance(run, StronglyConvex(2.0, 1.9))).any()


@pytest.mark.parametrize("assumption", [Smooth(2.0), Holder(0.5, 0.5), StronglyConvex(2.0, 1.0)], ids=repr)
def test_shuffled_tracking_is_the_worst_over_all_orders(assumption: Assumption) -> None:
    """By brute force: every sequence of places, each run's distance by the expansion itself."""
    run = NoisySGD(8, 0.5, 0.1, 1.0, 9, 3, sampling="shuffled", diameter=2.5)
    found = tracked_distance(run, assumption)
    met, plain = (assumption.expansion(run, 0, differs=differs) for differs in (True, False))
    worst = np.zeros(9)
    for places in product(range(3), repeat=3):
        z = np.zeros(1)
        for t in range(8):
            z = np.minimum((met if places[t // 3] == t % 3 else plain).value(z), 2.5)
            worst[t + 1] = max(worst[t + 1], z[0])
    assert found == pytest.approx(worst, rel=1e-12)
    assert (found >= worst).all()


def test_shuffled_pairs_stay_below_their_tracked_distance() -> None:
    workload = known.quadratic([[-2.0], [-2.0], [-1.0], [-2.0], [2.0]])
    run = NoisySGD(20, 0.5, 0.1, 4.0, 4, 2, sampling="shuffled", diameter=8.0)
    found = coupled_runs(workload, run, pairs=200)
    assert found.excess(tracked_distance(run, Smooth(2.0))) < 1e-9
    assert found.excess(tracked_distance(run, StronglyConvex(2.0, 1.9))) > 0.01, "a false assumption is caught"


@pytest.mark.parametrize("sampling", ["shuffled", "without_replacement", "poisson"])
def test_every_pair_has_batches_of_its_own(sampling: str) -> None:
    """Without noise to speak of, pairs differ by their batches alone; both runs of a pair have the same."""
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0]]
    workload = known.quadratic(rows)
    run = NoisySGD(3, 0.1, 1e-12, 1e6, 4, 1, sampling=sampling)
    found = coupled_runs(workload, run, pairs=40, replaced=1)
    ends = {tuple(np.round(row, 6)) for row in found.last}
    assert len(ends) > 3
    never_met = found.distances[-1] < 1e-9
    assert 0 < never_met.sum() < 40
    assert np.array_equal(found.last[never_met], found.last_adjacent[never_met])


def test_finished_pairs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjacent, "_MOST_RUNS", 4)
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1], [0.2, 4.0]])
    run = NoisySGD(10, 0.1, 0.3, 1.0, dataset_size=2, diameter=4.0)
    seen: list[tuple[int, int]] = []

    def interrupt(done: int, total: int) -> None:
        seen.append((done, total))
        if done > 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        coupled_runs(workload, run, pairs=10, folder=tmp_path, on_step=interrupt)
    assert len(list(tmp_path.rglob("block-*.npz"))) == 2
    resumed, fresh = (coupled_runs(workload, run, pairs=10, folder=folder) for folder in (tmp_path, None))
    for name in ("distances", "last", "last_adjacent"):
        assert np.array_equal(getattr(resumed, name), getattr(fresh, name))
    assert resumed.distances.shape == (11, 10)
    assert seen[-1] == (26, 30)


def test_poisson_pairs_lack_the_sample() -> None:
    workload = known.linear()
    run = NoisySGD(1, 0.5, 0.1, 10.0, dataset_size=2, batch_size=2, sampling="poisson")
    found = coupled_runs(workload, run, pairs=3)
    assert found.distances[1] == pytest.approx(0.5 / 2 * 3**0.5)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"pairs": 0}, "pairs=0"), ({"replaced": 2}, "replaced=2"), ({"replaced": -1}, "replaced=-1")],
)
def test_bad_input(options: dict[str, int], said: str) -> None:
    run = NoisySGD(1, 0.1, 0.1, 1.0, dataset_size=1)
    with pytest.raises(InputError, match=said):
        coupled_runs(known.linear(), run, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="dataset_size=2"):
        coupled_runs(known.linear(), NoisySGD(1, 0.1, 0.1, 1.0, dataset_size=2))


@pytest.mark.parametrize("wrong", [None, -1, 0.5, "one"])
def test_the_sample_that_differs_has_an_index(wrong: Any) -> None:
    run = NoisySGD(steps=2, step_size=0.1, noise_std=1.0, clip_norm=1.0, dataset_size=4, diameter=1.0)
    with pytest.raises(InputError, match="replaced"):
        tracked_distance(run, Smooth(2.0), wrong)
