"""Far prices of Poisson batches: means over sizes, of which the large ones move points apart."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

import lastiterate as li
from lastiterate.numeric.contraction import random_batches
from lastiterate.numeric.contraction.chain import Goal

_CURVED = li.Convex(0.25)


def _run(batch_size: int) -> li.NoisySGD:
    """A run whose step size is half of what is allowed: twice the expected size, and points move apart."""
    return li.NoisySGD(2000, 4.0, 0.08, 1.0, 4000, batch_size=batch_size, sampling="poisson", diameter=1.0)


def _theta(mu: float, g: np.ndarray) -> np.ndarray:
    return np.asarray(norm.cdf(mu / 2 - np.log(g) / mu) - g * norm.cdf(-mu / 2 - np.log(g) / mu))


def _ratios(order: float | None, delta: float | None) -> np.ndarray:
    """The price of a step from the diameter, over the mean over every size that its batch may have."""
    run = li.NoisySGD(50, 4.0, 0.4, 1.0, 60, batch_size=3, sampling="poisson", diameter=1.0)
    made = random_batches._prices(run, _CURVED, [(0, 1)], Goal(order, delta, 1.0, lambda _: 1.0))
    assert made is not None
    g, sizes, rate = np.exp(np.linspace(0, 20, 60)), np.arange(60), 3 / 60
    exact = np.zeros_like(g)
    for size, chance in zip(sizes, binom.pmf(sizes, 59, rate), strict=True):
        apart = max(1.0, size / 3 - 1) / 0.4
        exact += chance * ((1 - rate) * _theta(apart, g) + rate * _theta(apart + 4 / 3 / 0.4, g))
    seen = exact > 1e-11
    return np.asarray(made[1](g)[seen] / exact[seen])


@pytest.mark.parametrize(("order", "delta"), [(None, 1e-5), (8.0, None)])
def test_the_price_is_above_the_mean_over_sizes_and_near_it(order: float | None, delta: float | None) -> None:
    found = _ratios(order, delta)
    assert np.all(found >= 1 - 1e-9)
    assert np.max(found) < 4


def test_sizes_that_are_left_out_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = random_batches._sizes
    monkeypatch.setattr(random_batches, "_sizes", lambda *given: [(*sound(*given)[0][:2], 0.0)])
    assert np.any(_ratios(None, 1e-5) < 1)


@pytest.mark.parametrize("length", [1, 50])
def test_a_window_counts_each_of_its_batches(length: int) -> None:
    """The probability that one of ``length`` independent sizes is outside a range."""
    run = li.NoisySGD(50, 4.0, 0.4, 1.0, 60, batch_size=3, sampling="poisson", diameter=1.0)
    for low, high, outside in random_batches._sizes(run, _CURVED, length, Goal(None, 1e-5, 1.0, lambda _: 1.0)):
        once = binom.cdf(low - 1, 59, 3 / 60) + binom.sf(high, 59, 3 / 60)
        exact = -np.expm1(length * np.log1p(-once))
        assert exact <= outside * (1 + 1e-9)
        assert outside <= min(1.0, 2 * length * once)


def test_the_uses_that_cost_most_are_counted() -> None:
    """Equal shifts, since the losses are convex: of all steps that may use the sample, those that move it furthest."""
    moves = (
        np.array([0.4, 0.1, 0.3, 0.2]) * 2 / 2 / 0.5
    )  # in units of the noise; two outcomes lie 2 K / b apart
    run = li.NoisySGD(
        4, (0.4, 0.1, 0.3, 0.2), 0.5, 1.0, 8, batch_size=2, sampling="without_replacement", diameter=1.0
    )
    found = random_batches._shifts(run, li.Convex(1.0), 0, 4, (2, 2), [0, 1, 2, 3, 4])
    shift = 1.0 / 4 / 0.5
    for times, mu in enumerate(found):
        met = [np.isin(np.arange(4), some) for some in combinations(range(4), times)]
        most = max(sqrt(np.sum((shift + moves * some) ** 2)) for some in met)
        assert most * (1 - 1e-12) <= mu <= most * (1 + 1e-6)


@pytest.mark.nightly
def test_no_cliff_in_the_batch_size() -> None:
    """A batch of twice the expected size once cost as much as if it were usual, where it was not rare enough."""
    at_a_delta = [li.bound(_run(b), _CURVED, delta=1e-5).epsilon for b in (56, 60, 70)]
    assert at_a_delta == sorted(at_a_delta, reverse=True)
    assert at_a_delta[0] <= 0.81
    at_an_order = [li.bound(_run(b), _CURVED, order=8).epsilon for b in (80, 400)]
    assert at_an_order == sorted(at_an_order, reverse=True)
    assert at_an_order[0] <= 1.3 * at_an_order[-1]
