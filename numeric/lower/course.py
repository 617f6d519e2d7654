"""Clamped walks whose updates are known in advance: full and cyclic batches, schedules of step size and noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import erfc, exp, log, sqrt

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.grid import (
    DIRECT,
    FORGOTTEN,
    LONGEST_EPOCH,
    WIDEST,
    Grid,
    Update,
    apply,
    cut,
    flushed,
    sent,
)
from lastiterate.numeric.lower.masses import Masses

FURTHEST = 100.0
"""Most that an update may move an iterate, in sigma."""


@dataclass(frozen=True)
class Course:
    """X <- clip(phi_t(X) + N(0, sigma_t^2)) on [-D/2, D/2].

    Attributes:
        steps: T.
        cycle: (phi, sigma) of the steps of a cycle, whose last one is the last step of all.
        diameter: D, a length.
        start: X_0, a length.
    """

    steps: int
    cycle: tuple[tuple[Update, float], ...]
    diameter: float
    start: float = 0.0


def contraction(update: Update, noise: float) -> float:
    """Logarithm of a bound, rounded up, of what a step leaves of a distance in total variation.

    Two Gaussians whose means are r apart are at the distance 1 - 2 Phi(-r / (2 sigma)) (Dobrushin 1956).
    """
    common = erfc(update.range / (2 * sqrt(2) * noise)) * (1 - 1e-12)
    return log(max(1 - common, 1e-300)) if common else 0.0


def course_masses(course: Course, edges: Array | None = None) -> Masses | None:
    """Certified masses of X_T before its projection on the cells of `Grid.last`, by default 16 a sigma.

    Steps so long ago that they are forgotten are left out. None where the walk is too long or too wide for a useful
    answer.
    """
    noise, cycle = min(sigma for _, sigma in course.cycle), course.cycle
    drift = max(abs(value - x) for update, _ in cycle for x, value in update.points)
    if course.diameter > WIDEST * noise * (1 + 1e-9) or drift > FURTHEST * noise:
        return None
    steps, forgotten = _remembered(course)
    if len(cycle) > LONGEST_EPOCH and steps > LONGEST_EPOCH:
        return None
    grid = Grid.of(course.diameter, noise, {update for update, _ in cycle[-steps:]})
    errors = grid.errors(steps)
    if errors is None:
        return None
    sources, masses = (np.array([course.start]), np.ones(1)) if steps == 1 else _before_last(course, steps, grid)
    update, sigma = cycle[-1]
    if edges is None:
        edges = cut(-course.diameter / 2, course.diameter / 2, sigma / 16)
    return grid.last([(1.0, update, masses)], sources, sigma, (errors[0] + forgotten, errors[1]), edges)


def _remembered(course: Course) -> tuple[int, float]:
    """The number of last steps to take, and the distance in total variation that leaving out the others makes."""
    logs = [contraction(*step) for step in reversed(course.cycle)]
    whole, enough = sum(logs), log(FORGOTTEN)
    cycles = min(int(enough / whole) if whole else course.steps, course.steps // len(logs))
    steps, total = cycles * len(logs), cycles * whole
    while steps < course.steps and total > enough:
        total += logs[steps % len(logs)]
        steps += 1
    return steps, 0.0 if steps == course.steps else exp(total) * (1 + 1e-6)


def _before_last(course: Course, steps: int, grid: Grid) -> tuple[Array, Array]:
    """The states, and the masses on them after all steps but the last."""
    cycle, found = course.cycle, dict[tuple[Update, float], Array]()

    def of(back: int) -> tuple[Update, float]:
        """The step which is ``back`` before the last one."""
        return cycle[-1 - back % len(cycle)]

    def kernel(back: int) -> Array:
        step = of(back)
        if step not in found:
            if len(found) * len(grid.points) ** 2 > 2e7:
                found.clear()
            found[step] = grid.kernel(*step)
        return found[step]

    update, sigma = cycle[-1 - (steps - 1) % len(cycle)]
    masses = grid.kernel(update, sigma, np.array([course.start]))[:, 0]
    left = steps - 2  # steps back from the last of the next one to take, plus one
    whole = left // len(cycle)
    if whole > 1 and left > DIRECT and len(cycle) < left:
        for back in range(left, whole * len(cycle), -1):
            masses = flushed(sent(kernel(back), masses))
        turn = [(kernel(next(group)), 1 + len(list(group))) for _, group in groupby(range(len(cycle), 0, -1), of)]
        masses, left = apply(_product(turn), whole, masses), 0
    for back in range(left, 0, -1):
        masses = flushed(sent(kernel(back), masses))
    return grid.points, masses


def _product(powers: Sequence[tuple[Array, int]]) -> Array:
    """The product of powers of kernels, the last one on the left."""
    factors = list[Array]()  # the first one first
    for kernel, times in powers:
        left, square = times, kernel
        while left:
            if left & 1:
                factors.append(square)
            left >>= 1
            if left:
                square = flushed(square @ square)
    return reduce(lambda total, one: flushed(one @ total), factors)
