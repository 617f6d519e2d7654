"""Clamped walks against a chain on a fine grid, and against two steps by mpmath."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from lastiterate.numeric.lower.walk import Update, Walk, _apply, _epoch, _grid, _quadrature_error, last_masses

_PUSHED = Walk(9, 0.7, 3.0, Update(0.9, -0.1, 0.3, 0.8), Update(0.9, 0.6, 0.2, 0.8))


def chain(walk: Walk, points: int = 3001) -> tuple[np.ndarray, np.ndarray]:
    """Grid and distribution function of the last iterate: every step sends mass to midpoint cells."""
    grid = np.linspace(-walk.diameter / 2, walk.diameter / 2, points)
    cuts = np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])

    def kernel(update: Update) -> np.ndarray:
        return np.diff(ndtr((cuts[:, None] - update.mean(grid)[None, :]) / walk.noise), axis=0)

    plain, met = kernel(walk.plain), kernel(walk.met)
    unmet, done = np.zeros(points), np.zeros(points)
    unmet[points // 2] = 1
    for t in range(walk.steps):
        if t % walk.epoch == 0:
            unmet, done = unmet + done, np.zeros(points)
        chance = walk.chance_at(t)
        hit = met @ (chance * unmet)
        if walk.epoch == 1:
            unmet, done = plain @ ((1 - chance) * unmet) + hit, done
        else:
            unmet, done = plain @ ((1 - chance) * unmet), plain @ done + hit
    return grid, np.cumsum(unmet + done)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"chance": 0.3},
        {"epoch": 4},
        {"epoch": 4, "position": 2},
        {"epoch": 5, "position": 0, "steps": 1},
        {"plain": Update(1.0, 0.0, 0.4, 0.0), "met": Update(1.0, 0.2, 0.2, 0.0)},
        {"plain": Update(1.0, -0.4), "met": Update(1.0, 0.1), "chance": 0.1, "diameter": 12.0, "steps": 30},
    ],
)
def test_against_a_fine_chain(changes: dict) -> None:
    walk = replace(_PUSHED, **changes)
    masses = last_masses(walk)
    assert masses is not None
    low, high = np.exp(masses.low), np.exp(masses.high)
    assert np.all(low <= high)
    assert low.sum() <= 1 <= high.sum() <= 1 + 1e-7
    grid, distribution = chain(walk)
    edges = np.linspace(-walk.diameter / 2, walk.diameter / 2, len(low) - 1)[1:-1]
    expected = np.interp(edges, grid + (grid[1] - grid[0]) / 2, distribution)
    assert np.cumsum(high)[1:-2] == pytest.approx(expected, abs=5e-5)


def test_two_steps_by_quadrature() -> None:
    walk = replace(_PUSHED, steps=2)
    masses = last_masses(walk)
    assert masses is not None
    with mpmath.workdps(30):
        half, sigma = mpmath.mpf("1.5"), mpmath.mpf(0.7)

        def mean(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.mpf(0.9) * x + mpmath.mpf(0.6) + mpmath.mpf(0.2) * max(min(x / mpmath.mpf(0.8), 1), -1)

        start = mean(mpmath.mpf(0))

        def beyond(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf((mean(x) - half) / sigma)

        inside = mpmath.quad(lambda x: mpmath.npdf(x, start, sigma) * beyond(x), [-half, -0.8, 0, 0.8, half])
        top = inside + mpmath.ncdf((start - half) / sigma) * beyond(half)
        top += mpmath.ncdf((-half - start) / sigma) * beyond(-half)
        assert mpmath.exp(masses.low[-1]) <= top <= mpmath.exp(masses.high[-1])
        assert masses.high[-1] - masses.low[-1] < 1e-8


def test_squaring_and_stepping_agree() -> None:
    for changes in ({"chance": 0.3}, {"epoch": 7}, {"epoch": 7, "position": 4}):
        walk = replace(_PUSHED, steps=601, **changes)
        long = [last_masses(replace(walk, steps=steps)) for steps in (601, 598, 595, 5001)]
        settled = [one for one in long if one is not None]
        assert len(settled) == 4
        if "epoch" in changes:  # the same place in an epoch, after it has long settled
            assert settled[0].high[0] == pytest.approx(
                last_masses(replace(walk, steps=601 + 7 * 700)).high[0], abs=1e-5
            )
        else:
            assert settled[0].high == pytest.approx(settled[3].high, abs=1e-5)


def test_mass_stays_one_over_many_steps() -> None:
    masses = last_masses(Walk(10**6, 1.0, 10.0, Update(1.0, 0.0), Update(1.0, 0.1)))
    assert masses is not None
    assert np.exp(masses.low).sum() <= 1 <= np.exp(masses.high).sum() <= 1 + 1e-3


def test_too_wide_or_too_long_is_no_answer() -> None:
    assert last_masses(replace(_PUSHED, diameter=200.0)) is None
    assert last_masses(replace(_PUSHED, steps=10**9)) is None
    assert last_masses(replace(_PUSHED, met=Update(1.0, 1000.0))) is None


def test_what_stands_for_another_run_is_wider() -> None:
    alone, other = last_masses(_PUSHED), last_masses(_PUSHED, 1e-3)
    assert alone is not None
    assert other is not None
    assert np.all(other.low <= alone.low)
    assert np.all(np.exp(other.high) >= np.exp(alone.high) + 0.9e-3)


def test_states_that_no_mass_reaches() -> None:
    masses = last_masses(Walk(3, 0.01, 0.6, Update(1.0, 0.0), Update(1.0, 0.02)))
    assert masses is not None
    low, high = np.exp(masses.low), np.exp(masses.high)
    assert low.sum() <= 1 <= high.sum() <= 1 + 1e-7
    middles = np.linspace(-0.3, 0.3, 2 * len(low) - 3)[1::2]
    assert low[1:-1] @ middles == pytest.approx(3 * 0.02, abs=1e-6)


def test_a_sample_that_is_never_met_changes_nothing() -> None:
    plain = Update(0.5, 0.3)
    never, alone = last_masses(replace(_PUSHED, plain=plain, chance=0.0)), last_masses(replace(_PUSHED, met=plain))
    assert never is not None
    assert alone is not None
    np.testing.assert_allclose(np.exp(never.high), np.exp(alone.high), atol=1e-9)


def test_an_epoch_is_its_steps_and_a_long_power_their_product() -> None:
    """Any position is as likely as another; kernels that do not commute tell the order of the factors."""
    rng = np.random.default_rng(0)
    plain, met = rng.random((3, 3)) / 4, rng.random((3, 3)) / 4
    power = np.linalg.matrix_power
    for length in range(2, 12):
        places = [power(plain, length - 1 - i) @ met @ power(plain, i) for i in range(length)]
        walk = replace(_PUSHED, epoch=length)
        np.testing.assert_allclose(_epoch(walk, plain, met), sum(places) / length, rtol=1e-12)
        for i in range(length):
            np.testing.assert_allclose(_epoch(replace(walk, position=i), plain, met), places[i], rtol=1e-12)
    np.testing.assert_allclose(_epoch(replace(_PUSHED, chance=0.3), plain, met), 0.7 * plain + 0.3 * met)
    kernel, masses = np.array([[0.9, 0.05], [0.1, 0.95]]), np.array([0.3, 0.7])
    for times in (1, 5, 600, 601, 640, 1000, 1023):
        np.testing.assert_allclose(_apply(kernel, times, masses), power(kernel, times) @ masses, rtol=1e-10)


@pytest.mark.parametrize(("diameter", "slope", "push"), [(3.0, 0.9, 0.0), (12.0, 1.0, 0.4), (40.0, 0.5, 0.0)])
def test_the_quadrature_error_is_that_of_the_paragraph_on_it(diameter: float, slope: float, push: float) -> None:
    """8 a M r^-2N / (1 - 1/r) for each panel, at the best r: nodes over the whole domain, two atoms and a cell."""
    plain, met = Update(slope, 0.1, push, 2.0), Update(slope, 0.2)
    walk = Walk(9, 1.0, diameter, plain, met)
    grid = _grid(walk)
    steepest = slope + (push / 2.0 if push else 0.0)
    ratio = np.geomspace(1.01, 100, 20_000)
    v = grid.half * (ratio - 1 / ratio) / 2
    exponent = (1 + steepest**2) * v**2 / 2
    each = 8 * grid.half * np.exp(np.minimum(exponent - 64 * np.log(ratio), 700.0)) / (1 - 1 / ratio)
    least = float(each.min()) * grid.panels * (diameter / (2 * np.pi) + 3 / np.sqrt(2 * np.pi))
    assert least * (1 - 1e-6) <= _quadrature_error(walk, grid) <= least * 1.2
    assert max(plain.steepest, met.steepest) == pytest.approx(steepest)
    assert grid.weights.sum() == pytest.approx(diameter + 2)
