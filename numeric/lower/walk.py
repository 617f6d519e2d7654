"""Clamped walks X <- clip(phi(X) + N(0, sigma^2)) on [-D/2, D/2]: certified masses of the last iterate.

phi is piecewise affine. The law after a step has a density inside and an atom at each end. The next density
is an integral over this law, computed by Gauss quadrature with `NODES` nodes per panel. Panels are at most
`PANEL` sigma long and are cut at the kinks of phi. On a panel of half length a the error is at most 8 a M
r^(-2 NODES) / (1 - 1/r), where M bounds the integrand on the ellipse of parameter r. Rounding errors are
relative: `RELATIVE` for each entry of the kernel, one unit in the last place for each term of a sum. Masses
below `LEAST` become 0.

Source: docs/proofs/lower_bounds.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import groupby, pairwise
from math import erfc, exp, log, pi, sqrt

import numpy as np
from flint import arb
from scipy.special import ndtr

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.masses import Masses

NODES = 32
PANEL = 3.0
WIDEST = 100.0
"""Maximum of D / sigma, which gives 34 panels and 1088 nodes."""
RELATIVE = 4e-11
TAIL = 1e-11
"""Relative error of a normal tail from scipy's ``ndtr``, including the rounding of its argument."""
LEAST = 1e-100
MOST_ERROR = 1e-3
FORGOTTEN = 1e-50
"""Total variation distance below which the influence of early steps is ignored."""
DIRECT = 600
"""Maximum number of steps that are taken one by one if repeated squaring is possible."""
LONGEST_EPOCH = 3000
FURTHEST = 100.0
"""Maximum distance by which an update may move an iterate, in units of sigma."""
_LEAST_CELLS, _MOST_CELLS = 120, 6000
_KEPT = 2e7
"""Approximate number of kernel entries to cache."""


@dataclass(frozen=True)
class Update:
    """Mean x -> phi(x) of an update, linear between the given points.

    Attributes:
        points: pairs (x, phi(x)), lengths, from the low end of the interval to the high end. Two points with
            the same x are a jump, at which phi is the mean of the two values.
    """

    points: tuple[tuple[float, float], ...]

    @classmethod
    def affine(cls, slope: float, drift: float, half: float) -> "Update":
        """The update ``slope x + drift`` on [-half, half]."""
        return cls(tuple((x, slope * x + drift) for x in (-half, half)))

    @classmethod
    def pushed(cls, slope: float, drift: float, half: float, push: float, reach: float) -> "Update":
        """``slope x + drift`` plus an outward push, which is constant beyond ``reach`` and a jump if ``reach`` is 0."""
        if reach >= half:
            return cls.affine(slope + (push / reach if push else 0.0), drift, half)
        places = ((-half, -1), (-reach, -1), (reach, 1), (half, 1))
        return cls(tuple((x, slope * x + drift + side * push) for x, side in places))

    def mean(self, x: Array) -> Array:
        """phi(x), with the shape of x."""
        places, values = np.array(self.points).T
        right, left = np.interp(x, places, values), np.interp(-x, -places[::-1], values[::-1])
        return np.asarray(np.where(right == left, right, (right + left) / 2))

    @property
    def kinks(self) -> tuple[float, ...]:
        """Points at which the mean is not affine."""
        return tuple(x for x, _ in self.points[1:-1])

    @property
    def steepest(self) -> float:
        """Largest absolute slope of a piece."""
        return max((abs((w - v) / (y - x)) for (x, v), (y, w) in pairwise(self.points) if y > x), default=0.0)

    @property
    def range(self) -> float:
        """Largest distance between two means, a length."""
        values = [value for _, value in self.points]
        return max(values) - min(values)


Mixture = tuple[tuple[float, Update], ...]
"""Pairs of a weight and an update. Weights may be rounded down and sum to less than 1."""


@dataclass(frozen=True)
class WalkStep:
    """One step of a walk; ``noise`` is a standard deviation, a length.

    ``plain`` and ``met`` are the updates without and with the differing sample. An independent step meets the
    sample with probability ``chance``.
    """

    noise: float
    plain: Mixture
    met: Mixture = ()
    chance: float = 0.0

    @classmethod
    def known(cls, update: Update, noise: float) -> "WalkStep":
        """A step whose batch is known in advance."""
        return cls(noise, ((1.0, update),))

    @property
    def updates(self) -> list[Update]:
        """The updates without and with the sample."""
        return [update for _, update in (*self.plain, *self.met)]

    @property
    def log_contraction(self) -> float:
        """Logarithm of an upper bound on the factor by which a step contracts total variation.

        Source: Dobrushin 1956.
        """
        common = erfc(max(one.range for one in self.updates) / (2 * sqrt(2) * self.noise)) * (1 - 1e-12)
        return log(max(1 - common, 1e-300)) if common else 0.0


