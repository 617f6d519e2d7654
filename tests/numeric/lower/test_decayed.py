"""Linear losses under weight decay, random batches: below the truth, near it, and below every bound."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import lastiterate as li
from lastiterate.numeric.lower import bounds, line, lower_bounds

RUN = li.NoisySGD(8, 1.0, 1.0, 20.0, dataset_size=40, batch_size=8, sampling="poisson", weight_decay=0.2)


def _truth(run: li.NoisySGD, delta: float) -> float:
    """Epsilon of all 2^T ways to meet the sample, by half lines, in floats."""
    c, rate = 1 - run.step_size_at(0) * run.weight_decay, run.batch / run.dataset_size
    move = run.step_size_at(0) * run.clip_norm / run.batch
    deviation = np.sqrt(sum(c ** (2 * k) for k in range(run.steps))) * run.noise_std_at(0)
    places = np.linspace(-5, 30, 4000)
    above = np.zeros_like(places)
    for met in product((0, 1), repeat=run.steps):
        weight = np.prod([rate if one else 1 - rate for one in met])
        centre = move * sum(c**k * one for k, one in enumerate(met))
        above += weight * norm.sf((places - centre) / deviation)
    plain = norm.sf(places / deviation)
    return float(brentq(lambda x: np.max(above - np.exp(x) * plain) - delta, 0, 40))


@pytest.mark.parametrize("decay", [0.02, 0.2, 1.0])
def test_it_is_below_the_truth_and_near_it(decay: float) -> None:
    run = replace(RUN, weight_decay=decay)
    found, truth = li.lower_bound(run, li.Convex(0.5), delta=1e-3), _truth(run, 1e-3)
    assert 0.97 * truth < found.value <= truth
    assert "linear losses" in found.witness
    assert found.value <= li.bound(run, li.Convex(0.5), delta=1e-3).epsilon


def test_weights_of_places_are_those_of_all_ways_to_meet_the_sample() -> None:
    powers = np.array([1.0, 0.5, 0.25])
    law = line._decayed_law(powers, Fraction(1, 4), 2, 1.0, 1.0)
    places = np.zeros(1), np.ones(1)
    for power in powers:
        places = np.append(places[0], places[0] + power), np.append(places[1] * 3 / 4, places[1] / 4)
    order = np.argsort(places[0])
    at, weights = places[0][order], places[1][order]
    assert law.places.shape == at.shape
    assert np.all((at - 0.01 < law.places) & (law.places <= at))
    assert np.all((law.low <= weights * (1 + 1e-15)) & (weights <= law.high * (1 + 1e-15)))
    np.testing.assert_allclose(law.low, law.high, rtol=1e-9)
    assert law.missing == 0


def test_rounding_up_would_be_above_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "_SLACK", -0.05)
    assert li.lower_bound(RUN, li.Convex(0.5), delta=1e-3).value > _truth(RUN, 1e-3)


def test_quadratics_with_random_batches_are_below_the_truth_and_near_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Curvature contracts as decay does; an interval that is often left shows nothing."""
    run = replace(
        RUN, sampling="without_replacement", adjacency="", weight_decay=0.0, clip_norm=RUN.clip_norm / 2
    )

    def found() -> float:
        of = lower_bounds(run, li.StronglyConvex(1.0, 0.2), delta=1e-3)
        return next(one.value for one in of if "all others at -K" in one.witness)

    truth = _truth(RUN, 1e-3)
    assert 0.97 * truth < found() <= truth
    monkeypatch.setattr(bounds, "_OUTLIERS", 1.0)
    assert found() == 0.0


@pytest.mark.nightly
def test_long_runs_under_every_scheme_are_below_their_bounds() -> None:
    for sampling, steps in (("poisson", 10**6), ("without_replacement", 100)):
        run = replace(RUN, sampling=sampling, adjacency="", steps=steps, weight_decay=0.01)
        for target in ({"delta": 1e-5}, {"order": 4.0}):
            below, above = (f(run, li.Convex(0.5), **target) for f in (li.lower_bound, li.bound))
            assert 0 < below.value <= above.epsilon
