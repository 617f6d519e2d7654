"""Binomial tails, against exact sums."""

from fractions import Fraction
from math import comb, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastiterate.numeric.accounting.batches import (
    least_range,
    outcome_distance,
    size_ranges,
    step_multiplier,
    tail_from,
)
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD

RATES = st.fractions(0, 1, max_denominator=50)


def exact_tail(count: int, rate: Fraction, least: int) -> Fraction:
    return sum(
        (comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(max(least, 0), count + 1)),
        Fraction(0),
    )


@given(st.integers(1, 40), RATES, st.integers(-2, 45))
def test_a_tail_is_never_below_the_sum(count: int, rate: Fraction, least: int) -> None:
    found, truth = tail_from(count, rate, least), exact_tail(count, rate, least)
    assert truth <= found <= 1
    if count * rate < least / 2:
        assert found <= 3 * truth


@pytest.mark.parametrize(("rate", "least", "found"), [(0, 1, 0.0), (0, 0, 1.0), (1, 5, 1.0), (1, 6, 0.0)])
def test_rates_0_and_1_are_exact(rate: int, least: int, found: float) -> None:
    assert tail_from(5, Fraction(rate), least) == found


@given(st.integers(1, 60), RATES, st.floats(1e-12, 0.5), st.booleans())
def test_a_range_is_left_with_at_most_the_chance_that_is_said(
    count: int, rate: Fraction, chance: float, both: bool
) -> None:
    low, high, said = least_range(count, rate, log(chance), both=both)
    assert 0 <= low <= high <= count
    assert both or low == 0
    inside = exact_tail(count, rate, low) - exact_tail(count, rate, high + 1)
    assert 1 - inside <= said
    if high < count:
        assert tail_from(count, rate, high + 1) <= chance * (1 + 1e-9)


def test_ranges_of_a_schedule_are_left_with_at_most_the_probability_of_each_step() -> None:
    sizes = [1, 2, 5, 11, 17]
    run = NoisySGD(5, 0.1, 1.0, 1.0, dataset_size=40, batch_size=sizes, sampling="poisson")
    low, high, said = size_ranges(run, log(1e-4), both=True)
    assert isinstance(low, tuple)
    assert isinstance(high, tuple)
    for size, least, most in zip(sizes, low, high, strict=True):
        rate = Fraction(size, 40)
        assert 1 - exact_tail(39, rate, least) + exact_tail(39, rate, most + 1) <= said < 3e-4


@pytest.mark.parametrize(("adjacency", "samples"), [("replace", 2), ("add_remove", 1)])
@given(st.floats(0.1, 10), st.floats(0.001, 1), st.floats(0.01, 10), st.integers(1, 49))
def test_moves_are_rounded_up_and_multipliers_down(
    adjacency: str, samples: int, clip_norm: float, eta: float, noise: float, size: int
) -> None:
    sampling = "without_replacement" if adjacency == "replace" else "poisson"
    run = NoisySGD(1, eta, noise, clip_norm, dataset_size=49, batch_size=size, sampling=sampling)
    move = samples * Fraction(clip_norm) / size
    with precision():
        found, multiplier = outcome_distance(run), step_multiplier(run, eta, noise)
    assert run.adjacency == adjacency
    assert move <= Fraction(found) <= move * (1 + Fraction(2) ** -52)
    whole = Fraction(noise) / (Fraction(eta) * move)
    assert whole * (1 - Fraction(2) ** -51) <= Fraction(multiplier) <= whole
