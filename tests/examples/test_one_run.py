"""Audits in one training: mechanisms reach the probability of many right guesses, and no limit exceeds the truth."""

import doctest
from dataclasses import replace
from itertools import combinations, product
from math import exp

import numpy as np
import one_run as one_run_module
import pytest
from numpy.typing import NDArray
from one_run import OneRun, _least_delta, _least_epsilon, _pure_epsilon, one_run
from scipy.optimize import linprog
from scipy.sparse import lil_array
from scipy.stats import binom

from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD

AUDITS = 1000
DOUBT = 0.05
SMALL = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
"""Canaries and guesses."""


def stated(canaries: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """The theorem: the greatest probability of so many right guesses."""
    law = binom(guessed, 1 / (1 + exp(-epsilon)))
    tail = law.sf(right - 1)
    return float(tail + canaries * delta * tail * (1 - tail) / (right * law.pmf(right)))


def published(canaries: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """Steinke, Nasr & Jagielski 2023, Corollary 5.4, as the code of their appendix D has it."""
    law = binom(guessed, 1 / (1 + exp(-epsilon)))
    tail = law.sf(right - 1)
    slope = max((law.sf(right - i - 1) - tail) / i for i in range(1, right + 1))
    return float(tail + 2 * canaries * delta * slope)


def worst(canaries: int, guessed: int, right: int, epsilon: float, delta: float) -> NDArray[np.float64]:
    """The mechanism that the proof names: P(answer | coins), answers 0 and 1, 2 where a coin is not guessed."""
    law = binom(guessed, 1 / (1 + exp(-epsilon)))
    jump = canaries * delta / (right * law.pmf(right))
    coins = np.array(list(product((0, 1), repeat=canaries)))
    answers = np.array(
        [row for row in product((0, 1, 2), repeat=canaries) if row.count(2) == canaries - guessed]
    )
    agree = (coins[:, None] == answers[None]).sum(axis=2)
    layer = 1 + jump * ((agree >= right) - law.sf(right - 1))
    found = layer * np.exp(agree * epsilon) / (1 + exp(epsilon)) ** guessed
    return found / len(list(combinations(range(canaries), guessed)))  # type: ignore[no-any-return]


def exceeds(mechanism: NDArray[np.float64], canaries: int, epsilon: float) -> float:
    """The least delta of a mechanism, over all coins and the change of each."""
    flipped = [np.arange(2**canaries) ^ (1 << i) for i in range(canaries)]
    return max(
        float(np.maximum(mechanism - exp(epsilon) * mechanism[one], 0).sum(axis=1).max()) for one in flipped
    )


@pytest.mark.parametrize(("canaries", "guessed"), SMALL)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.01), (1.0, 0.01), (2.0, 0.003)])
def test_the_chance_of_the_theorem_is_reached_and_never_exceeded(
    canaries: int, guessed: int, epsilon: float, delta: float
) -> None:
    """Reached by the mechanism of the proof; greatest among all mechanisms, by linear programming over them."""
    for right in range(1, guessed + 1):
        found = worst(canaries, guessed, right, epsilon, delta)
        assert found.min() >= 0
        assert found.sum(axis=1) == pytest.approx(1)
        assert exceeds(found, canaries, epsilon) == pytest.approx(delta, rel=1e-9)
        most = stated(canaries, guessed, right, epsilon, delta)
        assert _greatest_chance(canaries, guessed, right, epsilon, delta) == pytest.approx(most, rel=1e-6)
        assert float(_least_delta(canaries, guessed, right, most, np.array(epsilon))) == pytest.approx(
            delta, rel=1e-6
        )


