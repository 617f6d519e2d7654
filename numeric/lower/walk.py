"""Clamped random walks: certified masses of the last iterate by propagating its density on a grid.

The walk is X <- clip(phi(X) + drift + N(0, sigma^2)) on [-D/2, D/2] from 0, phi piecewise affine; where batches are
random the update is one of two, plain or with the sample that differs. The law after a step has a density inside and an
atom at each end; the next density is an integral over it, by Gauss's rule of `NODES` nodes on panels at most `PANEL`
sigma long and cut at the kinks of phi. On a panel of half length a it errs by 8 a M r^(-2 NODES) / (1 - 1/r), M the
bound on an ellipse. Rounding is relative: `RELATIVE` for an entry of the kernel, and one unit in the last place for
every term of a sum. What is below `LEAST` is set to 0, an absolute error.

Source: docs/proofs/lower_bounds.md.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, log, pi

import numpy as np
from flint import arb
from scipy.special import ndtr

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.masses import Masses

NODES = 32
PANEL = 3.0
WIDEST = 100.0
"""Greatest D / sigma: 34 panels, 1088 nodes."""
RELATIVE = 4e-11
TAIL = 1e-11
"""Relative error of a normal tail from scipy's ``ndtr``, the rounding of its argument included."""
LEAST = 1e-100
MOST_ERROR = 1e-3
_DIRECT = 600
_LONGEST_EPOCH = 3000
_CELLS_A_SIGMA = 16
_LEAST_CELLS = 240


@dataclass(frozen=True)
class Update:
    """One update's mean: x -> x + push(x) + drift, or slope x + drift.

    Attributes:
        slope: c of the linear part.
        drift: a length, added.
        push: strength of an outward push, a length: the greatest that the shared samples move an iterate.
        reach: distance from the middle at which the push is at its greatest; 0 for a jump at the middle.
    """

    slope: float
    drift: float
    push: float = 0.0
    reach: float = inf

    def mean(self, x: Array) -> Array:
        """Shape of x, lengths."""
        moved = self.slope * x + self.drift
        if not self.push:
            return moved
        return moved + self.push * (np.sign(x) if self.reach == 0 else np.clip(x / self.reach, -1.0, 1.0))

    @property
    def kinks(self) -> tuple[float, ...]:
        """The points where the mean is not affine."""
        return () if not self.push else (-self.reach, self.reach) if self.reach else (0.0,)

    @property
    def steepest(self) -> float:
        """The greatest slope."""
        return abs(self.slope) + (self.push / self.reach if self.push and self.reach else 0.0)


