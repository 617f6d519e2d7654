"""Audits: lower confidence limits for epsilon and mu from the runs of an attack, and the claims they refute.

The counts of right and wrong answers at a threshold that is learned from other runs give

    epsilon >= max(log((1 - delta - FPR) / FNR), log((1 - delta - FNR) / FPR)),   mu >= -(z(FPR) + z(FNR)),

by Liang et al. 2026, (20). FPR and FNR are the upper Clopper-Pearson limits for the error rates of the answer
"the run used this sample", and z is the standard normal quantile function. A score is a number computed from
a released model by a rule that was fixed before these runs. All scores give further limits:

AUC    Under mu-GDP, a run with the sample scores higher than a run without it, ties counted half, with
       probability A <= Phi(mu / sqrt 2). A is rejected if the observed share is at least the mean of the
       largest ``doubt`` fraction of B / n, B ~ Binomial(n, A), n = min(positives, negatives). Only claims of
       mu-GDP are refuted.
Curve  Simultaneous Clopper-Pearson limits for both error rates at every threshold of a list. They refute all
       kinds of claims.

Source: docs/proofs/lower_bounds.md; Hoeffding 1963; Clopper & Pearson 1934; Kairouz, Oh & Viswanath 2015;
Dong, Roth & Su 2022.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, isqrt, log
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrc, bdtrik, betainccinv, ndtri

from lastiterate.numeric.accounting.conversion import gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import InputError, chance, count
from lastiterate.numeric.rounding import printed_down

if TYPE_CHECKING:
    from lastiterate.numeric.bound import PrivacyLoss

DOWN: Final = 1 - 1e-12
"""Factor that covers the rounding errors of scipy's inverse functions and of a logarithm."""
_ABSOLUTE: Final = 1e-12
"""Absolute rounding margin for differences, which may nearly cancel."""
_BEYOND: Final = 700.0
"""Largest exponent whose exponential is computed in floats."""
_MARGIN: Final = 1e-10
_MARGIN_OF_RUN: Final = 1e-15
"""`_MARGIN` plus this multiple of the run count covers the relative rounding error of scipy's binomial tails."""
_HALVINGS: Final = 40
_SHARES = (0.0, 0.25, 0.5, 1.0)
"""Fractions of a bound's epsilon at which its profile is compared with the curve."""


def rates_at_most(wrong: NDArray[np.int64], runs: int, doubt: float) -> Array:
    """Upper Clopper-Pearson limits for rates, shape of ``wrong``, each exceeded with probability at most ``doubt``.

    >>> rates_at_most(np.array([0, 10]), 10, 0.5**10).round(3).tolist()
    [0.5, 1.0]
    """
    some = np.minimum(wrong, runs - 1)
    return np.where(wrong >= runs, 1.0, np.minimum(betainccinv(some + 1, runs - some, doubt) / DOWN, 1.0))


def epsilon_of_rates(fpr: float, fnr: float, delta: float) -> float:
    """Smallest epsilon at ``delta`` of laws that a test distinguishes with these error rates, unrounded; may be -inf.

    >>> round(epsilon_of_rates(0.1, 0.5, 1e-5), 4)  # log(.5 / .1) and log(.9 / .5)
    1.6094
    """

    def one(first: float, second: float) -> float:
        left = 1 - delta - first
        return -inf if left <= 0 else inf if second == 0 else log(left / second)

    return max(one(fpr, fnr), one(fnr, fpr))


def mu_of_rates(fpr: float, fnr: float) -> float:
    """Smallest mu of a Gaussian pair that a test distinguishes with these error rates; rounded down, at least 0.

    >>> round(mu_of_rates(0.025, 0.025), 3)
    3.92
    """
    if fpr + fnr >= 1:
        return 0.0
    return max((-float(ndtri(fpr) + ndtri(fnr)) - _ABSOLUTE) * DOWN, 0.0)


