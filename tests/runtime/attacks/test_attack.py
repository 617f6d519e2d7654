from dataclasses import replace

import known
import pytest

from lastiterate.numeric.assumptions import Clipped, Convex
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.attack import Attack, attack
from lastiterate.runtime.workloads.loading import load_workload

DELTA = 1e-5
FLAT = [[1e-12] * 3] * 6


@pytest.mark.parametrize(
    ("sampling", "batch"),
    [("full", None), ("cyclic", 1), ("shuffled", 1), ("without_replacement", 1), ("poisson", 1)],
)
def test_the_canary_stays_below_the_bound_of_every_scheme(sampling: str, batch: int | None) -> None:
    run = NoisySGD(6, 1.0, 1.0, 1.0, 5, batch, sampling=sampling, diameter=100.0)
    found = attack(known.quadratic(FLAT), run, delta=DELTA, runs=400, level=0.999)
    assert found.epsilon <= bound(run, Convex(1.0), delta=DELTA).epsilon


def test_the_canary_is_close_to_a_tight_bound_and_refutes_a_smaller_one() -> None:
    """Linear losses on the whole space: composition is exact, and an account of half the steps is found out."""
    run = NoisySGD(16, 1.0, 1.0, 1.0, 2)
    found = attack(known.quadratic(FLAT), run, delta=DELTA, runs=2000, level=0.99)
    truth = bound(run, Convex(1.0))
    assert truth.mu == pytest.approx(4.0)
    assert 0.75 * truth.mu <= found.mu <= truth.mu
    assert found.mu > bound(replace(run, steps=8), Convex(1.0)).mu


@pytest.mark.parametrize("kind", [Attack.LOSS, Attack.SHADOW])
def test_real_samples_leak_less_than_the_bound(kind: Attack) -> None:
    workload = load_workload("builtin:breast-cancer")
    run = NoisySGD(10, 1.0, 0.02, 1.0, 20, diameter=4.0)
    found = attack(workload, run, kind, delta=DELTA, runs=200, target=3)
    assert 0 < found.epsilon <= bound(run, Clipped(), delta=DELTA).epsilon


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": 3}, "runs=3"),
        ({"target": 2}, "target=2"),
        ({"kind": "guess"}, "kind='guess'"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_bad_input(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        attack(known.linear(), NoisySGD(1, 1.0, 1.0, 1.0, 2), **({"delta": DELTA} | options))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 samples, got 2"):
        attack(known.linear(), NoisySGD(1, 1.0, 1.0, 1.0, 2), Attack.LOSS, delta=DELTA)
