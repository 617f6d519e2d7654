"""Clamped walks whose batches are random: certified masses of the last iterate.

An update is one of two, plain or with the sample that differs; where also the number of the others in a batch is
random, either is a mixture of updates.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.course import FURTHEST, contraction
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

Mixture = tuple[tuple[float, Update], ...]
"""Weights, which may be too small and add up to less than 1, and updates."""


@dataclass(frozen=True)
class Walk:
    """X <- clip(phi(X) + N(0, sigma^2)) on [-D/2, D/2].

    Attributes:
        steps: T.
        noise: sigma, a length.
        diameter: D of [-D/2, D/2], a length.
        plain: the updates without the sample that differs.
        met: the updates with it.
        chance: of meeting it in a step, where steps are independent.
        epoch: steps in an epoch, in which the sample is met once, at a place drawn afresh; 1 for independent steps.
        start: X_0, a length.
        missing: what the weights of an update lack at most.
    """

    steps: int
    noise: float
    diameter: float
    plain: Mixture
    met: Mixture
    chance: float = 1.0
    epoch: int = 1
    start: float = 0.0
    missing: float = 0.0

    def chance_at(self, t: int) -> float:
        """Of meeting the sample in step t, given that it was not met in this epoch before."""
        return self.chance if self.epoch == 1 else 1 / (self.epoch - t % self.epoch)


def last_masses(walk: Walk, extra: float = 0.0, edges: Array | None = None) -> Masses | None:
    """Certified masses of X_T before its projection on the cells of `Grid.last`, by default 16 a sigma.

    For a walk that stands for another run, any set of iterates may be off by the mass ``extra``. None where the walk is
    too long or too wide for a useful answer.
    """
    updates = [update for _, update in (*walk.plain, *walk.met)]
    drift = max(abs(value - x) for update in updates for x, value in update.points)
    if walk.diameter > WIDEST * walk.noise * (1 + 1e-9) or drift > FURTHEST * walk.noise or walk.epoch > LONGEST_EPOCH:
        return None
    walk, forgotten = _remembered(walk, max(contraction(update, walk.noise) for update in updates))
    grid = Grid.of(walk.diameter, walk.noise, updates)
    errors = grid.errors(walk.steps)
    if errors is None or walk.steps * walk.missing > 1e-6:
        return None
    if walk.steps == 1:
        sources, unmet, done = np.array([walk.start]), np.ones(1), np.zeros(1)
    else:
        sources, (unmet, done) = grid.points, _before_last(walk, grid)
    chance = walk.chance_at(walk.steps - 1)
    parts = [(weight, update, chance * unmet) for weight, update in walk.met]
    parts += [(weight, update, done + (1 - chance) * unmet) for weight, update in walk.plain]
    absolute = errors[0] + extra + forgotten + walk.steps * walk.missing
    if edges is None:
        edges = cut(-walk.diameter / 2, walk.diameter / 2, walk.noise / 16)
    return grid.last(parts, sources, walk.noise, (absolute, errors[1]), edges)


def _remembered(walk: Walk, factor: float) -> tuple[Walk, float]:
    """The walk without epochs that are forgotten, and the distance in total variation that this makes.

    Args:
        walk: all of it.
        factor: logarithm of what every step leaves of a distance.
    """
    least = int(log(FORGOTTEN) / factor) + 1 if factor else walk.steps
    dropped = max(walk.steps - least, 0) // walk.epoch * walk.epoch
    if not dropped:
        return walk, 0.0
    kept = walk.steps - dropped
    return replace(walk, steps=kept), exp(kept * factor) * (1 + 1e-6)


def _kernel(noise: float, updates: Mixture, grid: Grid, sources: Array | None = None) -> Array:
    """That of a mixture, as `Grid.kernel`."""
    kernels = (weight * grid.kernel(update, noise, sources) for weight, update in updates)
    return flushed(sum(kernels, np.zeros(())))


_shared = lru_cache(maxsize=1)(_kernel)
"""Kernel of the updates without the sample, which both laws of an attack share."""


def _before_last(walk: Walk, grid: Grid) -> tuple[Array, Array]:
    """Masses on the states after T - 1 >= 1 steps: where the sample was not met in this epoch, and where it was."""
    always = walk.epoch == 1 and walk.chance == 1
    met = _kernel(walk.noise, walk.met, grid)
    plain = met if always else _shared(walk.noise, walk.plain, grid)
    start = np.array([walk.start])
    first = [_kernel(walk.noise, updates, grid, start)[:, 0] for updates in (walk.plain, walk.met)]
    unmet, done, taken = (1 - walk.chance_at(0)) * first[0], walk.chance_at(0) * first[1], 1
    while True:
        if taken % walk.epoch == 0:
            unmet, done = unmet + done, np.zeros_like(done)
            whole = (walk.steps - 1 - taken) // walk.epoch
            if whole > 1 and whole * walk.epoch > DIRECT:
                unmet, taken = apply(_epoch(walk, plain, met), whole, unmet), taken + whole * walk.epoch
        if taken == walk.steps - 1:
            return unmet, done
        chance = walk.chance_at(taken)
        hit = chance * sent(met, unmet)
        if always:
            unmet = flushed(hit)
        else:
            unmet = flushed((1 - chance) * sent(plain, unmet))
            done = flushed((sent(plain, done) if walk.epoch > 1 else done) + hit)
        taken += 1


def _epoch(walk: Walk, plain: Array, met: Array) -> Array:
    """The kernel of one epoch."""
    if walk.epoch == 1:
        return (1 - walk.chance) * plain + walk.chance * met
    # The sum over positions of plain^(l - 1 - i) met plain^i, by doubling l.
    total, power = met, plain
    for bit in bin(walk.epoch)[3:]:
        total, power = power @ total + total @ power, power @ power
        if bit == "1":
            total, power = plain @ total + met @ power, plain @ power
    return total / walk.epoch