def delta_of_rates(fpr: float, fnr: float, epsilon: float) -> float:
    """Smallest delta at ``epsilon`` of laws that a test distinguishes with these error rates; rounded down, at least 0.

    >>> round(delta_of_rates(0.1, 0.5, 0.0), 3)
    0.4
    """
    if epsilon > _BEYOND:
        return 0.0
    factor = exp(epsilon) / DOWN
    return max(1 - fnr - factor * fpr - _ABSOLUTE, 1 - fpr - factor * fnr - _ABSOLUTE, 0.0)


@dataclass(frozen=True)
class Scores:
    """Limits for the AUC and the trade-off curve from all scores, simultaneous at confidence ``level``.

    Attributes:
        auc: the observed share of pairs, see `auc`.
        auc_at_least: lower limit for the expectation of ``auc``.
        curve: upper limits (false positive rate, false negative rate) for threshold tests.
    """

    auc: float
    auc_at_least: float
    curve: tuple[tuple[float, float], ...]
    level: float

    @property
    def mu(self) -> float:
        """Lower limit for mu, which refutes only claims of mu-GDP."""
        return max([mu_of_auc(self.auc_at_least), *(mu_of_rates(*rates) for rates in self.curve)])

    def epsilon(self, delta: float) -> float:
        """Lower limit for epsilon, at least 0, simultaneous for all delta in (0, 1), which refutes smaller claims."""
        delta = chance("delta", delta)
        return max([0.0, *(epsilon_of_rates(*rates, delta) * DOWN for rates in self.curve)])

    def delta(self, epsilon: float) -> float:
        """Lower limit for the larger of the two profiles at ``epsilon`` >= 0, simultaneous for all epsilon."""
        return max([0.0, *(delta_of_rates(*rates, epsilon) for rates in self.curve)])


