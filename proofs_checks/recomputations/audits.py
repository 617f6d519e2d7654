"""Audits: the binomial sums behind their limits, term by term, and the least numbers of exact runs."""

from collections.abc import Callable, Iterator
from math import comb, erfc, exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from lastiterate.numeric.lower.audit import all_scores, audit, epsilon_limits
from lastiterate.numeric.lower.one_run import one_run
from lastiterate.proofs_checks.recomputations.profiles import gaussian_delta
from lastiterate.proofs_checks.recomputations.record import Number, equals

_BINOMIAL, _BY = 1e-8, "binomial sums"


def _chances(runs: int, rate: float) -> list[float]:
    return [comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(runs + 1)]


def _limit(wrong: int, runs: int, doubt: float) -> float:
    """The rate at which so few wrong answers have this probability (Clopper & Pearson 1934)."""
    return _root(lambda rate: doubt - sum(_chances(runs, rate)[: wrong + 1]), wrong / runs, 1.0)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(rising, low, high, xtol=1e-15))


def _z(rate: float) -> float:
    return _root(lambda z: erfc(-z / sqrt(2)) / 2 - rate, -9.0, 9.0)


def _epsilon(fpr: float, fnr: float, delta: float) -> float:
    return max(0.0, log((1 - delta - fpr) / fnr), log((1 - delta - fnr) / fpr))


def recompute_by_counts() -> Iterator[Number]:
    """Limits from the counts of right and wrong answers."""
    delta, level = 1e-3, 0.9
    for wrong, negatives, missed, positives in ((3, 60, 10, 40), (0, 30, 12, 50)):
        name = f"{wrong} of {negatives} and {missed} of {positives}"
        counts: dict[str, Any] = {
            "false_positives": wrong,
            "negatives": negatives,
            "false_negatives": missed,
            "positives": positives,
        }
        found = audit(**counts, delta=delta, level=level)
        fpr, fnr = _limit(wrong, negatives, (1 - level) / 2), _limit(missed, positives, (1 - level) / 2)
        mu, epsilon = -_z(fpr) - _z(fnr), _epsilon(fpr, fnr, delta)
        yield equals(f"epsilon of {name}", found.epsilon, epsilon, _BY, _BINOMIAL)
        yield equals(f"mu of {name}", found.mu, mu, _BY, _BINOMIAL)
        truth = _root(lambda eps, mu=mu: delta - float(gaussian_delta(mu, eps)), 0.0, 20.0)  # type: ignore[misc]
        yield equals(f"epsilon of that mu of {name}", found.gaussian_epsilon, truth, "erfc to fifty digits", _BINOMIAL)
        (many,) = epsilon_limits(np.array([wrong]), negatives, np.array([missed]), positives, delta=delta, level=level)
        yield equals(f"epsilon of {name}, one of many", many, epsilon, _BY, _BINOMIAL)


def recompute_by_scores() -> Iterator[Number]:
    """Limits from the AUC and from the curve of all scores."""
    level, runs, extra = 0.9, 60, 4
    with_it, without = np.arange(runs) + 40.5, np.arange(runs + extra) * 1.0
    found = all_scores(with_it, without, level=level)
    share = float(np.mean(with_it[:, None] > without[None, :]))
    doubt = (1 - level) / 2

    def worst(chance: float) -> float:
        """The mean of the worst share of a binomial mean: the least of (t + E max(B - t, 0) / doubt) / runs."""
        law = np.array(_chances(runs, chance))
        over = [float(law @ np.maximum(np.arange(runs + 1) - t, 0)) for t in range(runs)]
        return min(min((t + one / doubt) / runs for t, one in enumerate(over)), 1.0) - share

    low = _root(worst, 1e-6, 1 - 1e-6)
    yield equals("the share of pairs", found.auc, share, "all pairs")
    yield equals("the least AUC", found.auc_at_least, low, _BY, 1e-7)
    ranks = lost = [k * k for k in range(8)]  # the squares below either number of runs
    each = doubt / (len(ranks) + len(lost))
    tests = []
    for cut in np.unique(np.concatenate([with_it, without])) - 0.25:
        wrong, missed = int((without > cut).sum()), int((with_it <= cut).sum())
        rates = [
            (_limit(next(k for k in some if k >= one), many, each) if one <= some[-1] else 1.0)
            for one, some, many in ((wrong, ranks, runs + extra), (missed, lost, runs))
        ]
        tests.append((rates[0], rates[1]))
    informative = [(fpr, fnr) for fpr, fnr in tests if fpr + fnr < 1]
    curve = max(_epsilon(*rates, 1e-3) for rates in informative)
    yield equals("epsilon of the curve", found.epsilon(1e-3), curve, _BY, 1e-7)
    least = max(0.0, *(max(1 - fnr - exp(0.2) * fpr, 1 - fpr - exp(0.2) * fnr) for fpr, fnr in informative))
    yield equals("delta of the curve at 0.2", found.delta(0.2), least, _BY, 1e-7)
    mu = max(sqrt(2) * _z(low), *(-_z(fpr) - _z(fnr) for fpr, fnr in informative))
    yield equals("mu of all scores", found.mu, mu, _BY, 1e-7)


