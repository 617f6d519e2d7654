"""The theorems as printed, at their optimum, against scipy on the printed formula."""

from math import inf

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from lastiterate.numeric.published.chien_li import _waterfill, theorem_3_1, theorem_3_7


def _printed_3_1(c: float, s: float, drift: float, D: float, steps: int) -> float:
    """(3), minimised over beta by L-BFGS-B for every tau."""
    best = steps * s**2
    for tau in range(1, steps):
        distance = min(s * sum(c**t for t in range(tau)), drift * tau, D)
        powers = c ** (-2.0 * np.arange(1, steps - tau + 1))

        def value(beta: np.ndarray, distance: float = distance, powers: np.ndarray = powers) -> float:
            return float(np.sum(s**2 / beta) + distance**2 / np.sum((1 - beta) * powers))

        for first in (0.2, 0.5, 0.9):
            found = minimize(
                value,
                np.full(len(powers), first),
                method="L-BFGS-B",
                bounds=[(1e-3, 1.0 - 1e-9)] * len(powers),
                options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000},
            )
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_theorem_3_1_is_at_its_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c, steps = float(rng.uniform(0.7, 1.3)), int(rng.integers(2, 12))
    s = float(rng.uniform(0.05, 0.5))
    D = s * float(rng.uniform(0.5, 4))
    ours, theirs = theorem_3_1(c, s, 5 * s, D, steps), _printed_3_1(c, s, 5 * s, D, steps)
    assert ours <= theirs * (1 + 1e-9)
    assert ours == pytest.approx(theirs, rel=2e-5)


@pytest.mark.parametrize("order", [0.3, 0.5, 0.8, 1.0])
def test_theorem_3_7_at_two_steps(order: float) -> None:
    weight, s, D = 0.05, 0.08, 0.3

    def two_steps(left: float) -> float:
        return (D + weight * D**order + s - left) ** 2 + (left + weight * left**order + s) ** 2

    least = minimize_scalar(two_steps, bounds=(1e-9, D), method="bounded", options={"xatol": 1e-12}).fun
    one = (D + weight * D**order + s) ** 2
    # From tau = 0 nothing beats composition, 2 s^2; with a first step in front the window of two is free.
    assert theorem_3_7(weight, order, s, D, 2) == pytest.approx(min(2 * s**2, one, least), rel=1e-9)
    assert theorem_3_7(weight, order, s, D, 10**6) <= min(one, least) * (1 + 1e-12)


def test_theorem_3_7_contains_theorem_3_1() -> None:
    for D in (0.2, 1.0):
        smooth = theorem_3_1(1.1, 0.08, 0.4, D, 500)
        assert theorem_3_7(0.1, 1.0, 0.08, D, 500) == pytest.approx(smooth, rel=1e-9)


def test_theorem_3_1_where_one_update_forgets_the_past_or_nothing_is_known_of_it() -> None:
    """At c = 0 the last step alone counts; where no distance is known, composition."""
    assert theorem_3_1(0.0, 0.3, 1.0, 2.0, 50) == pytest.approx(0.3**2, rel=1e-11)
    assert theorem_3_1(0.0, 0.3, 1.0, 2.0, 50) >= 0.3**2
    assert theorem_3_1(-1e-17, 0.3, 1.0, 2.0, 50) == theorem_3_1(0.0, 0.3, 1.0, inf, 1)
    assert theorem_3_1(1e300, 0.1, inf, inf, 5) == pytest.approx(5 * 0.1**2, rel=1e-11)


def test_the_shares_that_bind_are_found(subtests: pytest.Subtests) -> None:
    """Least sum of max(s, lam p_j)^2, lam by bisection on what the shifts hide."""
    for w in [1, 2, 7, 40]:
        for distance in [0.0, 0.01, 0.3, 5.0]:
            for c in [0.7, 0.97, 1.0, 1.03, 1.4]:
                with subtests.test(c=c, distance=distance, w=w):
                    s, powers = 0.1, c ** -np.arange(1.0, w + 1)
                    low, high = 0.0, (distance + s * powers.sum()) / (powers**2).sum() + s / powers.min()
                    for _ in range(200):
                        lam = (low + high) / 2
                        hides = float((powers * (np.maximum(s, lam * powers) - s)).sum())
                        low, high = (low, lam) if hides >= distance else (lam, high)
                    wanted = float((np.maximum(s, high * powers) ** 2).sum())
                    V, W = (np.concatenate([[0.0], np.cumsum(one)]) for one in (powers, powers**2))
                    assert _waterfill(V, W, powers, s, distance) == pytest.approx(wanted, rel=1e-9)
