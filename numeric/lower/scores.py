"""Audits by all scores: limits of mu from the AUC, and of every trade-off from the curve, without a learning half.

A score is a number computed from a released model by a rule that was fixed before these runs. Two statements:

AUC    A run with the sample has a larger score than one without, ties counted half, with chance A <= Phi(mu / sqrt 2)
       under mu-GDP. The observed share U is a mean over all pairs, and E f(U) <= E f(B / n) for convex f, where B is
       Binomial(n, A) and n the smaller number of runs. So P(U >= x) <= E max(B - t, 0) / (n x - t) for every t < n x,
       and A is doubted where U is at least the mean of the worst share ``doubt`` of B / n.
Curve  Clopper-Pearson limits of both rates of wrong answers at every threshold of a list, all at once.

The curve refutes any claim on the two laws; the AUC as it is used here a claim of mu-GDP alone.
Source: docs/proofs/lower_bounds.md; Hoeffding 1963; Clopper & Pearson 1934; Dong, Roth & Su 2022.
"""

from dataclasses import dataclass
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance
from lastiterate.numeric.lower.rates import DOWN, at_most, delta_of_rates, epsilon_of_rates, mu_of_rates

_MARGIN: Final = 1e-10
_MARGIN_OF_RUN: Final = 1e-15
"""Together, the second times the runs, more than the rounding of scipy's binomial tails, as a part of a share."""
_HALVINGS: Final = 40


@dataclass(frozen=True)
class Scores:
    """Limits from all scores, of the AUC and of the trade-off curve. They hold together at confidence ``level``.

    Attributes:
        auc: share of pairs in which the run with the sample has the larger score, ties counted half; measured.
        auc_at_least: lower limit of its expectation.
        curve: tests by thresholds, (false positive rate, false negative rate) each; upper limits.
        level: confidence of all limits together.
    """

    auc: float
    auc_at_least: float
    curve: tuple[tuple[float, float], ...]
    level: float

    @property
    def mu(self) -> float:
        """Lower limit of mu, from the AUC or from the curve; refutes a claim of mu-GDP, and no other."""
        return max([mu_of_auc(self.auc_at_least), *(mu_of_rates(*rates) for rates in self.curve)])

    def epsilon(self, delta: float) -> float:
        """Lower limit of epsilon, for all delta in (0, 1) at once, at least 0; refutes any (epsilon, delta)."""
        delta = chance("delta", delta)
        return max([0.0, *(epsilon_of_rates(*rates, delta) * DOWN for rates in self.curve)])

    def delta(self, epsilon: float) -> float:
        """Lower limit of the profile at ``epsilon`` >= 0, of the worse order of the laws, for all epsilon at once."""
        return max([0.0, *(delta_of_rates(*rates, epsilon) for rates in self.curve)])


def all_scores(with_it: ArrayLike, without: ArrayLike, *, level: float = 0.95) -> Scores:
    """The limits from the scores of independent runs; half of the doubt is for the AUC, half for the curve.

    Args:
        with_it: scores of the runs with the sample, shape (positives,); large ones are to speak for the sample.
        without: scores of the runs without it, shape (negatives,).
        level: confidence, in (0, 1).

    Raises:
        InputError: scores that are no list of numbers, or a level out of its range.

    >>> found = all_scores(np.arange(100.0) + 50, np.arange(100.0))
    >>> found.auc, round(found.auc_at_least, 3), round(found.mu, 2), round(found.epsilon(1e-5), 2)
    (0.875, 0.784, 1.11, 1.42)
    """
    level = chance("level", level)
    positive, negative = np.sort(score_list("with_it", with_it)), np.sort(score_list("without", without))
    doubt = (1 - level) / 2
    share = auc(positive, negative)
    limit = auc_limits(np.array([share]), min(len(positive), len(negative)), doubt)
    return Scores(share, float(limit[0]), _curve(positive, negative, doubt), level)


