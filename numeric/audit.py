"""What an attack proves: a lower confidence bound of epsilon from counts of its right and wrong answers.

A test of "the run saw these data" against "the adjacent ones" with rates FPR and FNR is possible under (epsilon, delta)
only where FPR + e^epsilon FNR >= 1 - delta and FNR + e^epsilon FPR >= 1 - delta, hence

    epsilon >= max(log((1 - delta - FPR) / FNR), log((1 - delta - FNR) / FPR)),

Liang et al. 2026, (20), who put in observed rates; that is no bound of anything. Here each rate is replaced by its
upper Clopper-Pearson limit, so that the number is below epsilon with the stated confidence.

Source: Kairouz, Oh & Viswanath 2015; Clopper & Pearson 1934; Dong, Roth & Su 2022 for mu.
"""

from dataclasses import dataclass
from math import inf, log

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count, real

__all__ = ["Audit", "audit"]


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
            raise InputError(f"{name} needs a whole number from 0 to {total}={runs}, got {name}={wrong!r}.")
    for name, value in (("delta", delta), ("level", level)):
        if not 0 < real(name, value, "a number in (0, 1)") < 1:
            raise InputError(f"{name} needs a number in (0, 1), got {name}={value:g}.")
    fpr, fnr = false_positives / negatives, false_negatives / positives
    worst_fpr, worst_fnr = _at_most(false_positives, negatives, level), _at_most(false_negatives, positives, level)
    mu = float(ndtri(1 - worst_fpr) - ndtri(worst_fnr)) if max(worst_fpr, worst_fnr) < 1 else 0.0
    return Audit(
        epsilon=max(_epsilon(worst_fpr, worst_fnr, delta), 0.0),
        mu=max(mu, 0.0),
        observed=_epsilon(fpr, fnr, delta),
        false_positives=false_positives,
        negatives=negatives,
        false_negatives=false_negatives,
        positives=positives,
        delta=delta,
        level=level,
    )


def _at_most(wrong: int, runs: int, level: float) -> float:
    """Upper Clopper-Pearson limit of a rate; half of the doubt goes to each of the two rates."""
    from scipy.special import betaincinv

    return 1.0 if wrong == runs else float(betaincinv(wrong + 1, runs - wrong, 1 - (1 - level) / 2))


def _epsilon(fpr: float, fnr: float, delta: float) -> float:
    def one(first: float, second: float) -> float:
        left = 1 - delta - first
        if left <= 0:
            return -inf
        return inf if second == 0 else log(left / second)

    return max(one(fpr, fnr), one(fnr, fpr))