def recompute_in_one_run() -> Iterator[Number]:
    """Limits from the guesses at many coins in one training, where all of them and where the clearest say most."""
    scores = np.arange(64, dtype=np.float64)
    yield from _guessed("all", scores, scores % 11 < 2 + scores / 8)  # more heads among the large scores
    yield from _guessed("the clearest", scores, (scores >= 56) | ((scores >= 8) & (scores % 2 == 0)))


def _guessed(name: str, scores: NDArray[np.float64], coins: NDArray[np.bool_]) -> Iterator[Number]:
    canaries, delta, level = len(scores), 1e-3, 0.9
    found = one_run(scores, coins, delta=delta, level=level)
    sizes = [64, 32, 16, 8]  # halved while at least 8
    rights = [int((~coins[: r // 2]).sum() + coins[-(r // 2) :].sum()) for r in sizes]
    yield from (
        equals(f"right guesses of {r}, {name}", right, truth, "counting")
        for r, (_, right), truth in zip(sizes, found.guesses, rights, strict=True)
    )
    doubt = (1 - level) / len(sizes)

    def least_delta(epsilon: float, guessed: int, right: int) -> float:
        law = _chances(guessed, 1 / (1 + exp(-epsilon)))
        tail = sum(law[right:])
        if tail >= doubt:
            return 0.0
        return (doubt - tail) / (1 - tail) * right * law[right] / tail / canaries

    limits = [0.0]
    for guessed, right in zip(sizes, rights, strict=True):
        if least_delta(0.0, guessed, right) > delta:
            limits.append(_root(lambda e, g=guessed, r=right: delta - least_delta(e, g, r), 0.0, 30.0))  # type: ignore[misc]
    yield equals(f"epsilon in one run, {name}", found.epsilon, max(limits), _BY, 1e-7)
    shown = max(least_delta(0.1, *pair) for pair in zip(sizes, rights, strict=True))
    yield equals(f"delta in one run at 0.1, {name}", found.delta_at_least(0.1), shown, _BY, 1e-7)
    points, mus = 257, [0.0]
    for guessed, right in zip(sizes, rights, strict=True):
        law = sum(_chances(guessed, 0.5)[right:])
        if law < doubt:
            pure = _root(lambda e, g=guessed, r=right: sum(_chances(g, 1 / (1 + exp(-e)))[r:]) - doubt, 0.0, 40.0)  # type: ignore[misc]
            for epsilon in (pure * k / (points - 1) for k in range(0, points, 16)):
                wanted = least_delta(epsilon, guessed, right)
                if wanted > 0:
                    mus.append(_root(lambda m, e=epsilon, w=wanted: float(gaussian_delta(m, e)) - w, 1e-6, 20.0))  # type: ignore[misc]
    # Evaluated at one in sixteen of the points of the code, whose greatest mu is at least this and hardly larger.
    yield Number("mu in one run", found.mu, max(mus) * (1 - 1e-9), max(mus) * 1.002, _BY)