def _greatest_chance(canaries: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """The greatest P(so many right) of (epsilon, delta)-DP mechanisms, a linear program in their probabilities."""
    coins = np.array(list(product((0, 1), repeat=canaries)))
    answers = np.array(
        [row for row in product((0, 1, 2), repeat=canaries) if row.count(2) == canaries - guessed]
    )
    agree = (coins[:, None] == answers[None]).sum(axis=2)
    shape = (len(coins), len(answers))
    chances = np.arange(shape[0] * shape[1]).reshape(shape)
    pairs = shape[0] * canaries
    limits = lil_array((pairs * shape[1] + pairs, chances.size + pairs * shape[1]))
    most = np.zeros(limits.shape[0])
    for pair, (row, coin) in enumerate(product(range(shape[0]), range(canaries))):
        excess = pair * shape[1] + np.arange(shape[1])
        for k, here, there in zip(excess, chances[row], chances[row ^ (1 << coin)], strict=True):
            limits[k, here], limits[k, there], limits[k, chances.size + k] = 1.0, -exp(epsilon), -1.0
        limits[pairs * shape[1] + pair, chances.size + excess] = 1
        most[pairs * shape[1] + pair] = delta
    whole = lil_array((shape[0], limits.shape[1]))
    for row in range(shape[0]):
        whole[row, chances[row]] = 1
    wanted = np.zeros(limits.shape[1])
    wanted[: chances.size] = (agree < right).flatten() / shape[0]
    found = linprog(wanted, limits.tocsr(), most, whole.tocsr(), np.ones(shape[0]), method="highs")
    return 1 - float(found.fun)


@pytest.mark.nightly
def test_the_published_term_in_delta_is_too_small_somewhere_and_twice_ours_where_it_counts() -> None:
    """Two canaries, both guessed, one right: a (1, .05)-DP mechanism is right more often than is claimed."""
    mechanism = worst(2, 2, 1, 1.0, 0.05)
    assert exceeds(mechanism, 2, 1.0) == pytest.approx(0.05, rel=1e-9)
    coins = np.array(list(product((0, 1), repeat=2)))
    agree = (coins[:, None] == coins[None]).sum(axis=2)
    reached = float((mechanism * (agree >= 1)).sum() / 4)
    assert reached == pytest.approx(0.944734, abs=1e-6)
    assert published(2, 2, 1, 1.0, 0.05) == pytest.approx(0.942136, abs=1e-6)
    for guessed, canaries, epsilon in product((2, 20, 1000), (1, 3), (0.2, 1.0, 4.0)):
        law = binom(guessed, 1 / (1 + exp(-epsilon)))
        for right in range(1, guessed + 1, max(1, guessed // 60)):
            tail, case = float(law.sf(right - 1)), (canaries * guessed, guessed, right, epsilon, 1e-5)
            if 1e-200 < tail < DOUBT:
                assert stated(*case) - tail <= (published(*case) - tail) / 2


def gaussian(mu: float, canaries: int, seed: int, delta: float = 1e-5) -> OneRun:
    """An audit of a Gaussian mechanism with a direction for each canary: mu-GDP exactly."""
    generator = np.random.default_rng(seed)
    coins = generator.random(canaries) < 0.5
    scores = np.where(coins, mu / 2, -mu / 2) + generator.normal(size=canaries)
    return one_run(scores, coins, delta=delta, level=1 - DOUBT)


@pytest.mark.parametrize(("mu", "share"), [(0.0, 0.0), (1.0, 0.45), (2.0, 0.45), (4.0, 0.35)])
@pytest.mark.parametrize("audits", [300, pytest.param(AUDITS, marks=pytest.mark.nightly)])
@pytest.mark.sweep(2)
def test_no_more_audits_exceed_the_truth_than_allowed_and_half_of_mu_is_shown(
    mu: float, share: float, audits: int
) -> None:
    found = [gaussian(mu, 1000, seed) for seed in range(audits)]
    most = binom.isf(1e-6, audits, DOUBT)
    truth = gdp_epsilon(mu, 1e-5)
    assert sum(one.epsilon > truth for one in found) <= most
    assert sum(one.mu > mu for one in found) <= most
    assert sum(one.delta_at_least(1.0) > gdp_delta(mu, 1.0) for one in found) <= most
    certified = float(np.median([one.mu for one in found]))
    assert certified >= share * mu
    assert all(one.gaussian_epsilon <= gdp_epsilon(one.mu, 1e-5) for one in found)


@pytest.mark.parametrize("delta", [1e-6, 3e-3])
def test_limits_are_exceeded_as_often_as_they_say_by_the_worst_mechanism(delta: float) -> None:
    """2000 coins at epsilon 1: at least 1495 are right with a known probability; larger limits fail."""
    canaries, right, epsilon = 2000, 1495, 1.0
    doubt = stated(canaries, canaries, right, epsilon, delta)
    law = binom(canaries, 1 / (1 + exp(-epsilon)))
    jump = canaries * delta / (right * law.pmf(right))
    counts = np.arange(canaries + 1)
    masses = law.pmf(counts) * (1 + jump * ((counts >= right) - law.sf(right - 1)))
    assert masses.min() >= 0
    assert masses.sum() == pytest.approx(1)
    drawn = np.random.default_rng(0).choice(counts, 20_000, p=masses / masses.sum())

    def exceeded(larger: float, doubt: float, delta: float) -> float:
        limit = {
            int(v): larger * _least_epsilon(canaries, canaries, int(v), doubt, delta) for v in np.unique(drawn)
        }
        return float(np.mean([limit[int(v)] > epsilon * (1 + 1e-9) for v in drawn]))

    spread = 5 * (doubt * (1 - doubt) / 20_000) ** 0.5
    assert exceeded(1.0, doubt, delta) <= doubt + spread
    assert exceeded(1.0, doubt * (1 + 1e-6), delta) >= doubt - spread, "no slack is left"
    assert exceeded(1.03, doubt, delta) > doubt + spread, "the mutant: three per cent more"
    assert exceeded(1.0, 2 * doubt, delta) > doubt + spread, "the mutant: twice the doubt"
    if delta > 1e-3:
        assert exceeded(1.0, doubt, 0.0) > doubt + spread, "the mutant: without delta"


def test_what_is_shown_agrees_with_itself() -> None:
    found = gaussian(2.0, 2000, seed=0)
    assert found.delta_at_least(found.epsilon) == pytest.approx(found.delta, rel=1e-6)
    falling = [found.delta_at_least(epsilon) for epsilon in np.linspace(0, 6, 100)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0 == falling[-1]
    at = np.linspace(0, 6, 400)
    shown = np.array([found.delta_at_least(epsilon) for epsilon in at])
    assert not any(shown > [gdp_delta(found.mu * 1.0001, epsilon) for epsilon in at])
    assert any(shown > [gdp_delta(found.mu * 0.99, epsilon) for epsilon in at])


def test_the_greatest_and_the_least_scores_are_guessed() -> None:
    coins = np.array([True, False, True, False, True, False, True, False])
    assert one_run(coins * 1.0, coins, delta=0.1).guesses == ((8, 8),)
    assert one_run(-1.0 * coins, coins, delta=0.1).guesses == ((8, 0),)
    middle = one_run([9, 1, 5.1, 5, 4.9, 5.2, 8, 0, 9, 1, 8, 0, 9, 1, 8, 0], np.tile(coins, 2), delta=0.1)
    assert middle.guesses == ((16, 14), (8, 8))
    assert one_run([1.0, 0.0, 0.5], [True, False, True], delta=0.1).guesses == ((2, 2),), (
        "an odd one is left out"
    )
    useless = one_run(np.zeros(100), np.arange(100) % 2 == 0, delta=1e-5)
    assert (useless.epsilon, useless.mu, useless.delta_at_least(0.0)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("guessed", "right"), [(6250, 6232), (6250, 6250), (20_000, 15_000), (100_000, 83_944)]
)
def test_tails_below_every_float_refute_nothing_that_stands(guessed: int, right: int) -> None:
    """Against the ratio of tail and mass as the sum of its terms; scipy's tails become 0 on the way."""
    epsilon = np.linspace(0.0, 0.999 * _pure_epsilon(guessed, right, 0.01), 61)
    terms = np.arange(min(guessed - right, 20_000))
    wanted = []
    for one in epsilon:
        logs = np.cumsum(one + np.log((guessed - right - terms) / (right + 1 + terms)))
        ratio = 1 + np.exp(logs).sum()
        tail = binom.sf(right - 1, guessed, 1 / (1 + exp(-one)))
        wanted.append(max(0.01 - tail, 0) / (1 - tail) * right / ratio / (2 * guessed))
    found = _least_delta(2 * guessed, guessed, right, 0.01, epsilon)
    assert (found <= np.array(wanted) * (1 + 1e-8)).all()
    assert (found >= np.array(wanted) * 0.8).all()
    assert found[0] > 0


def test_many_canaries_and_a_tail_below_every_float() -> None:
    right = np.ones(20_000, dtype=bool)
    right[10_000:] = False
    found = one_run(np.arange(20_000.0)[::-1], right, delta=1e-5)
    assert 6 < found.epsilon < 9
    assert 0 < found.delta_at_least(0.0) <= 1


def test_a_bound_stands_and_a_smaller_one_is_refuted_where_the_adjacency_is_that_of_the_coins() -> None:
    run = NoisySGD(16, 1.0, 1.0, 1.0, 2)
    found = gaussian(4.0, 2000, seed=1)
    assert found.refutes(bound(run, Convex(1.0), delta=1e-5)) == ()
    smaller = bound(replace(run, noise_std=3.0), Convex(1.0), delta=1e-5)
    assert "mu" in found.refutes(smaller)
    assert "epsilon" in found.refutes(bound(replace(run, noise_std=8.0), Convex(1.0), delta=1e-5))
    batches = replace(run, batch_size=1, sampling="without_replacement", noise_std=40.0)
    assert "profile" in found.refutes(bound(batches, Convex(1.0), delta=1e-5))
    with pytest.raises(
        InputError, match=r"adjacency of the coins, replace, got adjacency=add_remove with sampling=poisson"
    ):
        found.refutes(
            bound(replace(batches, sampling="poisson", adjacency="add_remove"), Convex(1.0), delta=1e-5)
        )
    with pytest.raises(InputError, match=r"at delta=1e-05, got delta=0.1"):
        found.refutes(bound(run, Convex(1.0), delta=0.1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scores": [1.0]}, r"coins needs True or False for each of the 1 scores, got coins of shape \(2,\)"),
        ({"scores": [float("nan"), 1.0]}, "got scores=nan among them"),
        ({"scores": [1.0], "coins": [True]}, "at least 2 canaries, got canaries=1"),
        ({"coins": [1.0, 0.0]}, "type float64"),
        ({"delta": 0.0}, "delta=0"),
        ({"level": 1.0}, "level=1"),
        (
            {"adjacency": "zero_out"},
            "adjacency must be 'replace' or 'add_remove', got adjacency='zero_out'",
        ),
    ],
)
def test_bad_input(change: dict[str, object], said: str) -> None:
    good = {"scores": [1.0, 0.0], "coins": [True, False], "delta": 1e-5}
    with pytest.raises(InputError, match=said):
        one_run(**{**good, **change})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="epsilon needs a number of at least 0, got epsilon=-1"):
        gaussian(1.0, 10, seed=0).delta_at_least(-1.0)


def test_a_level_that_is_lost_beside_1_shows_nothing() -> None:
    assert _pure_epsilon(10, 9, 1.0) == 0.0
    assert _pure_epsilon(10, 9, 1 - 2.0**-52) > 0


def test_examples_of_the_module() -> None:
    assert doctest.testmod(one_run_module).failed == 0