def all_scores(with_it: ArrayLike, without: ArrayLike, *, level: float = 0.95) -> Scores:
    """Limits from the scores of independent runs; the AUC and the curve get half of 1 - level each.

    Runs with the sample, shape (positives,), should score higher than runs ``without`` it, shape
    (negatives,).

    Raises:
        InputError: scores are not a list of numbers, or the level is outside (0, 1).

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
    """Share of pairs in which the run with the sample has the larger score, ties counted half.

    >>> auc(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    rising = np.sort(without)
    less, no_more = (np.searchsorted(rising, with_it, side) for side in ("left", "right"))
    return float((less.sum() + no_more.sum()) / (2 * len(with_it) * len(without)))


def auc_limits(shares: Array, runs: int, doubt: float) -> Array:
    """Lower limits for the expected AUC from observed AUCs, each too large with probability at most ``doubt``.

    ``shares`` has shape (audits,), and ``runs`` is min(positives, negatives). Limits are rounded down.
    """
    low, high = np.zeros_like(shares), np.ones_like(shares)
    surely = shares - (_MARGIN + _MARGIN_OF_RUN * runs)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        doubted = _worst_mean(middle, runs, doubt) <= surely
        low, high = np.where(doubted, middle, low), np.where(doubted, high, middle)
    return low


def mu_of_auc(area: float) -> float:
    """Smallest mu for which a test can order a pair of runs correctly with this probability; rounded down.

    >>> round(mu_of_auc(0.76), 3), mu_of_auc(0.4)
    (0.999, 0.0)
    """
    return max(float(2**0.5 * ndtri(area)) * DOWN, 0.0)


def _worst_mean(rates: Array, runs: int, doubt: float) -> Array:
    """Minimum over a few t of (t + E max(B - t, 0) / doubt) / runs, for binomial B with these rates."""
    quantile = np.ceil(np.nan_to_num(bdtrik(1 - doubt, runs, rates)))
    t = np.clip(quantile + np.array([[-1.0], [0.0], [1.0]]), 0, runs - 1)
    excess = runs * rates * bdtrc(t - 1, runs - 1, rates) - t * bdtrc(t, runs, rates)
    found: Array = np.minimum(((t + excess / doubt) / runs).min(axis=0), 1.0)
    return found


def _curve(with_it: Array, without: Array, doubt: float) -> tuple[tuple[float, float], ...]:
    wrong, missed = _ranks(len(without)), _ranks(len(with_it))
    each = doubt / (len(wrong) + len(missed))
    fpr = np.append(rates_at_most(wrong, len(without), each), 1.0)
    fnr = np.append(rates_at_most(missed, len(with_it), each), 1.0)
    thresholds = without[len(without) - 1 - wrong]  # the answer is "with" above it
    also_missed = np.searchsorted(missed, np.searchsorted(with_it, thresholds, side="right"))
    lowest = with_it[missed]  # the answer is "with" from it on
    also_wrong = np.searchsorted(wrong, len(without) - np.searchsorted(without, lowest, side="left"))
    pairs = zip(np.append(fpr[:-1], fpr[also_wrong]), np.append(fnr[also_missed], fnr[:-1]), strict=True)
    return tuple(sorted({(float(one), float(other)) for one, other in pairs if one + other < 1}))


def _ranks(runs: int) -> NDArray[np.int64]:
    return np.arange(isqrt(runs - 1) + 1) ** 2


def score_list(name: str, scores: ArrayLike) -> Array:
    """The scores, shape (runs,); raises an `InputError` if they are not a list of numbers."""
    try:
        found = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim != 1 or not len(found) or np.isnan(found).any():
        got = f"shape {found.shape}" if found.ndim != 1 or not len(found) else "nan among them"
        raise InputError(
            f"{name} needs a list of at least one score, without nan, got {name}={got}; compute the scores again."
        )
    return found


@dataclass(frozen=True)
class Audit(Displayed):
    """Outcome of an attack: lower bounds, simultaneous at confidence ``level``.

    Attributes:
        epsilon: lower bound on epsilon at ``delta``, which refutes every claim of a smaller epsilon.
        mu: lower bound on the parameter of GDP, which refutes only claims of mu-GDP (`Bound.mu`).
        observed: the formula of the paper at the observed rates: an estimate, no bound; inf if a rate is 0.
        false_positives: wrong answers among ``negatives`` runs without the sample.
        false_negatives: wrong answers among ``positives`` runs with the sample.
        gaussian_epsilon: epsilon at ``delta`` under mu-GDP with this ``mu``, rounded down; it refutes only an
            epsilon derived from mu-GDP.
        scores: limits from all scores; None if the audit uses counts only.
    """

    epsilon: float
    mu: float
    observed: float
    false_positives: int
    negatives: int
    false_negatives: int
    positives: int
    delta: float
    level: float
    gaussian_epsilon: float = 0.0
    scores: Scores | None = None

    def table(self) -> TextTable:
        """Tabulate the lower limits and the counts."""
        missed, accused = (
            f"{self.false_negatives} of {self.positives}",
            f"{self.false_positives} of {self.negatives}",
        )
        counts = {"runs with the sample missed": missed, "runs without the sample accused": accused}
        return limits_table(self, counts | {"epsilon from these rates": f"{self.observed:.6g}, an estimate"})

    def refutes(self, bound: "PrivacyLoss") -> tuple[str, ...]:
        """Claims of a bound that are too small, simultaneously at confidence ``level``.

        The claims are "epsilon" at the bound's delta, "mu" of GDP, and, if the bound's epsilon does not
        follow from a mu, "profile": the bound's delta at a few values of epsilon.

        Raises:
            InputError: the bound's delta is missing or differs from the audit's delta.
        """
        return claims_refuted(self, bound, None if self.scores is None else self.scores.delta)


def limits_table(found: Any, counts: dict[str, str]) -> TextTable:
    """Tabulate the lower limits of an audit, rounded down, and the counts."""
    values = {f"epsilon at delta = {found.delta:g} is at least": printed_down(found.epsilon)}
    values |= {"mu is at least, if mu-GDP holds": printed_down(found.mu)}
    return facts(f"Lower bounds with {found.level:.4g} confidence, rounded down", values | counts)


def claims_refuted(
    found: Any, bound: "PrivacyLoss", least_delta: Callable[[float], float] | None
) -> tuple[str, ...]:
    """Claims of a bound that are refuted by lower limits for epsilon, mu and the profile."""
    if bound.delta != found.delta:
        raise InputError(
            f"refutes needs a bound at delta={found.delta:g}, got delta={bound.delta}; use the same delta."
        )
    claims = ["epsilon"] if found.epsilon > bound.epsilon else []
    if bound.mu is not None and found.mu > bound.mu:
        claims.append("mu")
    gaussian = bound.mu is not None and bound.epsilon >= gdp_epsilon_below(bound.mu, found.delta)
    if least_delta is not None and not gaussian and np.isfinite(bound.epsilon):
        points = [(share * bound.epsilon, least_delta(share * bound.epsilon)) for share in _SHARES]
        profile = bound.profile()
        claims += ["profile"] * any(least > 0 and least > profile(at) for at, least in points)
    return tuple(claims)


def audit(
    *,
    false_positives: int,
    negatives: int,
    false_negatives: int,
    positives: int,
    delta: float,
    level: float = 0.95,
    scores: Scores | None = None,
) -> Audit:
    """Lower confidence bounds from counts and scores of runs that were not used to choose the attack.

    Arguments are the fields of `Audit`. The level of ``scores`` must exceed ``level``; the counts get the
    rest of 1 - level.

    Raises:
        InputError: a count or a level is out of range, or the level of the scores is too small.

    >>> round(audit(false_positives=0, negatives=1000, false_negatives=0, positives=1000, delta=1e-5).epsilon, 2)
    5.6
    """
    for name, wrong, total, runs in (
        ("false_positives", false_positives, "negatives", negatives),
        ("false_negatives", false_negatives, "positives", positives),
    ):
        if count(name, wrong, least=0) > count(total, runs):
            raise InputError(
                f"{name} needs a whole number from 0 to {total}={runs}, got {name}={wrong}; count the runs again."
            )
    delta, level = chance("delta", delta), chance("level", level)
    doubt = 1 - level
    if scores is not None:
        doubt -= 1 - scores.level
        if doubt <= 0:
            raise InputError(
                f"scores need a level above level={level:g}, got scores.level={scores.level:g}; raise it, or lower "
                "level."
            )
    fpr, fnr = (
        float(rates_at_most(np.array([wrong]), runs, doubt / 2)[0])
        for wrong, runs in ((false_positives, negatives), (false_negatives, positives))
    )
    epsilon, mu = max(epsilon_of_rates(fpr, fnr, delta) * DOWN, 0.0), mu_of_rates(fpr, fnr)
    if scores is not None:
        epsilon, mu = max(epsilon, scores.epsilon(delta)), max(mu, scores.mu)
    return Audit(
        epsilon=epsilon,
        mu=mu,
        observed=epsilon_of_rates(false_positives / negatives, false_negatives / positives, delta),
        false_positives=false_positives,
        negatives=negatives,
        false_negatives=false_negatives,
        positives=positives,
        delta=delta,
        level=level,
        gaussian_epsilon=gdp_epsilon_below(mu, delta),
        scores=scores,
    )


def epsilon_limits(
    false_positives: NDArray[np.int64],
    negatives: int,
    false_negatives: NDArray[np.int64],
    positives: int,
    *,
    delta: float,
    level: float,
) -> Array:
    """`Audit.epsilon` from the counts of many tests, shape (tests,), each at confidence ``level``."""
    rates = zip(
        rates_at_most(false_positives, negatives, (1 - level) / 2).tolist(),
        rates_at_most(false_negatives, positives, (1 - level) / 2).tolist(),
        strict=True,
    )
    return np.array([max(epsilon_of_rates(fpr, fnr, delta) * DOWN, 0.0) for fpr, fnr in rates])
