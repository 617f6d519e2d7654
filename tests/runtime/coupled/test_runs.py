from itertools import permutations
from math import inf

import known
import numpy as np
import pytest

from lastiterate.numeric.assumptions import Convex, Smooth, StronglyConvex
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.coupled.runs import coupled_runs, tracked_distance
from lastiterate.runtime.coupled.transport import wasserstein_2, wasserstein_2_interval, wasserstein_infinity
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


def test_poisson_pairs_lack_the_sample() -> None:
    workload = known.linear()
    run = NoisySGD(1, 0.5, 0.1, 10.0, dataset_size=2, batch_size=2, sampling="poisson")
    found = coupled_runs(workload, run, pairs=3)
    assert found.distances[1] == pytest.approx(0.5 / 2 * 3**0.5)


def test_wasserstein_distances_by_brute_force() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        left, right = generator.normal(size=(5, 2)), generator.normal(size=(5, 2))
        lengths = [np.linalg.norm(left - right[list(order)], axis=1) for order in permutations(range(5))]
        assert wasserstein_2(left, right) == pytest.approx(min(np.sqrt((one**2).mean()) for one in lengths))
        assert wasserstein_infinity(left, right) == pytest.approx(min(one.max() for one in lengths))


def test_the_interval_holds_the_distance_of_shifted_clouds() -> None:
    generator = np.random.default_rng(1)
    left = generator.normal(size=(150, 1))
    found = wasserstein_2_interval(left, generator.normal(size=(150, 1)) + 2)
    assert found.low <= 2 <= found.high
    assert found.low <= found.value <= found.high


def test_clouds_of_coupled_runs_are_no_farther_than_the_pairs() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1], [0.2, 4.0]])
    found = coupled_runs(workload, NoisySGD(10, 0.1, 0.3, 1.0, dataset_size=2, diameter=4.0), pairs=40)
    pairs = found.distances[-1]
    assert wasserstein_infinity(found.last, found.last_adjacent) <= pairs.max() * (1 + 1e-12)
    assert wasserstein_2(found.last, found.last_adjacent) <= np.sqrt((pairs**2).mean()) * (1 + 1e-12)


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
    with pytest.raises(InputError, match=r"left\.shape"):
        wasserstein_2(np.zeros((2, 1)), np.zeros((3, 1)))
