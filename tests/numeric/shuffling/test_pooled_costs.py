"""Means over cases, drifts and their inverses, and single participations."""

from math import inf

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.losses.expansion import PowerDrift
from lastiterate.numeric.shuffling import shuffled
from lastiterate.numeric.shuffling.epoch_value_iteration import pool
from lastiterate.numeric.shuffling.shuffled import Epochs, each_by_itself

_VALUES = st.lists(st.floats(0, 6).map(lambda power: 10.0**power), min_size=1, max_size=6)


@given(_VALUES, st.floats(-6, 2).map(lambda power: 10.0**power))
@settings(max_examples=300)
def test_the_mean_is_rounded_up_and_never_above_the_greatest(values: list[float], kappa: float) -> None:
    found = float(pool(np.array(values)[:, None], kappa)[0])
    with mpmath.workdps(60):
        exact = (
            mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(kappa) * one) for one in values) / len(values)) / kappa
        )
        assert exact <= found * (1 + mpmath.mpf(10) ** -55)
    assert found <= max(values)
    assert found <= float(exact) * (1 + 1e-9) + 1e-12 / kappa
    assert float(pool(np.array(values)[:, None], None)[0]) == max(values)


def test_close_to_the_greatest_rounding_shows() -> None:
    """Nearly equal values of a million: to the nearest float, half of the means would be too small."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        values = 1e6 - draw.uniform(0, 1e-3, 3)
        found = float(pool(values[:, None], 50.0)[0])
        with mpmath.workdps(60):
            exact = (
                mpmath.log(mpmath.fsum(mpmath.exp(50 * mpmath.mpf(one)) for one in values.tolist()) / 3) / 50
            )
        assert exact <= found <= exact + mpmath.mpf("2e-9")


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.9, 0.1], [0.001, 0.999]])
def test_cases_have_their_chances(weights: list[float]) -> None:
    values = np.array([3.0, 1.0])
    found = float(pool(values[:, None], 0.7, np.array(weights))[0])
    assert found == pytest.approx(np.log(np.exp(0.7 * values) @ weights) / 0.7, rel=1e-12)
    assert pool(np.array([[inf], [1.0]]), 0.7)[0] == inf


@given(
    st.floats(-3, 3).map(lambda power: 10.0**power),
    st.sampled_from([1.0, 0.75, 0.5, 0.1, 0.01]),
    st.sampled_from([inf, 3.0, 0.1]),
    st.floats(-10, 4).map(lambda power: 10.0**power),
)
@settings(max_examples=300)
def test_the_inverse_is_rounded_down_and_close(weight: float, order: float, cap: float, y: float) -> None:
    """g(h(y)) <= y, with g in 50 digits; and hardly less, but where powers of floats vanish."""
    drift = PowerDrift(weight, order, cap)
    x = float(drift.inverse(np.array([y]))[0])
    assert x >= 0

    def g(place: mpmath.mpf) -> mpmath.mpf:
        return place + min(mpmath.mpf(weight) * place ** mpmath.mpf(order), mpmath.mpf(cap))

    with mpmath.workdps(50):
        assert g(mpmath.mpf(x)) <= y
        if x > 1e-290:
            assert g(mpmath.mpf(x) * (1 + mpmath.mpf(10) ** -9)) >= y * (1 - mpmath.mpf(10) ** -9)
        elif cap == inf and order > 0.1:
            assert y < 1e-9
    slope = float(drift.slope(np.array([x]))[0])
    assert slope >= 1
    if x > 1e-200 and weight * x**order < 0.99 * cap:
        assert slope == pytest.approx(1 + weight * order * x ** (order - 1), rel=1e-9)
    assert drift.slope(np.zeros(1))[0] == 1


def test_without_a_modulus_only_the_cap_is_known() -> None:
    drift = PowerDrift(inf, 1.0, 2.0)
    assert drift.inverse(np.array([1.0, 2.0, 5.0])) == pytest.approx([0.0, 0.0, 3.0], rel=1e-14)
    assert drift.slope(np.array([1.0])) == 1
    assert PowerDrift(0.0, 1.0).inverse(np.array([5.0])) == pytest.approx(5.0, rel=1e-13)


@pytest.mark.parametrize(("steps", "batches"), [(12, 4), (13, 4), (3, 4), (300, 60)])
@pytest.mark.parametrize("kappa", [0.5, 6.0])
def test_single_participations_by_the_closed_form(steps: int, batches: int, kappa: float) -> None:
    """With g(z) = c z hiding s over a participation and k free steps costs s^2 / (1 + c^-2 + .. + c^-2k)."""
    c, s = 2.0, 0.3
    costs = s**2 / np.cumsum(c ** (-2.0 * np.arange(batches)))
    rest = steps % batches
    cut = np.append(costs[:rest], np.zeros(batches - rest))
    exact = sum(
        times * np.log(np.mean(np.exp(kappa * part))) / kappa
        for times, part in ((steps // batches, costs), (int(rest > 0), cut))
    )
    found = each_by_itself(PowerDrift(c - 1, 1.0), Epochs(steps, batches, s), kappa)
    assert exact <= found <= exact * (1 + 2e-3)


def test_places_beyond_the_longest_path_cost_as_much_as_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty places of which only three costs are known: of all places the mean, not of three."""
    monkeypatch.setattr(shuffled, "_LONGEST", 3)
    shuffled.by_itself.cache_clear()
    c, s, kappa = 2.0, 0.3, 6.0
    costs = s**2 / np.cumsum(c ** (-2.0 * np.arange(60)))
    costs[3:] = costs[2]
    exact = np.log(np.mean(np.exp(kappa * costs))) / kappa
    found = each_by_itself(PowerDrift(c - 1, 1.0), Epochs(60, 60, s), kappa)
    shuffled.by_itself.cache_clear()
    assert exact <= found <= exact * (1 + 2e-3)


def test_composition_pays_for_each_participation() -> None:
    assert Epochs(12, 4, 0.5).composition(1.0) == pytest.approx(3 * 0.25)
    assert Epochs(13, 4, 0.5).composition(None) == pytest.approx(4 * 0.25)
    cut = np.log(0.75 + 0.25 * np.exp(0.25))
    assert Epochs(13, 4, 0.5).composition(1.0) == pytest.approx(3 * 0.25 + cut)
    assert Epochs(12, 4, 0.5).composition(1.0) > 3 * 0.25
