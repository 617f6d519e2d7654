"""Theorem 3.12 as printed: against its own minimum by scipy, and against what it is refuted by."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from scipy.optimize import minimize

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.divergences import Mixture, renyi_mixtures, s_down
from lastiterate.numeric.losses.assumptions import Holder, Smooth
from lastiterate.numeric.published.altschuler_talwar import equation_b_2, smaller_direction
from lastiterate.numeric.published.chien_li import _tracked_to_the_last_step, theorem_3_12
from lastiterate.numeric.run import NoisySGD

ACCEPTANCE = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
RUN = NoisySGD(40, 0.1, 0.1, 1.0, dataset_size=40, batch_size=4, sampling="without_replacement", diameter=0.3)


def test_the_setting_that_refutes_it() -> None:
    claimed = theorem_3_12(ACCEPTANCE, Holder(1.0, 1.0), 20.0)
    assert claimed == pytest.approx(0.0807336, abs=1e-7)
    opposite = renyi_mixtures(Mixture(0.1, 0, 1), Mixture(0.1, 0, -1), alpha=20)
    assert round(opposite.lower, 7) == 7.6815868
    ours = bound(ACCEPTANCE, Smooth(1.0), order=20.0).epsilon
    assert claimed < opposite.lower < ours <= 37.5763


@pytest.mark.parametrize(("L", "hoelder"), [(0.5, 1.0), (0.02, 0.5), (0.0, 1.0)])
def test_close_to_its_minimum(L: float, hoelder: float) -> None:
    """(19) over all shares and shifts of each window, by L-BFGS-B on the printed program."""
    order, scale = 3.0, 3.0 / (2 * RUN.noise_std_at(0) ** 2)
    grid = np.linspace(0.02, 1.0, 99)
    prices = np.array([s_down(0.1, 0.1 * share**0.5, alpha=order, shift=0.05).upper for share in grid])
    start, weight = _tracked_to_the_last_step(RUN, L, hoelder), 0.1 * L

    def value(x: np.ndarray, w: int) -> float:
        beta, rest, z, total = x[:w], x[w:], start, 0.0
        for t in range(w):
            ahead = z + weight * z**hoelder
            z = ahead * rest[t] if t < w - 1 else 0.0
            total += float(np.interp(beta[t], grid, prices)) + scale * (ahead - z) ** 2 / (1 - beta[t])
        return total

    best = RUN.steps * prices[-1]
    for w in (3, 6, 10):
        first = np.concatenate([np.full(w, 0.4), 1 - 1 / np.arange(w + 1, 1, -1)])
        bounds = [(0.03, 0.97)] * w + [(0.0, 1.0)] * w
        best = min(best, minimize(value, first, args=(w,), method="L-BFGS-B", bounds=bounds).fun)
    assert best * (1 - 0.05) <= theorem_3_12(RUN, Holder(L, hoelder), order) <= best * (1 + 0.02)


def test_composition_on_an_endless_domain_and_no_smoothness_is_altschuler_talwar() -> None:
    endless = replace(RUN, diameter=inf, steps=500)
    whole = 500 * smaller_direction(RUN, 2.0)
    assert theorem_3_12(endless, Holder(5.0, 1.0), 2.0) == pytest.approx(whole, rel=1e-9)
    long = replace(RUN, steps=5000)
    assert theorem_3_12(long, Holder(0.0, 1.0), 2.0) <= equation_b_2(long, Smooth(0.0), 2.0)


@pytest.mark.nightly
def test_a_wider_domain_costs_more_and_no_less_than_one_step() -> None:
    long = replace(RUN, steps=400)
    values = [theorem_3_12(replace(long, diameter=D), Holder(0.3, 0.7), 2.0) for D in (0.01, 0.1, 0.3, 1.0)]
    assert smaller_direction(RUN, 2.0) < values[0] < values[1] < values[2] <= values[3]


def test_tracking() -> None:
    assert _tracked_to_the_last_step(RUN, 1.0, 1.0) == 0.3
    short = replace(RUN, steps=3, diameter=inf)
    one = 0.05
    two = min(one + 0.1 * 0.75 * one**0.5 + 0.05, one + 0.2)
    assert _tracked_to_the_last_step(short, 1.0, 0.5) == pytest.approx(two, rel=1e-11)
    assert _tracked_to_the_last_step(replace(short, steps=1), 1.0, 0.5) == 0
    assert _tracked_to_the_last_step(replace(short, diameter=0.3), 1.0, 0.5) == pytest.approx(two, rel=1e-11)
    assert _tracked_to_the_last_step(replace(short, diameter=0.11), 1.0, 0.5) == 0.11, (
        "two steps without growth reach 0.1"
    )
    assert _tracked_to_the_last_step(replace(short, steps=100_002), 1.0, 0.5) == inf, "not followed so far"


def test_ours_pays_more_where_both_orders_count() -> None:
    assert bound(RUN, Holder(0.02, 0.5), order=3.0).epsilon > theorem_3_12(RUN, Holder(0.02, 0.5), 3.0)
