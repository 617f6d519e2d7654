"""The simulation engine: intervals that hold the mean, answers that respect them, and input that is refused."""

import numpy as np
import pytest
import sympy as sp
from scipy import stats

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.simulation import FAILURE, GROUPS, interval
from lastiterate.proofs_checks.experiments import EXPERIMENTS, EventIndicator, Experiment, Moment, ValueRange
from lastiterate.proofs_checks.statement import as_text, of_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Simulated
from lastiterate.symbolic.notation import K, b, dim, eta, p, sigma_dp, stab

AT_MOST, EQUAL = "<=", "=="
HALF = sp.Rational(1, 2)
NOISE = {dim: 5, eta: HALF, sigma_dp: 2}
TRUE = [
    Simulated("noise_energy", EQUAL, dim * eta**2 * sigma_dp**2, NOISE, HALF),
    Simulated("clipping_excess", EQUAL, p * K, {p: sp.Rational(1, 4), K: 1}, sp.Rational(1, 50)),
    Simulated("batch_energy", EQUAL, K**2 * (1 + 1 / b) / 4, {b: 4, K: 1}, sp.Rational(1, 50)),
    Simulated("normalised_gradient", AT_MOST, sp.Integer(0), {stab: sp.Rational(1, 10)}),
]
FALSE = [
    Simulated("noise_energy", EQUAL, eta**2 * sigma_dp**2, NOISE),
    Simulated("batch_energy", AT_MOST, K**2 / (2 * b), {b: 4, K: 1}),
]


@pytest.mark.parametrize("check", TRUE)
def test_true_means_hold_and_the_interval_is_stated(check):
    outcome = decide_check(check, ())
    assert outcome.status is Status.HELD, outcome
    assert outcome.grade is Grade.SIMULATED
    assert "confidence 1 - 1e-09" in outcome.detail
    assert outcome == decide_check(check, ())


@pytest.mark.parametrize("check", FALSE)
def test_false_means_are_refuted_with_the_interval(check):
    outcome = decide_check(check, ())
    assert outcome.status is Status.REFUTED, outcome
    assert "seed" in outcome.counterexample.note


def test_an_interval_that_reaches_past_the_tolerance_decides_nothing():
    check = Simulated("noise_energy", EQUAL, dim * eta**2 * sigma_dp**2, NOISE, sp.Rational(1, 100))
    assert decide_check(check, ()).status is Status.UNDECIDED


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (Simulated("nothing", EQUAL, sp.Integer(1), {}), "quantity must"),
        (Simulated("noise_energy", EQUAL, sp.Integer(1), {dim: 5}), "parameters must"),
        (Simulated("noise_energy", "<", sp.Integer(1), NOISE), "relation must"),
        (Simulated("noise_energy", EQUAL, K, NOISE), "value and tolerance must"),
        (Simulated("noise_energy", EQUAL, sp.oo, NOISE), "finite"),
    ],
)
def test_what_cannot_be_simulated_is_an_error(check, why):
    outcome = decide_check(check, ())
    assert outcome.status is Status.ERROR
    assert why in outcome.detail


def test_parameters_outside_the_assumptions_are_an_error():
    assert decide_check(TRUE[0], (dim > 6,)).status is Status.ERROR


def test_a_draw_outside_the_promised_range_is_refused():
    experiment = Experiment(frozenset(), 2, lambda *_: np.zeros(2), ValueRange(lambda _: 0.0, lambda _: 1.0))
    with pytest.raises(InputError, match="draws must lie"):
        interval(experiment, np.array([0.5, 2.0]), {})


@pytest.mark.parametrize("successes", [0, 1, 300, 999, 1000])
def test_the_interval_of_a_proportion_is_exact_at_its_ends(successes):
    """The oracle: beyond each end the binomial tail is at most half of the failure probability, and at 300 equal."""
    indicator = Experiment(frozenset(), 1000, lambda *_: np.zeros(1), EventIndicator())
    draws = np.zeros(1000)
    draws[:successes] = 1
    low, high = interval(indicator, draws, {})
    assert low <= successes / 1000 <= high
    if successes:
        assert stats.binom.sf(successes - 1, 1000, low) <= FAILURE / 2 * (1 + 1e-6)
    if successes < 1000:
        assert stats.binom.cdf(successes, 1000, high) <= FAILURE / 2 * (1 + 1e-6)
    if successes == 300:
        assert stats.binom.sf(successes - 1, 1000, low) == pytest.approx(FAILURE / 2, rel=1e-4)
        assert stats.binom.cdf(successes, 1000, high) == pytest.approx(FAILURE / 2, rel=1e-4)


def test_the_number_of_groups_is_enough_for_the_failure_probability():
    assert stats.binom.sf((GROUPS - 1) // 2, GROUPS, 0.25) < FAILURE / 2


@pytest.mark.parametrize("name", [name for name, e in EXPERIMENTS.items() if isinstance(e.known, Moment)])
def test_second_moments_are_those_of_the_draws(name):
    experiment = EXPERIMENTS[name]
    at = {"dim": 6.0, "ell": 3.0, "sigma_A": 1.0, "nu": 1.0, "eta": 0.5, "sigma_DP": 2.0}
    draws = experiment.draw(np.random.default_rng(1), 400_000, at)
    assert np.mean(draws**2) == pytest.approx(experiment.known.second(at), rel=0.05)


def test_intervals_of_the_median_of_means_hold_the_mean():
    experiment, at = EXPERIMENTS["noise_energy"], {"dim": 2.0, "eta": 1.0, "sigma_DP": 1.0}
    for seed in range(50):
        low, high = interval(experiment, experiment.draw(np.random.default_rng(seed), 3020, at), at)
        assert low <= 2.0 <= high


def test_the_formula_names_quantity_parameters_and_tolerance():
    shown = as_text(of_check(TRUE[0]))
    assert "E[noise energy]" in shown
    assert "<= 1/2" in shown
    assert "dim = 5" in shown


def test_the_least_gradient_along_a_run_is_at_most_the_last():
    """Without noise the slopes of the example cancel and every run stays where it starts."""
    experiment = EXPERIMENTS["stalled_gradient"]
    at = {"T": 20.0, "eta": 0.02, "nu": 0.0, "stab": 1 / 12}
    draws = experiment.draw(np.random.default_rng(0), 100, at)
    assert draws == pytest.approx(np.full(100, 56 / 9))
    moved = experiment.draw(np.random.default_rng(0), 100, at | {"nu": 50.0, "T": 200.0})
    assert moved.min() < 56 / 9
