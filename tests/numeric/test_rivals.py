import mpmath
import numpy as np
import pytest

from lastiterate.numeric.rivals import altschuler_talwar_strongly_convex, chourasia_strongly_convex
from lastiterate.numeric.theorems import EVALUATORS

FIGURE = {"T": 60, "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "m": 1.0, "alpha": 2.0}


def random_setting(generator: np.random.Generator) -> dict[str, float]:
    L = float(generator.uniform(0.2, 3))
    return {
        "T": int(generator.integers(1, 80)),
        "n": int(generator.integers(2, 50)),
        "eta": float(generator.uniform(0.01, 1) / L),
        "sigma": float(generator.uniform(0.1, 3)),
        "K": float(generator.uniform(0.1, 4)),
        "D": float(generator.uniform(0.05, 10)),
        "L": L,
        "m": float(generator.uniform(0.05, 1) * L),
        "alpha": float(generator.uniform(1.1, 30)),
    }


def by_grid(setting: dict[str, float]) -> float:
    """(B.3) as printed, every window and a fine grid of splits; never below the exact minimum."""
    T, n, eta, sigma, K, D, L, m, alpha = (setting[key] for key in FIGURE)
    s = 2 * eta * K / n
    c = max(abs(1 - eta * m), abs(1 - eta * L))
    best = alpha * T * s**2 / (2 * sigma**2)
    share = np.linspace(0, 1, 4001)[1:-1]
    for window in range(1, int(T)):
        hidden = alpha * s**2 / (2 * sigma**2 * (1 - share))
        shifted = alpha * D**2 * (1 - c**2) / (2 * sigma**2 * share * (c ** (-2 * window) - 1))
        best = min(best, float(((window + 1) * hidden + shifted).min()))
    return best


def test_altschuler_talwar_is_its_own_minimum_over_windows_and_splits() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        setting = random_setting(generator)
        exact, grid = altschuler_talwar_strongly_convex(setting), by_grid(setting)
        assert grid * (1 - 1e-3) <= exact <= grid * (1 + 1e-12)


def test_ours_is_never_above_altschuler_talwar() -> None:
    generator = np.random.default_rng(1)
    for _ in range(100):
        setting = random_setting(generator)
        ours = EVALUATORS["shift_strongly_convex"](setting)
        assert ours <= altschuler_talwar_strongly_convex(setting) * (1 + 1e-12)


def test_an_infinite_domain_leaves_composition() -> None:
    endless = FIGURE | {"D": float("inf"), "T": 100}
    assert altschuler_talwar_strongly_convex(endless) == pytest.approx(100 * 0.08**2)


def test_chourasia_is_the_formula_rounded_up() -> None:
    generator = np.random.default_rng(2)
    with mpmath.workdps(50):
        for _ in range(100):
            setting = random_setting(generator)
            T, n, eta, sigma, K, _, _, m, alpha = (mpmath.mpf(setting[key]) for key in FIGURE)
            variance = sigma**2 / (2 * eta)
            true = alpha * (2 * K) ** 2 / (m * variance * n**2) * (1 - mpmath.exp(-m * eta * T / 2))
            claimed = chourasia_strongly_convex(setting)
            assert true <= claimed <= true * (1 + mpmath.mpf(10) ** -14)


def test_chourasia_starts_at_twice_composition() -> None:
    short = FIGURE | {"T": 1, "m": 1e-9}
    assert chourasia_strongly_convex(short) == pytest.approx(2 * EVALUATORS["composition"](FIGURE | {"T": 1}))
