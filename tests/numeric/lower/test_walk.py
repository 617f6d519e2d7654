"""Clamped walks against a chain on a fine grid, and against two steps by mpmath."""

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from lastiterate.numeric.lower import walk as walks
from lastiterate.numeric.lower.masses import Masses
from lastiterate.numeric.lower.walk import (
    Grid,
    Mixture,
    Update,
    Walk,
    WalkStep,
    apply_power,
    epoch_kernel,
    last_masses,
)


def affine(slope: float, drift: float, push: float = 0.0, reach: float = 0.8, half: float = 1.5) -> Update:
    """slope x + drift, and a push outwards that grows up to ``reach``, or jumps where that is 0."""
    places = (-half, *((-reach, reach) if push and reach else (0.0, 0.0) if push else ()), half)
    sides = (-1, -1, 1, 1) if push else (-1, 1)
    return Update(tuple((x, slope * x + drift + side * push) for x, side in zip(places, sides, strict=True)))


def always(update: Update) -> Mixture:
    return ((1.0, update),)


def random(steps: int = 9, diameter: float = 3.0, epoch: int = 1, noise: float = 0.7, **changes: Any) -> Walk:
    """A walk of equal steps with random batches, of which some are changed."""
    step = WalkStep(noise, always(affine(0.9, -0.1, 0.3)), always(affine(0.9, 0.6, 0.2)), 1.0)
    return Walk(steps, diameter, (replace(step, **changes),), epoch)


_PUSHED = random()


def chain(walk: Walk, points: int = 901) -> tuple[np.ndarray, np.ndarray]:
    """Grid and distribution function of the last iterate: every step sends mass to midpoint cells."""
    grid, cuts = _cells(walk.diameter, points)

    def kernel(updates: Mixture, noise: float) -> np.ndarray:
        return sum(
            (
                weight * np.diff(ndtr((cuts[:, None] - update.mean(grid)[None, :]) / noise), axis=0)
                for weight, update in updates
            ),
            np.zeros((points, points)),
        )

    unmet, done = np.zeros(points), np.zeros(points)
    unmet[points // 2] = 1
    for t in range(walk.steps):
        step = walk.cycle[(t - walk.steps) % len(walk.cycle)]
        plain, met = kernel(step.plain, step.noise), kernel(step.met, step.noise)
        if t % walk.epoch == 0:
            unmet, done = unmet + done, np.zeros(points)
        chance = 1 / (walk.epoch - t % walk.epoch) if walk.epoch > 1 else step.chance
        hit = met @ (chance * unmet)
        if walk.epoch == 1:
            unmet, done = plain @ ((1 - chance) * unmet) + hit, done
        else:
            unmet, done = plain @ ((1 - chance) * unmet), plain @ done + hit
    return grid, np.cumsum(unmet + done)


def _cells(diameter: float, points: int) -> tuple[np.ndarray, np.ndarray]:
    grid = np.linspace(-diameter / 2, diameter / 2, points)
    return grid, np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])


def near(masses: Masses | None, grid: np.ndarray, distribution: np.ndarray) -> None:
    assert masses is not None
    low, high = np.exp(masses.low), np.exp(masses.high)
    assert np.all(low <= high)
    assert low.sum() <= 1 <= high.sum() <= 1 + 1e-7
    edges = np.linspace(grid[0], grid[-1], len(low) - 1)[1:-1]
    expected = np.interp(edges, grid + (grid[1] - grid[0]) / 2, distribution)
    np.testing.assert_allclose(np.cumsum(high)[1:-2], expected, atol=2e-4)


_JUMP = affine(1.0, 0.2, 0.2, 0.0)
_WIDE = {
    "plain": always(affine(1.0, -0.4, half=6.0)),
    "met": always(affine(1.0, 0.1, half=6.0)),
    "diameter": 12.0,
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"chance": 0.3},
        {"epoch": 4},
        {"plain": always(affine(1.0, 0.0, 0.4, 0.0)), "met": always(_JUMP), "chance": 0.5},
        {**_WIDE, "chance": 0.1, "steps": 30},
        {"met": ((0.25, affine(0.9, 0.6, 0.2)), (0.75, affine(0.5, -0.6))), "chance": 0.7},
    ],
)
def test_random_batches_against_a_fine_chain(changes: dict) -> None:
    walk = random(**changes)
    near(last_masses(walk), *chain(walk))


@pytest.mark.parametrize(
    ("steps", "cycle"),
    [
        (1, [(0, 0.7)]),
        (9, [(0, 0.7)]),
        (9, [(1, 0.7), (0, 0.7), (1, 0.7), (1, 0.7)]),
        (7, [(1, 0.7), (0, 1.3), (1, 0.5), (0, 0.9), (2, 0.7), (0, 0.7), (1, 2.0)]),
    ],
)
def test_known_batches_against_a_fine_chain(steps: int, cycle: list) -> None:
    updates = (affine(0.9, 0.6, 0.2), affine(0.9, -0.1, 0.3), _JUMP)
    walk = Walk(steps, 3.0, tuple(WalkStep.known(updates[i], noise) for i, noise in cycle))
    near(last_masses(walk), *chain(walk))