@dataclass(frozen=True)
class Walk:
    """Walk with independent steps, or with one ``met`` step at a uniformly random position of each epoch.

    Attributes:
        cycle: steps of one cycle, ending with the last step of the walk.
        epoch: steps per epoch if the cycle is a single step and the sample is met once in each epoch, else 1.
        start: X_0, a length.
        missing: upper bound on the weight missing from each mixture.
    """

    steps: int
    diameter: float
    cycle: tuple[WalkStep, ...]
    epoch: int = 1
    start: float = 0.0
    missing: float = 0.0

    def chance_at(self, t: int) -> float:
        """Probability that step t meets the sample if the epoch has not met it before."""
        if self.epoch > 1:
            return 1 / (self.epoch - t % self.epoch)
        return self.cycle[(t - self.steps) % len(self.cycle)].chance


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Increasing nodes in (-1, 1) and their weights, correct to a unit in the last place."""
    pairs = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
    nodes, weights = (np.array([float(pair[i]) for pair in pairs]) for i in (0, 1))
    return nodes[::-1].copy(), weights[::-1].copy()


@dataclass(frozen=True, eq=False)
class Grid:
    """States: the atom at the low end, the nodes, the atom at the high end; atoms have weight 1."""

    points: Array  # shape (states,)
    weights: Array
    half: float  # largest half length of a panel
    panels: int
    noise: float  # smallest sigma of a step
    steepest: float  # largest slope of a mean

    @classmethod
    def of(cls, diameter: float, noise: float, updates: Iterable[Update]) -> "Grid":
        """The grid on [-D/2, D/2] for updates whose smallest sigma is ``noise``."""
        end, updates = diameter / 2, list(updates)
        cuts = sorted({-end, end, *(x for one in updates for x in one.kinks if -end < x < end)})
        return cls._cut(tuple(cuts), noise, max(one.steepest for one in updates))

    @classmethod
    @lru_cache(maxsize=4)  # the two laws of an attack share a grid
    def _cut(cls, cuts: tuple[float, ...], noise: float, steepest: float) -> "Grid":
        end = cuts[-1]
        nodes, weights = _rule()
        pieces = [
            (left, right, int(np.ceil((right - left) / (PANEL * noise)))) for left, right in pairwise(cuts)
        ]
        edges = np.concatenate([*(np.linspace(left, right, n + 1)[:-1] for left, right, n in pieces), [end]])
        middles, halves = (edges[:-1] + edges[1:]) / 2, (edges[1:] - edges[:-1]) / 2
        points = np.concatenate([[-end], (middles[:, None] + halves[:, None] * nodes).ravel(), [end]])
        sizes = np.concatenate([[1.0], (halves[:, None] * weights).ravel(), [1.0]])
        return cls(points, sizes, float(halves.max()), len(halves), noise, steepest)

    @property
    def diameter(self) -> float:
        """D, a length."""
        return float(self.points[-1] - self.points[0])

    @cached_property
    def quadrature_error(self) -> float:
        """Upper bound on the error of one step in total mass, over cells and atoms."""
        a, sigma = self.half / self.noise, self.diameter / self.noise
        r = np.geomspace(1.05, 60.0, 120)
        v = a * (r - 1 / r) / 2
        best = float(((1 + self.steepest**2) * v**2 / 2 - 2 * NODES * np.log(r) - np.log(1 - 1 / r)).min())
        # In units of sigma: nodes D panels 8 a / (2 pi); two atoms and a cell 3 panels 8 a / sqrt(2 pi).
        scale = 8 * a * self.panels * (sigma / (2 * pi) + 3 / np.sqrt(2 * pi))
        return exp(min(best + log(scale), 0.0)) * (1 + 1e-9)

    def errors(self, steps: int) -> tuple[float, float] | None:
        """Absolute and relative error of masses after this many steps; None if above `MOST_ERROR`."""
        absolute = 3 * steps * (self.quadrature_error + 2 * len(self.points) * LEAST)
        # A step rounds two kernels, their sum and sums over the states. Squaring rounds no more often.
        relative = steps * (RELATIVE + 4 * len(self.points) * 2.3e-16)
        return None if max(relative, absolute) > MOST_ERROR else (absolute, relative)

    def kernel(self, updates: Mixture, noise: float, sources: Array | None = None) -> Array:
        """Mass sent from unit mass at each source (column) to each state (row), shape (states, sources)."""
        total = np.zeros(())
        for weight, update in updates:
            mean = update.mean(self.points if sources is None else sources)
            z = (self.points[:, None] - mean[None, :]) / noise
            kernel: Array = self.weights[:, None] * np.exp(-(z**2) / 2) / (noise * np.sqrt(2 * np.pi))
            kernel[0], kernel[-1] = ndtr(z[0]), ndtr(-z[-1])
            total = total + weight * _flush(kernel)
        return _flush(total)


def last_masses(walk: Walk, edges: Array | None = None, extra: float = 0.0) -> Masses | None:
    """Certified masses of X_T before its projection: below the first edge, between edges, above the last edge.

    None if the walk is too long or too wide for a useful answer. Early steps with a negligible effect on X_T
    are left out. ``edges`` are increasing lengths; None stands for cells of about sigma / 16 on [-D/2, D/2].
    ``extra`` is an additional error in the mass of every set.
    """
    noise, last = min(step.noise for step in walk.cycle), walk.cycle[-1]
    drift = max(abs(v - x) for step in walk.cycle for update in step.updates for x, v in update.points)
    if walk.diameter > WIDEST * noise * (1 + 1e-9) or drift > FURTHEST * noise or walk.epoch > LONGEST_EPOCH:
        return None
    steps, forgotten = _remembered(walk)
    if len(walk.cycle) > LONGEST_EPOCH and steps > LONGEST_EPOCH:
        return None
    grid = Grid.of(walk.diameter, noise, {update for step in walk.cycle[-steps:] for update in step.updates})
    errors = grid.errors(steps)
    if errors is None or steps * walk.missing > 1e-6:
        return None
    walk, sources = replace(walk, steps=steps), grid.points
    if steps == 1:
        sources, unmet, done = np.array([walk.start]), np.ones(1), np.zeros(1)
    elif walk.epoch > 1:
        unmet, done = _shuffled_before_last(walk, grid)
    else:
        unmet, done = _before_last(walk, grid), np.zeros(len(grid.points))
    chance = walk.chance_at(steps - 1)
    parts = [(weight, update, chance * unmet) for weight, update in last.met]
    parts += [(weight, update, done + (1 - chance) * unmet) for weight, update in last.plain]
    if edges is None:
        edges = cells_between(-walk.diameter / 2, walk.diameter / 2, last.noise / 16)
    absolute = errors[0] + extra + forgotten + steps * walk.missing
    mass, error = np.zeros(len(edges) + 1), np.full(len(edges) + 1, absolute)
    for weight, update, on in parts:
        if weight > 0 and on.any():
            part, part_error = _cells(update, sources[on > 0], on[on > 0], last.noise, edges)
            mass += weight * part
            error += weight * part_error
    error += 1.1 * errors[1] * mass
    return Masses.between(mass - error, mass + error)


def cells_between(low: float, high: float, length: float) -> Array:
    """Edges of equally long cells of about this length, in limited number."""
    return np.linspace(low, high, min(max(_LEAST_CELLS, int((high - low) / length)), _MOST_CELLS) + 1)


def _remembered(walk: Walk) -> tuple[int, float]:
    """Number of last steps to keep, and the total variation error of omitting the earlier steps."""
    logs = [step.log_contraction for step in reversed(walk.cycle)]
    whole, enough = sum(logs), log(FORGOTTEN)
    cycles = min(int(enough / whole) if whole else walk.steps, walk.steps // len(logs))
    steps, total = cycles * len(logs), cycles * whole
    while steps < walk.steps and total > enough:
        total += logs[steps % len(logs)]
        steps += 1
    steps += (walk.steps - steps) % walk.epoch  # omit whole epochs only
    return steps, 0.0 if steps == walk.steps else exp(total) * (1 + 1e-6)


def _before_last(walk: Walk, grid: Grid) -> Array:
    cycle, kept = walk.cycle, 1 + int(_KEPT / len(grid.points) ** 2)

    def at(back: int) -> WalkStep:
        return cycle[-1 - back % len(cycle)]

    @lru_cache(kept)
    def kernel(step: WalkStep) -> Array:
        return _kernel(step, grid)

    masses = _kernel(at(walk.steps - 1), grid, np.array([walk.start]))[:, 0]
    left = walk.steps - 2  # steps that remain before the last one
    whole = left // len(cycle) if left > DIRECT else 0
    together = whole if whole > 1 else 0  # a single cycle needs no power
    for back in range(left, together * len(cycle), -1):
        masses = _flush(_send(kernel(at(back)), masses))
    if not together:
        return masses
    turn = [(kernel(step), len(list(group))) for step, group in groupby(map(at, range(len(cycle), 0, -1)))]
    return apply_power(_product(turn), together, masses)


def _shuffled_before_last(walk: Walk, grid: Grid) -> tuple[Array, Array]:
    """Masses before the last of at least two steps: if this epoch has not met the sample yet, and if it has."""
    (step,), start = walk.cycle, np.array([walk.start])
    plain, met = _shared(grid, step.plain, step.noise), grid.kernel(step.met, step.noise)
    unmet, done = (grid.kernel(updates, step.noise, start)[:, 0] for updates in (step.plain, step.met))
    unmet, done, taken = (1 - walk.chance_at(0)) * unmet, walk.chance_at(0) * done, 1
    while True:
        if taken % walk.epoch == 0:
            unmet, done = unmet + done, np.zeros_like(done)
            whole = (walk.steps - 1 - taken) // walk.epoch
            if whole > 1 and whole * walk.epoch > DIRECT:
                taken += whole * walk.epoch
                unmet = apply_power(epoch_kernel(walk.epoch, plain, met), whole, unmet)
        if taken == walk.steps - 1:
            return unmet, done
        chance = walk.chance_at(taken)
        done = _flush(_send(plain, done) + chance * _send(met, unmet))
        unmet = _flush((1 - chance) * _send(plain, unmet))
        taken += 1


def _kernel(step: WalkStep, grid: Grid, sources: Array | None = None) -> Array:
    plain = (
        _shared(grid, step.plain, step.noise)
        if sources is None
        else grid.kernel(step.plain, step.noise, sources)
    )
    if not step.chance:
        return plain
    return (1 - step.chance) * plain + step.chance * grid.kernel(step.met, step.noise, sources)


@lru_cache(maxsize=1)
def _shared(grid: Grid, updates: Mixture, noise: float) -> Array:
    return grid.kernel(updates, noise)


def epoch_kernel(length: int, plain: Array, met: Array) -> Array:
    """Kernel of one epoch: the mean of plain^(length - 1 - i) met plain^i over positions i, by doubling."""
    total, power = met, plain
    for bit in bin(length)[3:]:
        total, power = power @ total + total @ power, power @ power
        if bit == "1":
            total, power = plain @ total + met @ power, plain @ power
    return total / length


def _product(powers: Sequence[tuple[Array, int]]) -> Array:
    factors = list[Array]()  # in order of application
    for kernel, times in powers:
        left, square = times, kernel
        while left:
            if left & 1:
                factors.append(square)
            left >>= 1
            if left:
                square = _flush(square @ square)
    return reduce(lambda total, one: _flush(one @ total), factors)


def apply_power(kernel: Array, times: int, masses: Array) -> Array:
    """kernel^times @ masses, by repeated squaring if ``times`` exceeds `DIRECT`."""
    if times <= DIRECT:
        for _ in range(times):
            masses = _flush(_send(kernel, masses))
        return masses
    while times:
        if times & 1:
            masses = _flush(_send(kernel, masses))
        times >>= 1
        if times:
            kernel = _flush(kernel @ kernel)
    return masses


def _send(kernel: Array, masses: Array) -> Array:
    """kernel @ masses on one thread, because waiting for BLAS threads would take longer."""
    return np.asarray(np.einsum("ij,j->i", kernel, masses))


def _flush(masses: Array) -> Array:
    """Set masses below `LEAST` to 0; arithmetic on subnormal floats is slow."""
    return np.where(masses < LEAST, 0.0, masses)


def _cells(update: Update, sources: Array, masses: Array, noise: float, edges: Array) -> tuple[Array, Array]:
    """Masses sent from the sources to the two ends and the cells, and their errors; shape (cells + 2,)."""
    z = (edges[:, None] - update.mean(sources)[None, :]) / noise
    low = z < 0  # a cell's mass is a difference of tails on one side of the mean
    tail = ndtr(np.negative(np.abs(z, out=z), out=z))
    more = np.maximum(tail[1:], tail[:-1])
    np.subtract(1, more, out=more, where=low[1:] != low[:-1])
    less = np.minimum(tail[1:], tail[:-1], out=z[1:])
    below, above = (np.where(side, tail[end], 1 - tail[end]) for side, end in ((low[0], 0), (~low[-1], -1)))
    ends, reached = _send(np.stack([below, above]), masses), _send(more, masses)
    inside = _send(np.subtract(more, less, out=less), masses)
    return np.concatenate([ends[:1], inside, ends[1:]]), TAIL * np.concatenate([ends[:1], reached, ends[1:]])
