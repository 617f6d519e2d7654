"""Formulas for random quantities in refutations, against draws of these quantities.

A mean is compared with its formula, at six standard errors of the draws.
"""

import numpy as np
import pytest
import sympy as sp

from lastiterate.numeric.arrays import Array
from lastiterate.symbolic.d2p2 import theorem_3
from lastiterate.symbolic.d2p2.theorem_2 import _clipped_mean
from lastiterate.symbolic.liang import appendix_e, theorem_3_4
from lastiterate.symbolic.notation import D, K, T, b, dim, eta, sigma_dp, stab, z
from lastiterate.symbolic.unevaluated import put

COPIES = 200_000


def interval(draws: Array) -> tuple[float, float]:
    error = 6 * float(draws.std()) / np.sqrt(len(draws))
    return float(draws.mean()) - error, float(draws.mean()) + error


def normalised(gradient: Array, gamma: float) -> Array:
    return gradient / (np.abs(gradient) + gamma)


def positive_ends(step: float, radius: float) -> Array:
    """Indicators that one projected step from 0, K = sigma_DP = 1, for one sample of slope -K, ends above 0."""
    noise = np.random.default_rng(1).normal(size=COPIES)
    return np.where(np.clip(step * (1 + noise), -radius, radius) > 0, 1.0, 0.0)


def test_the_mean_of_normalised_gradients() -> None:
    draws = normalised(np.random.default_rng(1).choice([5.0, -1.0, -1.0], COPIES), 0.1)
    low, high = interval(draws)
    assert low <= float(put(_clipped_mean, {stab: sp.Rational(1, 10)})) <= high < 0 < 1 / 1.1


@pytest.mark.parametrize(
    ("allowed", "step", "radius"),
    [
        (appendix_e._seen.subs({eta: 0.01, sigma_dp: 1, K: 1, D: 0.01}), 0.01, 0.01),
        (theorem_3_4._seen.subs(z, 0.01), 1.0, 0.01),
    ],
)
def test_the_sign_of_a_projected_step_is_known_better_than_the_bound_allows(
    allowed: sp.Expr, step: float, radius: float
) -> None:
    low, high = interval(positive_ends(step, radius))
    assert float(allowed) < low <= float(sp.erfc(-1 / sp.sqrt(2)) / 2) <= high


def test_a_poisson_batch_expands_beyond_the_printed_constant() -> None:
    sizes = np.random.default_rng(1).binomial(10, 0.2, COPIES)
    assert np.mean(1 + 0.1 / 2 * sizes > 1 + 0.1 + 1e-12) > 0.3


def test_the_energy_of_noise_in_five_dimensions() -> None:
    low, high = interval((np.random.default_rng(1).normal(0, 0.5 * 2, (COPIES, 5)) ** 2).sum(axis=1))
    value = float((dim * eta**2 * sigma_dp**2).subs({dim: 5, eta: 0.5, sigma_dp: 2}))
    assert value / 5 < low <= value <= high


def test_the_mean_of_what_clipping_removes() -> None:
    gradient = np.where(np.random.default_rng(1).random(COPIES) < 0.25, 2.0, 0.0)
    low, high = interval(gradient - np.minimum(gradient, 1.0))
    assert 1 / 16 < low <= 1 / 4 <= high


def test_the_energy_of_a_mean_of_four() -> None:
    low, high = interval(np.random.default_rng(1).integers(0, 2, (COPIES, 4)).mean(axis=1) ** 2)
    assert 1 / 8 < low <= (1 + 1 / 4) / 4 <= high


def stalled_gradients(noise: float, steps: int, step: float, gamma: float) -> Array:
    """Least gradient along runs of D2P2-SGD, d = p = sigma_A = 1, on 13 samples of slope 14 and 14 of slope -1.

    The slopes apply at x >= 0 and shrink to 0 at x = -1. Runs start at 1.
    """
    draw, copies = np.random.default_rng(1), 2_000
    x = lowest = np.ones(copies)
    for k in range(1, steps + 1):
        shape = np.clip(1.0 + x, 0.0, 1.0)
        mean = (13 * normalised(14 * shape, gamma) + 14 * normalised(-shape, gamma)) / 27
        projection = draw.normal(size=copies)
        lowest = np.minimum(lowest, x)
        x = x - step * projection * (projection * mean + draw.normal(0.0, noise / np.sqrt(k), copies))
    return (13 * 14 - 14) / 27 * np.clip(1.0 + lowest, 0.0, 1.0)


def test_the_least_gradient_of_a_stalled_run_exceeds_the_printed_bound() -> None:
    run, nu = {T: 500, eta: 1 / 50, stab: 1 / 12, b: 27}, 1 / 20
    printed = float(theorem_3._bound.subs(run)) + 14 / 50 * nu**2 * (np.log(500) + 1) / 500
    assert interval(stalled_gradients(nu, 500, 1 / 50, 1 / 12))[0] > printed
    assert stalled_gradients(0.0, 20, 1 / 50, 1 / 12) == pytest.approx(np.full(2_000, float(theorem_3.SLOPE)))
    assert stalled_gradients(50.0, 200, 1 / 50, 1 / 12).min() < 56 / 9
