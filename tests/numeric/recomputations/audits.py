"""Limits of audits, from normal quantiles and binomial sums, term by term."""

from collections.abc import Iterator
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from one_run import one_run

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.audit import all_scores, audit, epsilon_limits
from recomputations.profiles import (
    binomial,
    gaussian_delta,
    gaussian_epsilon,
    solve_between,
)
from recomputations.record import Number, equals

_DELTA, _LEVEL = 1e-3, 0.9
_SHARE = 1e-7
_normal_inverse = NormalDist().inv_cdf


def _limit(wrong: int, runs: int, doubt: float) -> float:
    """Rate at which at most ``wrong`` wrong answers have probability ``doubt`` (Clopper & Pearson 1934)."""
    return solve_between(lambda rate: doubt - sum(binomial(runs, rate)[: wrong + 1]), wrong / runs, 1.0)


def _epsilon(fpr: float, fnr: float) -> float:
    return max(0.0, log((1 - _DELTA - fpr) / fnr), log((1 - _DELTA - fnr) / fpr))


def _mu(fpr: float, fnr: float) -> float:
    return -_normal_inverse(fpr) - _normal_inverse(fnr)


def recompute_by_counts() -> Iterator[Number]:
    """Limits from the counts of right and wrong answers."""
    doubt = (1 - _LEVEL) / 2
    for wrong, negatives, missed, positives in ((3, 60, 10, 40), (0, 30, 12, 50)):
        name = f"{wrong} of {negatives} and {missed} of {positives}"
        accused: dict[str, Any] = {"false_positives": wrong, "negatives": negatives}
        found = audit(**accused, false_negatives=missed, positives=positives, delta=_DELTA, level=_LEVEL)
        rates = _limit(wrong, negatives, doubt), _limit(missed, positives, doubt)
        yield equals(f"epsilon of {name}", found.epsilon, _epsilon(*rates), 1e-8)
        mu = _mu(*rates)
        yield equals(f"mu of {name}", found.mu, mu, 1e-8)
        yield equals(
            f"epsilon of that mu of {name}", found.gaussian_epsilon, gaussian_epsilon(mu, _DELTA), 1e-8
        )
        counts = np.array([wrong]), negatives, np.array([missed]), positives
        (many,) = epsilon_limits(*counts, delta=_DELTA, level=_LEVEL)
        yield equals(f"epsilon of {name}, one of many", many, _epsilon(*rates), 1e-8)


def recompute_by_scores() -> Iterator[Number]:
    """Limits from the AUC and from the curve of all scores."""
    runs, extra = 60, 4
    with_it, without = np.arange(runs) + 40.5, np.arange(runs + extra) * 1.0
    found = all_scores(with_it, without, level=_LEVEL)
    share = float(np.mean(with_it[:, None] > without[None, :]))
    doubt = (1 - _LEVEL) / 2
    successes = np.arange(runs + 1)

    def worst(rate: float) -> float:
        """Minimum over t of (t + E max(B - t, 0) / doubt) / runs, with B binomial, minus ``share``."""
        least = successes[:-1]
        over = np.maximum(successes - least[:, None], 0) @ binomial(runs, rate)
        return min(float((least + over / doubt).min()) / runs, 1.0) - share

    low = solve_between(worst, 1e-6, 1 - 1e-6)
    yield equals("the share of pairs", found.auc, share)
    yield equals("the least AUC", found.auc_at_least, low, _SHARE)
    squares = [k * k for k in range(8)]  # squares below both numbers of runs
    each = doubt / (2 * len(squares))

    def limit(count: int, among: int) -> float:
        more = [square for square in squares if square >= count]
        return _limit(more[0], among, each) if more else 1.0

    curve = []
    for cut in np.unique(np.concatenate([with_it, without])) - 0.25:
        fpr, fnr = limit(np.sum(without > cut), runs + extra), limit(np.sum(with_it <= cut), runs)
        if fpr + fnr < 1:
            curve.append((fpr, fnr))
    yield equals(
        "epsilon of the curve", found.epsilon(_DELTA), max(_epsilon(*rates) for rates in curve), _SHARE
    )
    least = max(1 - one - exp(0.2) * other for rates in curve for one, other in (rates, rates[::-1]))
    yield equals("delta of the curve at 0.2", found.delta(0.2), max(0.0, least), _SHARE)
    mu = max(sqrt(2) * _normal_inverse(low), *(_mu(*rates) for rates in curve))
    yield equals("mu of all scores", found.mu, mu, _SHARE)


def recompute_in_one_run() -> Iterator[Number]:
    """Limits from guesses at many coins in one run, if it is best to make all guesses or only the clearest."""
    scores = np.arange(64, dtype=np.float64)
    yield from _guessed("all", scores, scores % 11 < 2 + scores / 8)  # more heads among the large scores
    yield from _guessed("the clearest", scores, (scores >= 56) | ((scores >= 8) & (scores % 2 == 0)))


def _guessed(name: str, scores: Array, coins: NDArray[np.bool_]) -> Iterator[Number]:
    found = one_run(scores, coins, delta=_DELTA, level=_LEVEL)
    sizes = (64, 32, 16, 8)  # halved while at least 8
    rights = [int((~coins[: r // 2]).sum() + coins[-(r // 2) :].sum()) for r in sizes]
    guesses = list(zip(sizes, rights, strict=True))
    for (guessed, right), (_, counted) in zip(guesses, found.guesses, strict=True):
        yield equals(f"right guesses of {guessed}, {name}", counted, right)
    doubt = (1 - _LEVEL) / len(sizes)

    def tail(epsilon: float, guessed: int, right: int) -> list[float]:
        return binomial(guessed, 1 / (1 + exp(-epsilon)))[right:]

    def least_delta(epsilon: float, guessed: int, right: int) -> float:
        law = tail(epsilon, guessed, right)
        total = sum(law)
        return (doubt - total) / (1 - total) * right * law[0] / total / len(scores) if total < doubt else 0.0

    epsilons, mus = [0.0], [0.0]
    for guess in guesses:
        if least_delta(0.0, *guess) > _DELTA:
            epsilons.append(
                solve_between(lambda epsilon, *of: _DELTA - least_delta(epsilon, *of), 0.0, 30.0, *guess)
            )
        if sum(tail(0.0, *guess)) < doubt:
            pure = solve_between(lambda epsilon, *of: sum(tail(epsilon, *of)) - doubt, 0.0, 40.0, *guess)
            for epsilon in np.linspace(0.0, pure, 17)[:-1]:
                wanted = least_delta(epsilon, *guess)
                mus.append(
                    solve_between(
                        lambda mu, *at: gaussian_delta(mu, at[0]) - at[1], 1e-6, 20.0, epsilon, wanted
                    )
                )
    yield equals(f"epsilon in one run, {name}", found.epsilon, max(epsilons), _SHARE)
    shown = max(least_delta(0.1, *guess) for guess in guesses)
    yield equals(f"delta in one run at 0.1, {name}", found.delta_at_least(0.1), shown, _SHARE)
    # This uses one in sixteen of the code's epsilons, so the code's greatest mu is at least this, and barely larger.
    yield Number("mu in one run", found.mu, max(mus) * (1 - 1e-9), max(mus) * 1.002)