@dataclass(frozen=True)
class Walk:
    """A walk of ``steps`` updates.

    Attributes:
        steps: T.
        noise: sigma, a length.
        diameter: D of [-D/2, D/2], a length.
        plain: the update without the sample that differs.
        met: the update with it.
        chance: of meeting it in a step, where steps are independent.
        epoch: steps in an epoch, in which the sample is met once; 1 for independent steps.
        position: the step of an epoch in which it is met; None for a position drawn afresh in every epoch.
    """

    steps: int
    noise: float
    diameter: float
    plain: Update
    met: Update
    chance: float = 1.0
    epoch: int = 1
    position: int | None = None

    def chance_at(self, t: int) -> float:
        """Of meeting the sample in step t, given that it was not met in this epoch before."""
        if self.epoch == 1:
            return self.chance
        place = t % self.epoch
        return 1 / (self.epoch - place) if self.position is None else float(place == self.position)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Nodes in (-1, 1) and weights, rising, correctly rounded up to a unit in the last place."""
    pairs = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
    nodes, weights = (np.array([float(pair[i]) for pair in pairs]) for i in (0, 1))
    return nodes[::-1].copy(), weights[::-1].copy()


@dataclass(frozen=True, eq=False)
class _Grid:
    """States: the atom at the low end, the nodes, the atom at the high end. Lengths; weights are 1 for the atoms."""

    points: Array
    weights: Array
    half: float
    panels: int


def _grid(walk: Walk) -> _Grid:
    end = walk.diameter / 2
    cuts = sorted({-end, end, *(x for u in (walk.plain, walk.met) for x in u.kinks if -end < x < end)})
    nodes, weights = _rule()
    points, sizes, longest, panels = [np.array([-end])], [np.ones(1)], 0.0, 0
    for left, right in pairwise(cuts):
        pieces = int(np.ceil((right - left) / (PANEL * walk.noise)))
        edges = np.linspace(left, right, pieces + 1)
        for a, b in pairwise(edges.tolist()):
            half = (b - a) / 2
            points.append((a + b) / 2 + half * nodes)
            sizes.append(half * weights)
            longest, panels = max(longest, half), panels + 1
    return _Grid(np.concatenate([*points, np.array([end])]), np.concatenate([*sizes, np.ones(1)]), longest, panels)


def _quadrature_error(walk: Walk, grid: _Grid) -> float:
    """Mass by which one step errs, cells and atoms together, rounded up."""
    a, sigma = grid.half / walk.noise, walk.diameter / walk.noise
    steep = max(walk.plain.steepest, walk.met.steepest)
    best = inf
    for r in np.geomspace(1.05, 60.0, 120).tolist():
        v = a * (r - 1 / r) / 2
        best = min(best, (1 + steep**2) * v**2 / 2 - 2 * NODES * log(r) - log(1 - 1 / r))
    # In units of sigma: nodes D panels 8 a / (2 pi), and two atoms and a cell 3 panels 8 a / sqrt(2 pi).
    scale = 8 * a * grid.panels * (sigma / (2 * pi) + 3 / np.sqrt(2 * pi))
    return exp(min(best + log(scale), 0.0)) * (1 + 1e-9)


def _kernel(update: Update, sources: Array, grid: _Grid, noise: float) -> Array:
    """Shape (states, sources): mass that a unit at the source of the column sends to the state of the row."""
    mean = update.mean(sources)
    z = (grid.points[:, None] - mean[None, :]) / noise
    kernel: Array = grid.weights[:, None] * np.exp(-(z**2) / 2) / (noise * np.sqrt(2 * np.pi))
    kernel[0], kernel[-1] = ndtr(z[0]), ndtr(-z[-1])
    return _flushed(kernel)


def _sent(kernel: Array, masses: Array) -> Array:
    """kernel @ masses, on one thread: the threads of a BLAS wait for one another longer than a product takes."""
    return np.asarray(np.einsum("ij,j->i", kernel, masses))


def _flushed(masses: Array) -> Array:
    """With what is below `LEAST` set to 0: numbers near the end of the floats are slow."""
    return np.where(masses < LEAST, 0.0, masses)


def _cells(update: Update, sources: Array, noise: float, edges: Array) -> tuple[Array, Array]:
    """Masses that a unit at each source sends to the atoms and the cells, and their errors; (cells + 2, sources)."""
    z = (edges[:, None] - update.mean(sources)[None, :]) / noise
    tail, low = ndtr(-np.abs(z)), z < 0  # a cell's mass is a difference of tails that do not reach over the middle
    less, more = np.minimum(tail[1:], tail[:-1]), np.maximum(tail[1:], tail[:-1])
    more = np.where(low[1:] == low[:-1], more, 1 - more)
    below, above = (np.where(side, tail[end], 1 - tail[end])[None] for side, end in ((low[0], 0), (~low[-1], -1)))
    return np.concatenate([below, more - less, above]), TAIL * np.concatenate([below, more, above])


def last_masses(walk: Walk, extra: float = 0.0) -> Masses | None:
    """Certified masses of the last iterate: the atom at -D/2, cells of equal length, the atom at D/2.

    For a walk that stands for another run, any set of iterates may be off by the mass ``extra``. None where the walk is
    too long or too wide for a useful answer.
    """
    drift = max(abs(update.drift) + update.push for update in (walk.plain, walk.met))
    if walk.diameter > WIDEST * walk.noise * (1 + 1e-9) or drift > 100 * walk.noise or walk.epoch > _LONGEST_EPOCH:
        return None
    grid = _grid(walk)
    absolute = 3 * walk.steps * (_quadrature_error(walk, grid) + 2 * len(grid.points) * LEAST)
    # A step rounds the entries of two kernels, their sum, and sums over the states; squaring rounds no more often.
    relative = walk.steps * (RELATIVE + 4 * len(grid.points) * 2.3e-16)
    if relative > MOST_ERROR or absolute > MOST_ERROR:
        return None
    if walk.steps == 1:
        sources, unmet, done = np.zeros(1), np.ones(1), np.zeros(1)
    else:
        sources, (unmet, done) = grid.points, _before_last(walk, grid)
    count = max(_LEAST_CELLS, int(_CELLS_A_SIGMA * walk.diameter / walk.noise))
    edges = np.linspace(-walk.diameter / 2, walk.diameter / 2, count + 1)
    chance = walk.chance_at(walk.steps - 1)
    mass, error = np.zeros(count + 2), np.full(count + 2, extra + absolute)
    for update, on in ((walk.met, chance * unmet), (walk.plain, done + (1 - chance) * unmet)):
        if on.any():
            part, part_error = _cells(update, sources[on > 0], walk.noise, edges)
            mass += _sent(part, on[on > 0])
            error += _sent(part_error, on[on > 0])
    error += 1.1 * relative * mass
    return Masses.between(mass - error, mass + error)


def _before_last(walk: Walk, grid: _Grid) -> tuple[Array, Array]:
    """Masses on the states after T - 1 >= 1 steps: where the sample was not met in this epoch, and where it was."""
    always = walk.epoch == 1 and walk.chance == 1
    met = _kernel(walk.met, grid.points, grid, walk.noise)
    plain = met if always else _kernel(walk.plain, grid.points, grid, walk.noise)
    first = [_kernel(update, np.zeros(1), grid, walk.noise)[:, 0] for update in (walk.plain, walk.met)]
    unmet, done, taken = (1 - walk.chance_at(0)) * first[0], walk.chance_at(0) * first[1], 1
    while True:
        if taken % walk.epoch == 0:
            unmet, done = unmet + done, np.zeros_like(done)
            whole = (walk.steps - 1 - taken) // walk.epoch
            if whole > 1 and whole * walk.epoch > _DIRECT:
                unmet, taken = _apply(_epoch(walk, plain, met), whole, unmet), taken + whole * walk.epoch
        if taken == walk.steps - 1:
            return unmet, done
        chance = walk.chance_at(taken)
        hit = chance * _sent(met, unmet)
        if always:
            unmet = _flushed(hit)
        else:
            unmet = _flushed((1 - chance) * _sent(plain, unmet))
            done = _flushed((_sent(plain, done) if walk.epoch > 1 else done) + hit)
        taken += 1


def _epoch(walk: Walk, plain: Array, met: Array) -> Array:
    """The kernel of one epoch."""
    if walk.epoch == 1:
        return (1 - walk.chance) * plain + walk.chance * met
    if walk.position is not None:
        after = np.linalg.matrix_power(plain, walk.epoch - 1 - walk.position)
        return np.asarray(after @ met @ np.linalg.matrix_power(plain, walk.position))
    # The sum over positions of plain^(l - 1 - i) met plain^i, by doubling l.
    total, power = met, plain
    for bit in bin(walk.epoch)[3:]:
        total, power = power @ total + total @ power, power @ power
        if bit == "1":
            total, power = plain @ total + met @ power, plain @ power
    return total / walk.epoch


def _apply(kernel: Array, times: int, masses: Array) -> Array:
    """kernel^times masses, by squaring where that is shorter."""
    if times <= _DIRECT:
        for _ in range(times):
            masses = _flushed(_sent(kernel, masses))
        return masses
    while times:
        if times & 1:
            masses = _flushed(_sent(kernel, masses))
        times >>= 1
        if times:
            kernel = _flushed(kernel @ kernel)
    return masses
