from math import inf, isinf, log

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.lower.audit import audit


@pytest.mark.nightly
def test_limits_are_those_of_clopper_and_pearson() -> None:
    found = audit(false_positives=3, negatives=200, false_negatives=10, positives=100, delta=1e-3, level=0.9)
    # The upper limits solve P(at most so many) = 0.05.
    fpr = next(p for p in np.arange(0.03, 0.05, 1e-6) if binom.cdf(3, 200, p) <= 0.05)
    fnr = next(p for p in np.arange(0.15, 0.18, 1e-6) if binom.cdf(10, 100, p) <= 0.05)
    assert found.epsilon == pytest.approx(
        max(log((1 - 1e-3 - fpr) / fnr), log((1 - 1e-3 - fnr) / fpr)), abs=1e-3
    )
    assert found.mu == pytest.approx(norm.isf(fpr) - norm.ppf(fnr), abs=1e-3)
    assert found.observed == pytest.approx(max(log((0.999 - 0.015) / 0.1), log((0.999 - 0.1) / 0.015)))


def test_the_observed_formula_is_infinite_where_the_bound_is_not() -> None:
    found = audit(false_positives=0, negatives=10, false_negatives=0, positives=10, delta=1e-5)
    assert isinf(found.observed)
    assert 0 < found.epsilon < 1


def test_the_bound_covers_an_exact_gaussian_pair() -> None:
    """Attack N(0, 1) against N(1, 1) at its best threshold: mu = 1 is exceeded in at most 5% of the audits."""
    generator = np.random.default_rng(0)
    exceeded = 0
    for _ in range(400):
        wrong = generator.binomial(300, norm.cdf(-0.5), size=2)
        found = audit(
            false_positives=int(wrong[0]),
            negatives=300,
            false_negatives=int(wrong[1]),
            positives=300,
            delta=1e-5,
        )
        exceeded += found.mu > 1.0
    assert exceeded <= 0.08 * 400
    assert exceeded > 0, "a bound that is never exceeded is too cautious for its level"


def test_either_order_of_the_two_laws_may_be_the_one_that_is_lost() -> None:
    """One answer is rare and sure: with the data as numerator or as denominator, the bound is the same."""
    rare = audit(false_positives=0, negatives=1000, false_negatives=600, positives=1000, delta=1e-3)
    swapped = audit(false_positives=600, negatives=1000, false_negatives=0, positives=1000, delta=1e-3)
    fpr = 1 - 0.025 ** (1 / 1000)  # Clopper and Pearson's limit of none in 1000
    fnr = beta.ppf(0.975, 601, 400)
    assert rare.epsilon == swapped.epsilon == pytest.approx(log((1 - 1e-3 - fnr) / fpr))


def test_a_test_that_always_says_yes_shows_nothing() -> None:
    found = audit(false_positives=10, negatives=10, false_negatives=0, positives=10, delta=1e-3)
    assert found.observed == log(1 - 1e-3)
    never = audit(false_positives=10, negatives=10, false_negatives=10, positives=10, delta=1e-3)
    assert never.observed == -inf
    assert never.epsilon == never.mu == 0.0


def test_a_useless_attack_proves_nothing() -> None:
    found = audit(false_positives=50, negatives=100, false_negatives=50, positives=100, delta=1e-5)
    assert (found.epsilon, found.mu) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"false_positives": 11}, "false_positives=11"),
        ({"false_negatives": -1}, "false_negatives=-1"),
        ({"negatives": 0}, "negatives=0"),
        ({"delta": 0.0}, "delta=0"),
        ({"level": 1.0}, "level=1"),
    ],
)
def test_bad_input(change: dict[str, object], said: str) -> None:
    good = {"false_positives": 1, "negatives": 10, "false_negatives": 1, "positives": 10, "delta": 1e-5}
    with pytest.raises(InputError, match=said):
        audit(**{**good, **change})  # type: ignore[arg-type]
