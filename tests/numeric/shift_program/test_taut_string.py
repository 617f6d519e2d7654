"""The taut string, against a quadratic program solved by scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import Convex, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import Path, ShiftProgram
from lastiterate.numeric.shift_program.taut_string import taut_string


def _forward(c: np.ndarray, s: np.ndarray, path: Path) -> np.ndarray:
    z = [path.distance]
    for t, a in enumerate(path.shifts, start=path.start):
        z.append(c[t] * z[-1] + s[t] - a)
    return np.array(z)


def _quadratic_program(c: np.ndarray, s: np.ndarray, noise: np.ndarray, tracked: np.ndarray) -> float:
    """The least cost over all starts; the states z are affine in the shifts."""
    best = np.inf
    steps = len(c)
    for start in range(steps):
        ahead = c[start:], s[start:], noise[start:]
        length = steps - start

        def states(a: np.ndarray, ahead: tuple[np.ndarray, ...] = ahead, start: int = start) -> np.ndarray:
            z = [tracked[start]]
            for growth, drift, shift in zip(ahead[0], ahead[1], a * ahead[2], strict=True):
                z.append(growth * z[-1] + drift - shift)
            return np.array(z[1:])

        found = minimize(
            lambda a: float(a @ a),
            np.full(length, 1.0),
            jac=lambda a: 2 * a,
            method="SLSQP",
            bounds=[(0, None)] * length,
            constraints=[
                {"type": "eq", "fun": lambda a, states=states: states(a)[-1]},
                {"type": "ineq", "fun": lambda a, states=states: states(a)[:-1]},
            ],
            options={"maxiter": 500, "ftol": 1e-14},
        )
        if found.success:
            best = min(best, found.fun)
    return best


def test_it_is_the_quadratic_programs_optimum(subtests: pytest.Subtests) -> None:
    for seed in range(25):
        with subtests.test(seed=seed):
            rng = np.random.default_rng(seed)
            steps = int(rng.integers(1, 8))
            c, s, noise = rng.uniform(0.7, 1.3, steps), rng.uniform(0.2, 1, steps), rng.uniform(0.5, 2, steps)
            D = float(rng.choice([np.inf, rng.uniform(0.3, 4)]))
            tracked = np.zeros(steps)
            for t in range(steps - 1):
                tracked[t + 1] = min(c[t] * tracked[t] + s[t], D)
            path = taut_string(c, s, noise, tracked)
            line = _forward(c, s, path)
            assert line.min() >= -1e-12
            assert abs(line[-1]) <= 1e-12
            cost = float(np.sum((path.shifts / noise[path.start :]) ** 2))
            assert cost == pytest.approx(_quadratic_program(c, s, noise, tracked), rel=1e-6)


def test_an_expansion_from_zero_is_composition() -> None:
    rng = np.random.default_rng(0)
    c, s = rng.uniform(1.0, 1.5, 50), np.full(50, 0.3)
    path = taut_string(c, s, np.ones(50), np.concatenate([[0.0], np.full(49, np.inf)]))
    assert path.start == 0
    assert path.distance == 0
    np.testing.assert_allclose(path.shifts, s, rtol=1e-12)


def test_a_straight_string_is_the_closed_form() -> None:
    constant = NoisySGD(steps=300, step_size=0.1, noise_std=1.0, clip_norm=2, dataset_size=5, diameter=1)
    for assumption in (Smooth(1), Convex(1), StronglyConvex(1, 0.5)):
        program = ShiftProgram(constant, assumption)
        line = program.expansion(0).affine_on(1.0)
        assert line is not None
        c, s = (np.full(300, float(x)) for x in line)
        path = taut_string(c, s, np.ones(300), program.tracked[:-1])
        assert float(program.cost(path)) == pytest.approx(bound(constant, assumption).cost, rel=1e-12)


@pytest.mark.parametrize("diameter", [1.0, np.inf])
def test_a_long_contracting_schedule_forgets_its_start(diameter: float) -> None:
    # c^T is far below the smallest float here.
    steps = 20_000
    schedule = tuple((0.1 / (1 + np.arange(steps) / steps)).tolist())
    ends = [schedule[-1], schedule[0]]
    costs = [
        bound(NoisySGD(steps, eta, 1.0, 2.0, 5, diameter=diameter), StronglyConvex(1, 0.5)).cost
        for eta in (ends[0], schedule, ends[1])
    ]
    assert costs == sorted(costs)
    assert costs[1] < 1.01 * costs[0]