def auc(with_it: Array, without: Array) -> float:
    """The share of pairs in which the run with the sample has the larger score, ties counted half.

    >>> auc(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    rising = np.sort(without)
    less, no_more = (np.searchsorted(rising, with_it, side) for side in ("left", "right"))
    return float((less.sum() + no_more.sum()) / (2 * len(with_it) * len(without)))


def auc_limits(shares: Array, runs: int, doubt: float) -> Array:
    """Lower limits of the expectation of an AUC from observed ones, each above it with chance ``doubt`` at most.

    Args:
        shares: observed, shape (audits,).
        runs: the smaller of the numbers of runs of the two sides.
        doubt: in (0, 1).

    Returns:
        The limits, shape (audits,), rounded down. At share 1 that of Clopper and Pearson, doubt^(1 / runs).
    """
    low, high = np.zeros_like(shares), np.ones_like(shares)
    surely = shares - (_MARGIN + _MARGIN_OF_RUN * runs)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        doubted = _worst_mean(middle, runs, doubt) <= surely
        low, high = np.where(doubted, middle, low), np.where(doubted, high, middle)
    return low


def mu_of_auc(area: float) -> float:
    """The least mu under which a test between the two orders of a pair is right with this chance; rounded down.

    >>> round(mu_of_auc(0.76), 3), mu_of_auc(0.4)
    (0.999, 0.0)
    """
    from scipy.special import ndtri

    return max(float(2**0.5 * ndtri(area)) * DOWN, 0.0)


def _worst_mean(chances: Array, runs: int, doubt: float) -> Array:
    """The least of (t + E max(B - t, 0) / doubt) / runs over a few t, B binomial; rises with the chances."""
    from scipy.special import bdtrc, bdtrik

    quantile = np.ceil(np.nan_to_num(bdtrik(1 - doubt, runs, chances)))
    t = np.clip(quantile + np.array([[-1.0], [0.0], [1.0]]), 0, runs - 1)
    excess = runs * chances * bdtrc(t - 1, runs - 1, chances) - t * bdtrc(t, runs, chances)
    found: Array = np.minimum(((t + excess / doubt) / runs).min(axis=0), 1.0)
    return found


def _curve(with_it: Array, without: Array, doubt: float) -> tuple[tuple[float, float], ...]:
    """Limits of the two rates at thresholds between the sorted scores, all of them together at this doubt."""
    wrong, missed = _ranks(len(without)), _ranks(len(with_it))
    each = doubt / (len(wrong) + len(missed))
    fpr = np.append(at_most(wrong, len(without), each), 1.0)
    fnr = np.append(at_most(missed, len(with_it), each), 1.0)
    thresholds = without[len(without) - 1 - wrong]  # the answer is "with" above it
    also_missed = np.searchsorted(missed, np.searchsorted(with_it, thresholds, side="right"))
    lowest = with_it[missed]  # the answer is "with" from it on
    also_wrong = np.searchsorted(wrong, len(without) - np.searchsorted(without, lowest, side="left"))
    pairs = zip(np.append(fpr[:-1], fpr[also_wrong]), np.append(fnr[also_missed], fnr[:-1]), strict=True)
    return tuple(sorted({(float(one), float(other)) for one, other in pairs if one + other < 1}))


def _ranks(runs: int) -> NDArray[np.int64]:
    """Numbers of wrong answers at which a rate is limited: 0, 1, 4, 9, ..., about two standard deviations apart."""
    return np.arange(isqrt(runs - 1) + 1) ** 2


def score_list(name: str, scores: ArrayLike) -> Array:
    """The scores, shape (runs,), or an `InputError` where they are no list of numbers."""
    try:
        found = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim != 1 or not len(found) or np.isnan(found).any():
        got = f"shape {found.shape}" if found.ndim != 1 or not len(found) else "nan among them"
        raise InputError(f"{name} needs at least one score, in one list, got {name}={got}; compute the scores again.")
    return found
