"""Theorem A.1 against Theorems 3.1 and 3.7 and a free minimisation; Corollary A.3 against all orders."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from lastiterate.numeric.losses.assumptions import Convex, Holder, Smooth
from lastiterate.numeric.published import chien_li
from lastiterate.numeric.published.chien_li import corollary_a_3, theorem_3_1, theorem_3_7, theorem_a_1
from lastiterate.numeric.run import NoisySGD


def _first(run: NoisySGD) -> list[int]:
    return [0] * -(-run.steps // run.batches)


_FULL = NoisySGD(200, 0.1, 1.0, 2.0, 5, diameter=1.0)
_RUN = NoisySGD(9, 0.1, 1.3, 2.0, 3, batch_size=1, sampling="shuffled", diameter=0.5)


def test_full_batches_are_theorems_3_1_and_3_7() -> None:
    assert theorem_a_1(_FULL, Smooth(1.0), 2.0, _first(_FULL)) == pytest.approx(
        theorem_3_1(1.1, 0.08, 0.4, 1.0, 200), rel=5e-4
    )
    run = replace(_FULL, diameter=0.3, steps=100)
    assert theorem_a_1(run, Holder(1.0, 0.5), 2.0, _first(run)) == pytest.approx(
        theorem_3_7(0.1, 0.5, 0.08, 0.3, 100), rel=5e-4
    )


@pytest.mark.parametrize("places", [(0, 0, 0), (2, 2, 2), (1, 2, 0)])
def test_a_known_order_is_the_minimum_of_25(places: tuple[int, ...]) -> None:
    """Free minimisation over beta and a for every tau, lambda = 1: A_tau is a weighted sum of the shifts."""
    run, L = replace(_RUN, steps=8), 2.0
    s, c, sigma = 2 * 0.1 * 2.0, 1 + 0.1 * L, 1.3
    met = [t for t in range(8) if t % 3 == places[t // 3]]
    distance, tracked = 0.0, [0.0]
    for t in range(8):
        distance = min((distance + s) if t in met else c * distance, distance + 2 * 0.1 * 2.0, 0.5) if distance else (
            s if t in met else 0.0
        )  # fmt: skip
        tracked.append(distance)
    best = len(met) * s**2
    for tau in range(1, 8):
        if tracked[tau] == 0:
            continue
        weight = c ** -np.arange(1.0, 8 - tau + 1)
        toll = np.array([s if t in met else 0.0 for t in range(tau, 8)])
        start = np.full(8 - tau, tracked[tau] / weight.sum())
        found = minimize(
            lambda a, toll=toll: float(((a + toll) ** 2).sum()),
            start,
            bounds=[(0, None)] * (8 - tau),
            constraints={"type": "eq", "fun": lambda a, w=weight, d=tracked[tau]: float(w @ a - d)},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        best = min(best, float(found.fun))
    assert theorem_a_1(run, Smooth(L), 2.0, places) == pytest.approx(best / sigma**2, rel=1e-4)


def test_the_mean_is_above_that_of_all_orders(subtests: pytest.Subtests) -> None:
    for steps, order in [(2, 8.0), (7, 2.0), (8, 1.1), (9, 8.0)]:
        for assumption in [Smooth(1.0), Holder(1.0, 0.5), Convex(0.0)]:
            with subtests.test(assumption=assumption, steps=steps, order=order):
                run = replace(_RUN, steps=steps)
                each = np.array(
                    [theorem_a_1(run, assumption, order, one) for one in product(range(3), repeat=-(-steps // 3))]
                )
                mean = float(np.log(np.mean(np.exp((order - 1) * each)))) / (order - 1)
                found = corollary_a_3(run, assumption, order)
                assert mean * (1 - 1e-9) <= found <= 1.6 * mean


def test_no_overflow() -> None:
    run = replace(_RUN, steps=3000, noise_std=1e-3, diameter=100.0)
    assert np.isfinite(corollary_a_3(run, Holder(1.0, 0.5), 500.0))


def test_what_no_window_hides_costs_composition(monkeypatch: pytest.MonkeyPatch) -> None:
    run = NoisySGD(50, 0.1, 1.0, 5.0, 3, batch_size=1, sampling="cyclic", diameter=5.0)
    free = theorem_a_1(run, Holder(1.0, 0.5), 2.0, _first(run))
    monkeypatch.setattr(chien_li, "LONGEST_SHUFFLED", 1)
    found = theorem_a_1(run, Holder(1.0, 0.5), 2.0, _first(run))
    assert found == pytest.approx(17 * 1.0**2, rel=1e-9)
    assert free < found
