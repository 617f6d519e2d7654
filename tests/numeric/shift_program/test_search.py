"""Stationary shooting, and what happens at kinks of the expansion.

At a kink of slopes e'- and e'+ a path that rests there is a local minimum only if
a_t e'- <= a_{t-1} <= a_t e'+. So a concave kink (the clip cap, a minimum) repels optimal paths, and only a
convex one (a table) can hold them.
"""

import numpy as np
import pytest
from bracketing import bracket

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import Holder, Smooth, Tabulated
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.search import shoot

_L, _KINK = 3.5, 4 / 3.5  # the cap 2 K = 4 acts beyond the kink


def _program(diameter: float) -> ShiftProgram:
    run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=2, diameter=diameter)
    return ShiftProgram(run, Smooth(_L))


def _states(program: ShiftProgram, distance: float, shifts: np.ndarray) -> np.ndarray:
    z = [distance]
    for a in shifts:
        z.append(float(program.expansion(0).value(np.array([z[-1]]))[0]) - a)
    return np.array(z)


def _root_finder(diameter: float, longest: int = 12) -> tuple[float, float]:
    """The trap: shoot backwards from 0, bisect every change of sign of z_0 - D, trust a = a e'(z).

    Returns the least cost so reported, and where that path really starts.
    """
    c, s = 1 + 0.05 * _L, 0.2

    def back(last: float, length: int) -> tuple[float, float]:
        z, a, spent = 0.0, last, 0.0
        for left in range(length, 0, -1):
            z, spent = max((z + a - s) / c, z + a - s - 0.2), spent + a**2
            if z < 0:
                return -1.0, spent
            if left > 1:
                a *= c if z < _KINK else 1.0
        return z, spent

    reported = (np.inf, np.nan)
    for length in range(1, longest):
        grid = np.linspace(s, c * diameter + s + 1, 400)
        short = [back(q, length)[0] < diameter for q in grid]
        for k in np.flatnonzero(np.diff(short)):
            low, high = grid[k], grid[k + 1]
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (
                    (middle, high) if (back(middle, length)[0] < diameter) == short[k] else (low, middle)
                )
            reported = min(reported, *((back(q, length)[1], back(q, length)[0]) for q in (low, high)))
    return reported


def test_a_root_finder_falls_into_the_trap_and_shooting_does_not() -> None:
    program = _program(1.55)
    found = bracket(program, tolerance=1e-9)
    assert found.gap < 1e-6
    reported, start = _root_finder(1.55)
    assert reported < 0.98 * found.lower  # below the certified optimum
    assert start < 1.55 - 0.01  # because that path starts short of the diameter
    shot = shoot(program.expansion(0), 1.55, 2000)
    assert found.lower <= np.sum(shot**2) <= found.upper * (1 + 1e-9)


def test_concave_kinks_repel() -> None:
    nearest, sides = [], set()
    for diameter in np.linspace(1.2, 2.4, 121):
        program = _program(float(diameter))
        shot = shoot(program.expansion(0), float(diameter), 2000)
        line = _states(program, float(diameter), shot)[:-1]
        nearest.append(np.abs(line[1:] - _KINK).min())
        sides |= {int(np.sum(line > _KINK))}
    assert len(sides) > 1  # as D grows another state does come to lie beyond the kink,
    assert min(nearest) > 0.03 * _KINK  # and jumps across it


def test_convex_kinks_hold() -> None:
    run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=4, diameter=1)
    knots = (0.25, 0.5, 0.8)
    table = Tabulated(knots, (0.1, 0.5, 1.2))
    line = _states(ShiftProgram(run, table), 1.0, bound(run, table).shifts)
    for knot in knots:
        assert np.abs(line - knot).min() < 1e-9


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 50])
def test_shots_hide_everything(steps: int) -> None:
    run = NoisySGD(steps=steps, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=0.7)
    program = ShiftProgram(run, Holder(1, 0.5))
    shot = shoot(program.expansion(0), 0.7, steps)
    assert len(shot) <= steps
    line = _states(program, 0.7, shot)
    assert line[:-1].min() >= 0
    assert line[:-1].max() <= 0.7
    assert abs(line[-1]) < 1e-15


def test_shots_are_stationary() -> None:
    run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=20, diameter=1)
    program = ShiftProgram(run, Holder(0.2, 0.5))
    shot = shoot(program.expansion(0), 1.0, 2000)
    line = _states(program, 1.0, shot)[1:-1]
    assert len(line) > 20
    slopes = program.expansion(0).slope(line)
    np.testing.assert_allclose(shot[:-1], shot[1:] * slopes, rtol=1e-5)
