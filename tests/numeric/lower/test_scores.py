"""Limits by all scores: above the truth as rarely as they say, close to it, and wrong formulas are found out."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import beta, binom, norm

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.lower.audit import (
    Audit,
    Scores,
    _worst_mean,
    all_scores,
    auc,
    auc_limits,
    audit,
    mu_of_auc,
    rates_at_most,
)
from lastiterate.numeric.run import NoisySGD

AUDITS = 1000
DOUBT = 0.05


def most(audits: int) -> int:
    """Limits at confidence 95% are above the truth more often than this with probability 1e-6 at most."""
    return int(binom.isf(1e-6, audits, DOUBT))


MOST = most(AUDITS)
by_day = pytest.mark.parametrize("audits", [300, pytest.param(AUDITS, marks=pytest.mark.nightly)])
"""Simulated audits; those that one array holds are as many by day as by night."""
Post = Callable[[NDArray[np.float64]], NDArray[np.float64]]
POSTS: dict[str, Post] = {
    "as they are": lambda scores: scores,
    "rounded": np.round,
    "rounded to hundredths": lambda scores: np.round(scores, 2),
    "clipped": lambda scores: np.clip(scores, -0.2, 0.9),
    "one bit": lambda scores: np.where(scores > 0.5, 1.0, 0.0),
    "tail alone": lambda scores: np.maximum(scores, 1.5),
    "monotone": np.exp,
}


def simulated(audits: int, mu: float, runs: int, post: Post, level: float = 1 - DOUBT) -> list[Scores]:
    """Audits of scores N(mu, 1) against N(0, 1), post-processed: mu-GDP exactly, or less."""
    generator = np.random.default_rng(0)
    return [
        all_scores(post(generator.normal(mu, 1, runs)), post(generator.normal(0, 1, runs)), level=level)
        for _ in range(audits)
    ]


@pytest.mark.parametrize(
    ("mu", "post"),
    [
        *((mu, "as they are") for mu in (0.0, 0.5, 1.0, 2.0)),
        *((1.0, post) for post in POSTS if post != "as they are"),
    ],
)
@pytest.mark.sweep(1)
def test_what_all_scores_show_is_above_the_truth_as_rarely_as_stated(mu: float, post: str) -> None:
    found = simulated(AUDITS, mu, 150, POSTS[post])
    assert sum(one.mu > mu for one in found) <= MOST
    true_delta = norm.cdf(mu / 2 - 1 / mu) - exp(1) * norm.cdf(-mu / 2 - 1 / mu) if mu else 0.0
    assert sum(one.delta(1.0) > true_delta for one in found) <= MOST


@pytest.mark.nightly
@pytest.mark.parametrize("mu", [1.0, 2.0])
@pytest.mark.sweep(1)
def test_with_4000_runs_a_side_most_of_mu_is_certified_and_no_mutant_is_valid(mu: float) -> None:
    found = simulated(AUDITS, mu, 4000, POSTS["as they are"])
    certified = np.array([one.mu for one in found])
    assert (certified > mu).sum() <= MOST
    assert np.median(certified) >= 0.9 * mu, "70% is asked for"
    shares = np.array([one.auc for one in found])

    def exceeded(limits: NDArray[np.float64]) -> int:
        return int(sum(mu_of_auc(float(limit)) > mu for limit in limits))

    assert exceeded(auc_limits(shares, 4000, DOUBT)) <= MOST
    # The mutants: 6% more, a tenth of the doubt stated, pairs taken for independent ones, no limit at all.
    assert (1.06 * certified > mu).sum() > MOST
    assert exceeded(auc_limits(shares, 4000, 10 * DOUBT)) > MOST
    assert exceeded(auc_limits(shares, 4000**2, DOUBT)) > MOST
    assert exceeded(shares) > MOST


@pytest.mark.sweep(2)
@by_day
@pytest.mark.parametrize("mu", [1.0, 2.0])
def test_surely_is_never_above_the_truth_and_still_most_of_it(mu: float, audits: int) -> None:
    """Linear losses on the whole space: the score of the canary is Gaussian, and mu is what they lose."""
    certified = np.array([one.mu for one in simulated(audits, mu, 4000, POSTS["as they are"], level=1 - 1e-6)])
    assert certified.max() <= mu
    assert np.median(certified) >= 0.8 * mu, "70% is asked for"


@pytest.mark.parametrize(("positives", "negatives"), [(200, 200), (200, 1000), (1000, 200), (1, 200)])
def test_the_auc_is_covered_where_its_variance_is_largest(positives: int, negatives: int) -> None:
    """One side has a constant score: the share is the mean of independent answers of the other, no better."""
    generator = np.random.default_rng(1)
    chance = 0.9
    fewer = min(positives, negatives)
    answers = (generator.random((AUDITS, fewer)) < chance).astype(float)
    constant = np.full(max(positives, negatives), 0.5)
    shares = np.array(
        [auc(one, constant) if positives <= negatives else auc(constant, 1 - one) for one in answers]
    )
    assert shares == pytest.approx(answers.mean(axis=1))
    assert (auc_limits(shares, fewer, DOUBT) > chance).sum() <= MOST
    if fewer > 1:
        assert (auc_limits(shares, 2 * fewer, DOUBT) > chance).sum() > MOST, (
            "the mutant: both sides are counted"
        )


def test_the_limit_is_that_of_the_worst_convex_function() -> None:
    """The mean excess over every t, by summation; and never below what Hoeffding's and Chernoff's exponentials give."""
    counts = np.arange(41)
    for chance, doubt in ((0.5, 0.05), (0.9, 0.01), (0.03, 0.2), (0.999, 1e-6)):
        masses = binom.pmf(counts, 40, chance)
        slow = min((t + (np.maximum(counts - t, 0) * masses).sum() / doubt) / 40 for t in range(40))
        assert float(_worst_mean(np.array([chance]), 40, doubt)[0]) == pytest.approx(min(slow, 1.0), rel=1e-9)
    for share in (0.6, 0.75, 0.9, 0.99):
        limit = float(auc_limits(np.array([share]), 500, DOUBT)[0])

        def chernoff(below: float, share: float = share) -> float:
            divergence = share * log(share / below) + (1 - share) * log((1 - share) / (1 - below))
            return 500 * divergence - log(1 / DOUBT)

        assert limit >= brentq(chernoff, 1e-9, share) >= share - (log(1 / DOUBT) / 1000) ** 0.5
    perfect = float(auc_limits(np.array([1.0]), 100, DOUBT)[0])
    assert perfect == pytest.approx(DOUBT ** (1 / 100), abs=1e-7), "Clopper and Pearson's for no wrong answer"
    assert perfect <= DOUBT ** (1 / 100)


def test_rates_are_limited_at_the_stated_doubt_and_not_far_from_it() -> None:
    """The rate above the k-th largest of n scores has a beta law, and exceeds its limit with that very probability."""
    generator = np.random.default_rng(2)
    rates = generator.beta(10, 191, size=AUDITS)  # of the threshold at the tenth largest of 200
    limit = float(rates_at_most(np.array([9]), 200, DOUBT)[0])
    assert limit == pytest.approx(beta.isf(DOUBT, 10, 191))
    assert DOUBT * AUDITS / 2 < (rates > limit).sum() <= MOST
    assert (rates > float(rates_at_most(np.array([9]), 200, 10 * DOUBT)[0])).sum() > MOST, "the mutant"
    assert (rates > 0.9 * limit).sum() > MOST, "the mutant"


@pytest.mark.sweep(1)
@by_day
@pytest.mark.parametrize("post", ["as they are", "rounded"])
def test_the_whole_curve_is_above_the_truth(post: str, audits: int) -> None:
    """At no point of the curve are both rates smaller than the best test's: all points hold at once."""
    found = simulated(audits, 1.0, 400, POSTS[post])
    wrong = sum(any(norm.cdf(norm.isf(fpr) - 1.0) > fnr for fpr, fnr in one.curve) for one in found)
    assert wrong <= most(audits)
    assert all(one.curve for one in found)

    def shrunk(one: Scores) -> bool:
        return any(norm.cdf(norm.isf(0.7 * fpr) - 1.0) > 0.7 * fnr for fpr, fnr in one.curve)

    assert sum(map(shrunk, found)) > most(audits), "the mutant"