def test_a_long_run_is_one_of_its_last_steps_from_any_start() -> None:
    """What is forgotten is left out, and its part of the mass is counted."""
    cycle = (
        WalkStep.known(affine(0.9, 0.6, 0.2), 0.7),
        WalkStep.known(affine(1.0, -0.1), 1.0),
        WalkStep.known(_JUMP, 0.7),
    )
    course = Walk(10**15, 3.0, cycle)
    settled = last_masses(course)
    assert settled is not None
    for steps, start in ((300, 0.0), (301, -1.5), (302, 1.0)):
        other = last_masses(replace(course, steps=steps, start=start))
        assert other is not None
        assert np.all(settled.low <= other.high)
        assert np.all(other.low <= settled.high)
        np.testing.assert_allclose(np.exp(settled.high), np.exp(settled.low), atol=1e-6)
    few = last_masses(replace(course, steps=3))
    assert few is not None
    assert not np.all(settled.low <= few.high)


def test_contraction_is_that_of_two_gaussians() -> None:
    update = Update(((-1.0, -0.5), (0.0, 2.0), (1.0, 0.25)))
    assert np.exp(WalkStep.known(update, 0.8).log_contraction) == pytest.approx(
        1 - 2 * ndtr(-2.5 / 1.6), rel=1e-10
    )
    assert WalkStep.known(update, 1e-3).log_contraction == 0.0


def test_squaring_and_stepping_agree() -> None:
    """Slow to forget: 40 sigma wide, so that all steps count."""
    push = [WalkStep.known(affine(1.0, drift, 0.4, 3.0, half=10.0), 0.5) for drift in (0.3, 0.0)]
    for cycle in (push[:1], push, [push[0], push[1], push[1]]):
        course = Walk(1300, 20.0, tuple(cycle))
        squared = last_masses(course)
        stepped = last_masses(replace(course, cycle=tuple((cycle * 1300)[-1300:])))
        assert squared is not None
        assert stepped is not None
        assert np.all(squared.low <= stepped.high)
        assert np.all(stepped.low <= squared.high)
        np.testing.assert_allclose(np.exp(squared.high), np.exp(stepped.high), atol=1e-6)


def test_edges_beyond_the_interval_show_what_projection_hides() -> None:
    """Cells beyond the ends of the interval hold what projection would put at the ends."""
    course = Walk(5, 3.0, (WalkStep.known(affine(0.9, 0.6, 0.2), 0.7),))
    inside, beyond = last_masses(course), last_masses(course, edges=np.linspace(-1.5, 6.5, 161))
    assert inside is not None
    assert beyond is not None
    cells = np.linspace(-1.5, 6.5, len(beyond.low) - 1)
    above = float(np.exp(beyond.high)[1:-1][cells[:-1] >= 1.5 - 1e-9].sum() + np.exp(beyond.high[-1]))
    assert above == pytest.approx(float(np.exp(inside.high[-1])), abs=2e-2)
    assert np.exp(beyond.high[-1]) < 1e-6 < np.exp(inside.high[-1])


