"""Chourasia, Ye & Shokri 2021, against the formula in 50 digits."""

import mpmath
import numpy as np
import pytest
from chien_li_1 import chourasia_strongly_convex
from curves import claimed_at

_FIGURE = {"T": 60, "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "m": 1.0, "alpha": 2.0}


def test_the_formula_is_rounded_up() -> None:
    generator = np.random.default_rng(2)
    with mpmath.workdps(50):
        for _ in range(100):
            setting = {
                "T": int(generator.integers(1, 80)),
                "n": int(generator.integers(2, 50)),
                "eta": float(generator.uniform(0.01, 1)),
                "sigma": float(generator.uniform(0.1, 3)),
                "K": float(generator.uniform(0.1, 4)),
                "m": float(generator.uniform(0.05, 1)),
                "alpha": float(generator.uniform(1.1, 30)),
            }
            T, n, eta, sigma, K, m, alpha = (mpmath.mpf(value) for value in setting.values())
            variance = sigma**2 / (2 * eta)
            true = alpha * (2 * K) ** 2 / (m * variance * n**2) * (1 - mpmath.exp(-m * eta * T / 2))
            claimed = chourasia_strongly_convex(setting)
            assert true <= claimed <= true * (1 + mpmath.mpf(10) ** -14)


def test_it_starts_at_twice_composition() -> None:
    short = _FIGURE | {"T": 1, "m": 1e-9}
    assert chourasia_strongly_convex(short) == pytest.approx(
        2 * claimed_at("composition", _FIGURE | {"T": 1, "D": 1.0})
    )
