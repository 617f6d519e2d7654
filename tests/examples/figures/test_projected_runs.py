"""Bounds of runs with random projections against a run whose law is known, and this law against draws."""

from math import log

import numpy as np
import pytest
from projected_runs import Setting, epsilon_below, renyi_below
from random_projection import RandomProjectionRun, projection_bound

SETTINGS = [
    {"T": steps, "n": n, "p": p, "sigma": noise}
    for p, noise, steps in ((1.0, 3.0, 1.0), (2.0, 2.5, 3.0), (7.0, 4.0, 10.0), (50.0, 1.0, 5.0))
    for n in (1.0, 4.0)
]


def described(setting: Setting, more_noise: float = 1.0) -> RandomProjectionRun:
    noise, sizes = more_noise * setting["sigma"], [int(setting["p"])]
    return RandomProjectionRun(int(setting["T"]), 0.1, noise, sizes, int(setting["n"]))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_known_run_does_not_exceed_the_bound_and_exceeds_that_of_more_noise(setting: Setting) -> None:
    tried = 0
    for order in (1.1, 2.0, 6.0):
        true = renyi_below(setting, order)
        if true is not None:
            tried += 1
            assert true <= projection_bound(described(setting), order=order).epsilon <= true * (1 + 1e-9)
            assert true > projection_bound(described(setting, 1.01), order=order).epsilon
    assert tried
    delta = 1e-5 if setting["n"] == 1 else 1e-2
    true = epsilon_below(setting, delta)
    assert 0 < true <= projection_bound(described(setting), delta=delta).epsilon


def test_a_delta_notices_a_tenth_more_noise() -> None:
    setting = SETTINGS[-2]
    assert epsilon_below(setting, 1e-5) > projection_bound(described(setting, 1.1), delta=1e-5).epsilon


@pytest.mark.parametrize(("T", "n", "p", "sigma"), [(3.0, 2.0, 2.0, 3.0), (1.0, 1.0, 1.0, 4.0)])
def test_the_law_against_a_simulation(T: float, n: float, p: float, sigma: float) -> None:
    """D_2 and the hockey stick from a million draws of the iterate, by its log-ratio given the matrices."""
    generator, mean, setting = (
        np.random.default_rng(3),
        1 / (n * p**0.5),
        {"T": T, "n": n, "p": p, "sigma": sigma},
    )
    squares = generator.chisquare(T * p, 10**6)
    iterate = mean * squares + sigma * np.sqrt(squares) * generator.normal(size=10**6)
    ratio = 2 * mean * iterate / sigma**2
    assert renyi_below(setting, 2.0) == pytest.approx(log(np.mean(np.exp(ratio))), rel=0.02)
    delta = float(np.mean(np.maximum(1 - np.exp(0.2 - ratio), 0)))
    assert epsilon_below(setting, delta) == pytest.approx(0.2, abs=0.01)


def test_a_divergence_that_is_infinite_has_no_value() -> None:
    assert renyi_below({"T": 3.0, "n": 2.0, "p": 2.0, "sigma": 0.3}, 4.0) is None