def test_two_steps_by_quadrature() -> None:
    walk = random(steps=2)
    masses = last_masses(walk)
    assert masses is not None
    with mpmath.workdps(30):
        half, sigma = mpmath.mpf("1.5"), mpmath.mpf(0.7)

        def mean(x: mpmath.mpf) -> mpmath.mpf:
            return (
                mpmath.mpf(0.9) * x + mpmath.mpf(0.6) + mpmath.mpf(0.2) * max(min(x / mpmath.mpf(0.8), 1), -1)
            )

        start = mean(mpmath.mpf(0))

        def beyond(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf((mean(x) - half) / sigma)

        inside = mpmath.quad(lambda x: mpmath.npdf(x, start, sigma) * beyond(x), [-half, -0.8, 0, 0.8, half])
        top = inside + mpmath.ncdf((start - half) / sigma) * beyond(half)
        top += mpmath.ncdf((-half - start) / sigma) * beyond(-half)
        assert mpmath.exp(masses.low[-1]) <= top <= mpmath.exp(masses.high[-1])
        assert masses.high[-1] - masses.low[-1] < 1e-8


_MANY = always(affine(1.0, 0.1, half=5.0))


def test_mass_stays_one_over_many_steps() -> None:
    masses = last_masses(Walk(10**6, 10.0, (WalkStep(1.0, _MANY),)))
    assert masses is not None
    assert np.exp(masses.low).sum() <= 1 <= np.exp(masses.high).sum() <= 1 + 1e-3


def test_too_wide_or_too_long_is_no_answer() -> None:
    assert last_masses(replace(_PUSHED, diameter=200.0)) is None
    assert last_masses(random(met=always(affine(1.0, 1000.0)))) is None
    still = (WalkStep.known(affine(1.0, 0.0, half=30.0), 1.0),)
    assert last_masses(Walk(10**9, 60.0, still)) is None
    assert last_masses(Walk(5, 300.0, still)) is None


def test_states_that_no_mass_reaches() -> None:
    masses = last_masses(Walk(3, 0.6, (WalkStep.known(affine(1.0, 0.02, half=0.3), 0.01),)))
    assert masses is not None
    low, high = np.exp(masses.low), np.exp(masses.high)
    assert low.sum() <= 1 <= high.sum() <= 1 + 1e-7
    middles = np.linspace(-0.3, 0.3, 2 * len(low) - 3)[1::2]
    assert low[1:-1] @ middles == pytest.approx(3 * 0.02, abs=1e-6)


def test_a_sample_that_is_never_met_changes_nothing() -> None:
    plain = always(affine(0.5, 0.3))
    never, alone = last_masses(random(plain=plain, chance=0.0)), last_masses(random(met=plain))
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
        np.testing.assert_allclose(epoch_kernel(length, plain, met), sum(places) / length, rtol=1e-12)
    kernel, masses = np.array([[0.9, 0.05], [0.1, 0.95]]), np.array([0.3, 0.7])
    for times in (1, 5, 600, 601, 640, 1000, 1023):
        np.testing.assert_allclose(
            apply_power(kernel, times, masses), power(kernel, times) @ masses, rtol=1e-10
        )


@pytest.mark.parametrize(("diameter", "slope", "push"), [(3.0, 0.9, 0.0), (12.0, 1.0, 0.4), (40.0, 0.5, 0.0)])
def test_the_quadrature_error_is_that_of_the_paragraph_on_it(
    diameter: float, slope: float, push: float
) -> None:
    """8 a M r^-2N / (1 - 1/r) for each panel, at the best r: nodes over the whole domain, two atoms and a cell."""
    plain, met = affine(slope, 0.1, push, 2.0, diameter / 2), affine(slope, 0.2, half=diameter / 2)
    grid = Grid.of(diameter, 1.0, (plain, met))
    steepest = slope + (push / 2.0 if push else 0.0)
    ratio = np.geomspace(1.01, 100, 20_000)
    v = grid.half * (ratio - 1 / ratio) / 2
    exponent = (1 + steepest**2) * v**2 / 2
    each = 8 * grid.half * np.exp(np.minimum(exponent - 64 * np.log(ratio), 700.0)) / (1 - 1 / ratio)
    least = float(each.min()) * grid.panels * (diameter / (2 * np.pi) + 3 / np.sqrt(2 * np.pi))
    assert least * (1 - 1e-6) <= grid.quadrature_error <= least * 1.2
    assert max(plain.steepest, met.steepest) == pytest.approx(steepest)
    assert grid.weights.sum() == pytest.approx(diameter + 2)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("more", range(4))
def test_whole_epochs_are_forgotten(more: int) -> None:
    near(last_masses(random(10**6 + more, epoch=4, noise=2.0)), *chain(random(40 + more, epoch=4, noise=2.0)))


def test_what_is_forgotten_or_missing_widens_every_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = replace(random(30, noise=2.0), start=1.5)
    known, fewer = last_masses(walk), last_masses(replace(walk, missing=1e-8))
    monkeypatch.setattr(walks, "FORGOTTEN", 0.5)
    short = last_masses(walk)
    assert known is not None
    assert fewer is not None
    assert short is not None
    assert np.all(np.exp(fewer.high) - np.exp(known.high) >= 30 * 1e-8 * 0.999)
    assert np.all(np.exp(short.low) <= np.exp(known.high))
    assert np.all(np.exp(short.high) >= np.exp(known.low))
    assert np.exp(short.low).sum() < 0.9


def test_errors_of_all_steps_widen_every_mass() -> None:
    """Those of quadrature add up over the steps, and those of rounding are a share of each mass."""
    walk = random(12, noise=2.0)
    grid = Grid.of(3.0, 2.0, [update for step in walk.cycle for update in step.updates])
    once, often, found = grid.errors(1), grid.errors(12), last_masses(walk)
    assert once is not None
    assert often is not None
    assert found is not None
    assert min(once) > 0
    for one, all_steps in zip(once, often, strict=True):
        assert all_steps == pytest.approx(12 * one, rel=1e-12, abs=0)
    wide = np.exp(found.high) - np.exp(found.low)
    assert np.all(wide >= 2 * (often[0] + often[1] * np.exp(found.low)))
