"""Audits: a lower confidence bound of epsilon from the counts of right and wrong answers of an attack.

    epsilon >= max(log((1 - delta - FPR) / FNR), log((1 - delta - FNR) / FPR)),

Liang et al. 2026, (20), at the upper Clopper-Pearson limits of the rates of the answer "the run saw these data": below
epsilon with the stated confidence, in whichever of the two directions is larger. Observed rates give no bound.

Source: docs/proofs/lower_bounds.md; Kairouz, Oh & Viswanath 2015; Clopper & Pearson 1934; Dong, Roth & Su 2022 for mu.
"""

from dataclasses import asdict, dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count


@dataclass(frozen=True)
class Audit:
    """The outcome of an attack. Direction: ``epsilon`` and ``mu`` are lower bounds at confidence ``level``.

    Attributes:
        epsilon: lower confidence bound of epsilon at ``delta``; at least 0.
        mu: lower confidence bound of the parameter of Gaussian differential privacy; at least 0.
        observed: the formula with the observed rates, as the paper has it; no bound, and inf where a rate is 0.
        false_positives: wrong answers among ``negatives`` runs without.
        negatives: runs without the sample.
        false_negatives: wrong answers among ``positives`` runs with it.
        positives: runs with the sample.
        delta: of (epsilon, delta).
        level: confidence of both numbers together.
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

    def as_dict(self) -> dict[str, object]:
        """The numbers as plain data."""
        return asdict(self)


def audit(
    *, false_positives: int, negatives: int, false_negatives: int, positives: int, delta: float, level: float = 0.95
) -> Audit:
    """The lower confidence bound from counts on runs that played no part in choosing the attack.

    Args:
        false_positives: runs without the sample that were taken for runs with it.
        negatives: runs without the sample.
        false_negatives: runs with the sample that were taken for runs without.
        positives: runs with the sample.
        delta: in (0, 1).
        level: confidence, in (0, 1).

    Raises:
        InputError: a count or a level out of its range.

    >>> round(audit(false_positives=0, negatives=1000, false_negatives=0, positives=1000, delta=1e-5).epsilon, 2)
    5.6
    """
    from scipy.special import ndtri

    for name, wrong, total, runs in (
        ("false_positives", false_positives, "negatives", negatives),
        ("false_negatives", false_negatives, "positives", positives),
    ):
        count(total, runs)
        if isinstance(wrong, bool) or not isinstance(wrong, int) or not 0 <= wrong <= runs:
            raise InputError(
                f"{name} needs a whole number from 0 to {total}={runs}, got {name}={wrong!r}; count the runs again."
            )
    chance("delta", delta)
    chance("level", level)
    wrong_negatives, wrong_positives = np.array([false_positives]), np.array([false_negatives])
    worst_fpr = float(_at_most(wrong_negatives, negatives, level)[0])
    worst_fnr = float(_at_most(wrong_positives, positives, level)[0])
    limits = epsilon_limits(wrong_negatives, negatives, wrong_positives, positives, delta=delta, level=level)
    mu = -float(ndtri(worst_fpr) + ndtri(worst_fnr)) if max(worst_fpr, worst_fnr) < 1 else 0.0
    return Audit(
        epsilon=float(limits[0]),
        mu=max(mu * _DOWN, 0.0),
        observed=_epsilon(false_positives / negatives, false_negatives / positives, delta),
        false_positives=false_positives,
        negatives=negatives,
        false_negatives=false_negatives,
        positives=positives,
        delta=delta,
        level=level,
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
    """`Audit.epsilon` for many tests at once, shape (tests,); each by itself holds with confidence ``level``.

    The counts of wrong answers are of shape (tests,); all else is as for `audit`.
    """
    rates = zip(
        _at_most(false_positives, negatives, level).tolist(),
        _at_most(false_negatives, positives, level).tolist(),
        strict=True,
    )
    return np.array([max(_epsilon(fpr, fnr, delta) * _DOWN, 0.0) for fpr, fnr in rates])


_DOWN = 1 - 1e-12
"""More than the rounding of scipy's inverse functions and of a logarithm."""


def _at_most(wrong: NDArray[np.int64], runs: int, level: float) -> Array:
    """Upper Clopper-Pearson limits of rates; half of the doubt goes to each of the two kinds of rates."""
    from scipy.special import betaincinv

    some = np.minimum(wrong, runs - 1)
    return np.where(wrong >= runs, 1.0, betaincinv(some + 1, runs - some, 1 - (1 - level) / 2))


def _epsilon(fpr: float, fnr: float, delta: float) -> float:
    def one(first: float, second: float) -> float:
        left = 1 - delta - first
        if left <= 0:
            return -inf
        return inf if second == 0 else log(left / second)

    return max(one(fpr, fnr), one(fnr, fpr))
