"""Limits that hold as often as they say, on laws whose distance is known."""

import numpy as np
import pytest
from scipy.stats import ncx2

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.drift import CoupledRuns, drift_interval

RUN = NoisySGD(1, 0.1, 1.0, 1.0, 2)


def coupled(left: np.ndarray, right: np.ndarray) -> CoupledRuns:
    lengths = np.linalg.norm(left - right, axis=1)
    return CoupledRuns(RUN, 0, np.stack([np.zeros(len(left)), lengths]), left, right, 1.0)


def test_a_shift_is_pinned_from_both_sides() -> None:
    left = np.random.default_rng(0).normal(size=(50, 3))
    found = drift_interval(coupled(left, left + np.array([0.3, 0.0, 0.4])))
    assert found.low == pytest.approx(0.5)
    assert found.w2_high == pytest.approx(0.5)
    assert found.w_infinity_high == pytest.approx(0.5)


def test_the_limits_hold_as_often_as_they_say() -> None:
    """Y = X + d, d ~ N((1, 0), 0.3^2 I): W_2 = 1 with this mean, and E |d|^2 = 1 + 2 * 0.09 for the coupling."""
    generator = np.random.default_rng(1)
    failures = np.zeros(3)
    for _ in range(2000):
        left = generator.normal(size=(60, 2))
        found = drift_interval(
            coupled(left, left + np.array([1.0, 0.0]) + 0.3 * generator.normal(size=(60, 2))), level=0.85
        )
        failures += [
            found.low > 1.0,
            found.w2_high < np.sqrt(1.18),
            found.w_infinity_high**2 < 0.09 * _quantile(1 - found.share),
        ]
    assert (failures <= 0.07 * 2000).all(), "a third of 15% each, and Student's limits are asymptotic"
    assert failures[2] > 0.02 * 2000, "the share is exact, so that it must fail sometimes"


def _quantile(level: float) -> float:
    """Of |d|^2 / 0.09 with d as above: a noncentral chi-square variable of two degrees."""
    return float(ncx2.ppf(level, 2, 1 / 0.09))


def test_resampling_the_greatest_would_not_cover() -> None:
    """Why there is no bootstrap of W_infinity: of uniform distances it hardly ever reaches the supremum."""
    generator = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        lengths = generator.uniform(size=40)
        greatest = np.quantile(generator.choice(lengths, size=(200, 40)).max(axis=1), [0.025, 0.975])
        covered += greatest[0] <= 1.0 <= greatest[1]
    assert covered == 0


def test_equal_runs_and_too_few() -> None:
    same = np.zeros((6, 2))
    found = drift_interval(coupled(same, same))
    assert (found.low, found.w2_high, found.w_infinity_high) == (0.0, 0.0, 0.0)
    assert found.share == pytest.approx(1 - (0.05 / 3) ** (1 / 6))
    with pytest.raises(InputError, match="at least 4 pairs, got pairs=3"):
        drift_interval(coupled(same[:3], same[:3]))
    with pytest.raises(InputError, match="level=0"):
        drift_interval(coupled(same, same), level=0.0)