def test_scores_that_speak_for_the_wrong_side_show_nothing() -> None:
    backwards = all_scores(np.arange(100.0), np.arange(100.0) + 50)
    assert (backwards.mu, backwards.epsilon(1e-5), backwards.delta(0.0)) == (0.0, 0.0, 0.0)
    equal = all_scores(np.zeros(5), np.zeros(7))
    assert (equal.auc, equal.curve, equal.mu) == (0.5, (), 0.0)
    assert all_scores([1.0], [0.0]).mu == 0.0


def linear(run: NoisySGD, runs: int, seed: int) -> Audit:
    """An audit of linear losses, whose law is known: each time the sample is met it moves the run by one unit."""
    generator = np.random.default_rng(seed)
    met = generator.binomial(run.steps, run.batch / run.dataset_size, size=(2, runs))
    move = run.step_size_at(0) * run.clip_norm / run.batch * np.array([[1.0], [-1.0]])
    scores = move * met + generator.normal(0, run.noise_std_at(0) * run.steps**0.5, size=(2, runs))
    shown = all_scores(*scores, level=0.975)
    wrong, missed = int((scores[1] > 0).sum()), int((scores[0] <= 0).sum())
    counts = {"false_positives": wrong, "negatives": runs, "false_negatives": missed, "positives": runs}
    return audit(**counts, delta=1e-2, scores=shown)


