"""A bound at every order and every delta, and the profile of all (epsilon, delta)."""

from dataclasses import replace
from math import exp, inf, sqrt

import pytest
from hockey_stick import hockey_stick_gaussian, hockey_stick_mixtures
from scipy.stats import norm

import lastiterate as li
from lastiterate.numeric.accounting.conversion import gdp_delta
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.bound import Bound
from lastiterate.numeric.divergences import Mixture

_RUN = li.NoisySGD(30, step_size=0.1, noise_std=0.5, clip_norm=1.0, dataset_size=12, diameter=1.0)
_SCHEMES = ("full", "cyclic", "shuffled", "without_replacement", "poisson")


def _run(sampling: str) -> li.NoisySGD:
    batch = None if sampling == "full" else 3
    return li.NoisySGD(12, 0.1, 0.5, 1.0, dataset_size=12, batch_size=batch, sampling=sampling, diameter=1.0)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("sampling", _SCHEMES)
def test_one_type_answers_every_question(sampling: str) -> None:
    asked = li.bound(_run(sampling), li.Convex(1.0), order=4.0)
    other = li.bound(_run(sampling), li.Convex(1.0), delta=1e-4)
    assert type(asked) is type(other) is Bound
    elsewhere = li.bound(_run(sampling), li.Convex(1.0), order=2.0).epsilon
    for one in (asked, other):
        assert one.rdp(4.0) == asked.epsilon
        assert one.dp(1e-4) == other.epsilon
        assert one.rdp(2.0) == elsewhere
        assert set(one.as_dict()) == set(asked.as_dict())
        assert (one.mu is None) == (one.cost is None)
        assert one.claim
    assert asked.order == 4.0
    assert asked.delta is None
    assert other.delta == 1e-4
    for order in (1.0, inf):
        with pytest.raises(li.InputError, match="order="):
            asked.rdp(order)
    with pytest.raises(li.InputError, match="delta=0"):
        asked.dp(0.0)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("sampling", _SCHEMES)
def test_the_profile_is_the_inverse_of_dp(sampling: str) -> None:
    found = li.bound(_run(sampling), li.Convex(1.0), order=2.0)
    profile = found.profile()
    for delta in (1e-4,):
        assert profile(found.dp(delta)) <= delta * 1.2, "above only by what the two conversions are apart"
    deltas = [profile(epsilon) for epsilon in (0.05, 0.5)]
    assert all(0 < one < 1 for one in deltas)
    assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize("sampling", _SCHEMES)
def test_at_its_own_epsilon_the_profile_is_at_most_its_delta(sampling: str) -> None:
    for delta in (1e-6, 1e-2):
        found = li.bound(_run(sampling), li.Convex(1.0), delta=delta)
        assert found.profile()(found.epsilon) <= delta


_RUN_OF_A_PAIR = li.NoisySGD(20, 0.5, 0.5, 1.0, 5, 1, "shuffled", diameter=3.0)


@pytest.mark.parametrize("sampling", ["shuffled", "cyclic"])
@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (li.Minimum(li.Smooth(1.0), li.Clipped()), li.Smooth(1.0)),
        (li.Minimum(li.Smooth(1.0), li.Convex(1.0)), li.Convex(1.0)),
        (li.StronglyConvex(1.0, 0.01), li.Convex(1.0)),
        (li.Convex(1.0), li.Smooth(1.0)),
        (li.Smooth(1.0), li.Smooth(100.0)),
        (li.Smooth(100.0), li.Clipped()),
    ],
    ids=repr,
)
def test_a_smaller_class_of_losses_has_no_larger_bound(
    sampling: str, smaller: li.Assumption, larger: li.Assumption
) -> None:
    run = replace(_RUN_OF_A_PAIR, sampling=sampling)
    found, wider = (li.bound(run, one, order=2.0) for one in (smaller, larger))
    assert found.epsilon <= wider.epsilon * (1 + 1e-9)
    if found.candidate.within is not None:
        assert found.certificate(weaker=True)["class"] == wider.certificate(weaker=True)["class"]


def test_the_profile_of_a_gaussian_is_exact_at_every_epsilon() -> None:
    found = li.bound(replace(_RUN, diameter=inf), li.Smooth(1.0), order=2.0)
    profile, mu = found.profile(), found.mu
    assert mu is not None
    for epsilon in (0.0, 0.3, 2.0):
        assert profile(epsilon) == gdp_delta(mu, epsilon)
    for epsilon in (-3.0, -0.2, 0.0, 0.4):
        exactly = norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        assert exactly * (1 - 1e-12) <= profile(epsilon) <= exactly * (1 + 1e-9)
    with pytest.raises(li.InputError, match="epsilon=inf"):
        profile(inf)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(("q", "noise"), [(0.05, 1.0), (0.5, 0.7), (0.01, 4.0)])
def test_delta_of_one_step_is_the_worse_direction(q: float, noise: float, adjacency: str) -> None:
    pair = DominatingPair(0.0, (SampledSteps(q, noise, adjacency, 1),))
    mixture, base = Mixture(q, 0.0, 1.0), Mixture(0.0, 0.0, 1.0)
    for epsilon in (0.0, 0.02, 0.3, 1.0):
        t = exp(epsilon)
        if adjacency == "replace":
            exactly = [q * hockey_stick_gaussian(1.0, noise, t=1 + (t - 1) / q).lower]
        else:
            exactly = [
                hockey_stick_mixtures(*laws, noise, t=t).lower for laws in ((mixture, base), (base, mixture))
            ]
        assert max(exactly) <= pair.delta(epsilon) <= 1.05 * max(exactly) + 1e-9


def test_a_chance_of_failure_is_added_to_delta() -> None:
    steps = (SampledSteps(0.1, 2.0, "replace", 50),)
    sure, failing = DominatingPair(0.1, steps), DominatingPair(0.1, steps, failure=1e-3)
    assert failing.delta(0.5) == pytest.approx(sure.delta(0.5) + 1e-3, rel=1e-12)
    assert (sure.mu, sure.gaussian, failing.gaussian) == (pytest.approx(sqrt(0.1)), False, False)
    assert DominatingPair(0.0).delta(0.0) == 0.0


def test_an_estimate_of_any_scheme_is_no_bound() -> None:
    for sampling in _SCHEMES:
        found = li.estimate(_run(sampling), li.Measured(li.Convex(1.0), "a measurement"), order=2.0)
        assert not isinstance(found, Bound)
        assert found.epsilon == li.bound(_run(sampling), li.Convex(1.0), order=2.0).epsilon
