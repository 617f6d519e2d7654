"""Audits: lower confidence limits of epsilon and mu from the runs of an attack, and the claims that they refute.

The counts of right and wrong answers at one threshold, learned from other runs, give

    epsilon >= max(log((1 - delta - FPR) / FNR), log((1 - delta - FNR) / FPR)),

Liang et al. 2026, (20), at the upper Clopper-Pearson limits of the rates of the answer "the run saw these data": below
epsilon with the stated confidence, in whichever of the two directions is larger. Observed rates give no bound. All
scores together, where they are there, give more (`lastiterate.numeric.lower.scores`).

Source: docs/proofs/lower_bounds.md; Kairouz, Oh & Viswanath 2015; Clopper & Pearson 1934; Dong, Roth & Su 2022 for mu.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.conversion import gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import InputError, chance, count
from lastiterate.numeric.lower.rates import DOWN, at_most, epsilon_of_rates, mu_of_rates
from lastiterate.numeric.lower.scores import Scores
from lastiterate.numeric.rounding import printed_down

if TYPE_CHECKING:
    from lastiterate.numeric.bound import PrivacyLoss
    from lastiterate.numeric.lower.one_run import OneRun

_SHARES = (0.0, 0.25, 0.5, 1.0)
"""Of the epsilon of a bound: where its profile is compared with the curve."""


@dataclass(frozen=True)
class Audit(Displayed):
    """The outcome of an attack. Direction: lower bounds, all of them together at confidence ``level``.

    Attributes:
        epsilon: lower confidence bound of epsilon at ``delta``, at least 0: the largest from the counts and from the
            curve of all scores. It refutes every claim of a smaller epsilon at this delta.
        mu: lower confidence bound of the parameter of Gaussian differential privacy, at least 0: the largest from the
            counts, the AUC and the curve. It refutes a claim of mu-GDP with a smaller mu (`Bound.mu`), and no other.
        observed: the formula with the observed rates, as the paper has it; no bound, and inf where a rate is 0.
        false_positives: wrong answers among ``negatives`` runs without.
        negatives: runs without the sample.
        false_negatives: wrong answers among ``positives`` runs with it.
        positives: runs with the sample.
        delta: of (epsilon, delta).
        level: confidence of all numbers together.
        gaussian_epsilon: the epsilon at ``delta`` of mu-GDP at this ``mu``, rounded down. It refutes a smaller epsilon
            that was derived from mu-GDP, and says nothing of an (epsilon, delta) that was not.
        scores: what all scores show; None for an audit from counts alone.
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
        """The lower limits, with the counts behind them."""
        missed, accused = f"{self.false_negatives} of {self.positives}", f"{self.false_positives} of {self.negatives}"
        counts = {"runs with the sample missed": missed, "runs without it accused": accused}
        return shown(self, counts | {"epsilon from these rates": f"{self.observed:.6g}, an estimate"})

    def refutes(self, bound: "PrivacyLoss") -> tuple[str, ...]:
        """The claims of a bound that are too small; all that is said holds at ``level`` together.

        "epsilon": at the bound's delta. "mu": of GDP, where the bound has one. "profile": where the bound's epsilon
        does not rest on a mu, as for random batches or by contraction, the curve of all scores is compared with the
        bound's delta at a few other epsilons.

        Args:
            bound: a bound at a delta.

        Raises:
            InputError: the bound is at no delta, or at another one than the audit.
        """
        shown = None if self.scores is None else self.scores.delta
        return claims_refuted(bound, self.delta, self.epsilon, self.mu, shown)


def shown(found: "Audit | OneRun", counts: dict[str, str]) -> TextTable:
    """Lower limits of an attack, rounded down, and the counts behind them."""
    values = {f"epsilon at delta = {found.delta:g} is at least": printed_down(found.epsilon)}
    values |= {"mu is at least, if mu-GDP holds": printed_down(found.mu)}
    return facts(f"Lower bounds with {found.level:.4g} confidence, rounded down", values | counts)


def claims_refuted(
    bound: "PrivacyLoss", delta: float, epsilon: float, mu: float, shown: Callable[[float], float] | None
) -> tuple[str, ...]:
    """The claims of a bound that lower limits of epsilon at ``delta``, of mu and of the profile refute.

    Raises:
        InputError: the bound is at no delta, or at another one.
    """
    if bound.delta != delta:
        raise InputError(f"refutes needs a bound at delta={delta:g}, got delta={bound.delta}; bound it there.")
    found = ["epsilon"] if epsilon > bound.epsilon else []
    if bound.mu is not None:
        found += ["mu"] * (mu > bound.mu)
    gaussian = bound.mu is not None and bound.epsilon >= gdp_epsilon_below(bound.mu, delta)
    if shown is not None and not gaussian and np.isfinite(bound.epsilon):
        points = [(share * bound.epsilon, shown(share * bound.epsilon)) for share in _SHARES]
        profile = bound.profile()
        found += ["profile"] * any(least > 0 and least > profile(at) for at, least in points)
    return tuple(found)


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
    """The lower confidence bounds from counts on runs that played no part in choosing the attack, and from all scores.

    Args:
        false_positives: runs without the sample that were taken for runs with it.
        negatives: runs without the sample.
        false_negatives: runs with the sample that were taken for runs without.
        positives: runs with the sample.
        delta: in (0, 1).
        level: confidence of all together, in (0, 1).
        scores: what all scores of the same or of other runs show, at a larger level: the counts have the rest of the
            doubt. The runs may be the same, but those that taught the score may not be among them.

    Raises:
        InputError: a count or a level out of its range, or a level of the scores that leaves no doubt to the counts.

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
                f"scores need a level above level={level:g}, got scores.level={scores.level:g}; share the doubt."
            )
    fpr, fnr = (
        float(at_most(np.array([wrong]), runs, doubt / 2)[0])
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
    """`Audit.epsilon` from counts of many tests, shape (tests,); each by itself holds with confidence ``level``.

    The counts of wrong answers are of shape (tests,); all else is as for `audit`.
    """
    rates = zip(
        at_most(false_positives, negatives, (1 - level) / 2).tolist(),
        at_most(false_negatives, positives, (1 - level) / 2).tolist(),
        strict=True,
    )
    return np.array([max(epsilon_of_rates(fpr, fnr, delta) * DOWN, 0.0) for fpr, fnr in rates])