@pytest.mark.parametrize("sampling", ["without_replacement", "full"])
def test_a_bound_stands_and_a_smaller_one_is_refuted(sampling: str) -> None:
    run = NoisySGD(16, 1.0, 1.0, 1.0, 2, None if sampling == "full" else 1, sampling=sampling)
    found = linear(run, 20_000, seed=3)
    assert found.refutes(bound(run, Convex(1.0), delta=1e-2)) == ()
    smaller = bound(replace(run, noise_std=1.05), Convex(1.0), delta=1e-2)
    if sampling == "full":
        assert found.refutes(smaller) == ("mu",), (
            "five per cent too little noise is seen by mu, and by no epsilon"
        )
    half = bound(replace(run, noise_std=4.0), Convex(1.0), delta=1e-2)
    assert found.refutes(half) == ("epsilon", "mu" if sampling == "full" else "profile")
    assert 0 < found.epsilon <= found.gaussian_epsilon


def test_random_batches_are_refuted_by_their_profile_where_one_epsilon_does_not() -> None:
    run = NoisySGD(16, 1.0, 1.0, 1.0, 2, 1, sampling="without_replacement")
    shown = linear(run, 20_000, seed=3)
    assert shown.scores is not None
    smaller = bound(replace(run, noise_std=2.0), Convex(1.0), delta=1e-2)
    assert shown.epsilon < smaller.epsilon
    assert smaller.mu is None
    assert shown.refutes(smaller) == ("profile",)
    assert replace(shown, scores=None).refutes(smaller) == ()
    with pytest.raises(InputError, match=r"at delta=0.01, got delta=0.1"):
        shown.refutes(bound(run, Convex(1.0), delta=0.1))


def test_an_epsilon_that_contraction_gives_is_held_against_the_curve() -> None:
    """It is less than what the bound's mu means, so that a mu that is not refuted does not save it."""
    run = NoisySGD(100, 1.0, 1.0, 0.5, 1, diameter=1.0)
    stated = bound(run, Convex(1.0), delta=1e-2)
    assert stated.route == "contraction"
    assert stated.mu is not None
    assert stated.epsilon < gdp_epsilon(stated.mu, 1e-2)
    told = Scores(0.5, 0.0, ((0.15, 0.25),), 0.975)
    found = Audit(0.0, 0.0, 0.0, 0, 9, 0, 9, 1e-2, 0.95, scores=told)
    assert told.delta(0.0) > stated.profile()(0.0)
    assert found.refutes(stated) == ("profile",)


def test_doubt_is_shared_and_scores_add_to_counts() -> None:
    counts = {"false_positives": 20, "negatives": 100, "false_negatives": 20, "positives": 100}
    shown = all_scores(np.arange(100.0) + 50, np.arange(100.0), level=0.975)
    alone, both = audit(**counts, delta=1e-5), audit(**counts, delta=1e-5, scores=shown)
    half = audit(**counts, delta=1e-5, level=0.975)
    assert both.epsilon == pytest.approx(max(half.epsilon, shown.epsilon(1e-5)))
    assert both.mu == pytest.approx(max(half.mu, shown.mu))
    assert half.mu < alone.mu
    assert both.level == alone.level == 0.95
    with pytest.raises(InputError, match=r"above level=0.95, got scores.level=0.95"):
        audit(**counts, delta=1e-5, scores=replace(shown, level=0.95))


@pytest.mark.parametrize(
    ("with_it", "without", "level", "said"),
    [
        ([], [1.0], 0.9, r"with_it needs a list of at least one score, without nan, got with_it=shape \(0,\)"),
        ([1.0], [[1.0]], 0.9, r"got without=shape \(1, 1\)"),
        ([1.0], [float("nan")], 0.9, "got without=nan among them"),
        (["a"], [1.0], 0.9, "got with_it="),
        ([1.0], [1.0], 1.0, "level=1"),
    ],
)
def test_bad_input(with_it: list[float], without: list[float], level: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        all_scores(with_it, without, level=level)
