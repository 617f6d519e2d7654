"""Densities of clamped walks on a grid: one step of X <- clip(phi(X) + N(0, sigma^2)) on [-D/2, D/2].

Phi is piecewise affine. The law after a step has a density inside and an atom at each end; the next density is an
integral over it, by Gauss's rule of `NODES` nodes on panels at most `PANEL` sigma long and cut at the kinks of phi. On
a panel of half length a it errs by 8 a M r^(-2 NODES) / (1 - 1/r), M the bound on an ellipse. Rounding is relative:
`RELATIVE` for an entry of the kernel, and one unit in the last place for every term of a sum. What is below `LEAST` is
set to 0, an absolute error.

Source: docs/proofs/lower_bounds.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import exp, log, pi

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
FORGOTTEN = 1e-50
"""Distance in total variation within which the start of a walk is no longer seen."""
DIRECT = 600
LONGEST_EPOCH = 3000


@dataclass(frozen=True)
class Update:
    """One update's mean x -> phi(x), linear between its points.

    Attributes:
        points: (x, phi(x)), lengths, x rising from the low end of the interval to the high one; two points of one x are
            a jump, where phi is the mean of both.
    """

    points: tuple[tuple[float, float], ...]

    @classmethod
    def affine(cls, slope: float, drift: float, half: float) -> "Update":
        """slope x + drift on [-half, half]."""
        return cls(tuple((x, slope * x + drift) for x in (-half, half)))

    @classmethod
    def pushed(cls, slope: float, drift: float, half: float, push: float, reach: float) -> "Update":
        """slope x + drift, and a push outwards that is greatest from ``reach`` on; a jump where that is 0."""
        if reach >= half:
            return cls.affine(slope + (push / reach if push else 0.0), drift, half)
        places = ((-half, -1), (-reach, -1), (reach, 1), (half, 1))
        return cls(tuple((x, slope * x + drift + side * push) for x, side in places))

    def mean(self, x: Array) -> Array:
        """Shape of x, lengths."""
        places, values = np.array(self.points).T
        right, left = np.interp(x, places, values), np.interp(-x, -places[::-1], values[::-1])
        return np.asarray(np.where(right == left, right, (right + left) / 2))

    @property
    def kinks(self) -> tuple[float, ...]:
        """The points where the mean is not affine."""
        return tuple(x for x, _ in self.points[1:-1])

    @property
    def steepest(self) -> float:
        """The greatest slope of a piece."""
        return max((abs((w - v) / (y - x)) for (x, v), (y, w) in pairwise(self.points) if y > x), default=0.0)

    @property
    def range(self) -> float:
        """The greatest distance of two means, a length."""
        values = [value for _, value in self.points]
        return max(values) - min(values)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    """Nodes in (-1, 1) and weights, rising, correctly rounded up to a unit in the last place."""
    pairs = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
    nodes, weights = (np.array([float(pair[i]) for pair in pairs]) for i in (0, 1))
    return nodes[::-1].copy(), weights[::-1].copy()


@dataclass(frozen=True, eq=False)
class Grid:
    """States: the atom at the low end, the nodes, the atom at the high end. Lengths; weights are 1 for the atoms.

    Attributes:
        points: shape (states,).
        weights: of the rule; shape (states,).
        half: the greatest half length of a panel.
        panels: their number.
        noise: the least sigma of a step.
        steepest: the greatest slope of a mean.
    """

    points: Array
    weights: Array
    half: float
    panels: int
    noise: float
    steepest: float

    @classmethod
    def of(cls, diameter: float, noise: float, updates: Iterable[Update]) -> "Grid":
        """The grid on [-D/2, D/2] for these updates, ``noise`` their least sigma."""
        end, updates = diameter / 2, list(updates)
        cuts = sorted({-end, end, *(x for one in updates for x in one.kinks if -end < x < end)})
        return cls._cut(tuple(cuts), noise, max(one.steepest for one in updates))

    @classmethod
    @lru_cache(maxsize=4)  # both laws of an attack have one
    def _cut(cls, cuts: tuple[float, ...], noise: float, steepest: float) -> "Grid":
        end = cuts[-1]
        nodes, weights = _rule()
        points, sizes, longest, panels = [np.array([-end])], [np.ones(1)], 0.0, 0
        for left, right in pairwise(cuts):
            pieces = int(np.ceil((right - left) / (PANEL * noise)))
            edges = np.linspace(left, right, pieces + 1)
            for a, b in pairwise(edges.tolist()):
                half = (b - a) / 2
                points.append((a + b) / 2 + half * nodes)
                sizes.append(half * weights)
                longest, panels = max(longest, half), panels + 1
        ends = np.concatenate([*points, np.array([end])]), np.concatenate([*sizes, np.ones(1)])
        return cls(*ends, longest, panels, noise, steepest)

    @property
    def diameter(self) -> float:
        """D, a length."""
        return float(self.points[-1] - self.points[0])

    @cached_property
    def quadrature_error(self) -> float:
        """Mass by which one step errs, cells and atoms together, rounded up."""
        a, sigma = self.half / self.noise, self.diameter / self.noise
        r = np.geomspace(1.05, 60.0, 120)
        v = a * (r - 1 / r) / 2
        best = float(((1 + self.steepest**2) * v**2 / 2 - 2 * NODES * np.log(r) - np.log(1 - 1 / r)).min())
        # In units of sigma: nodes D panels 8 a / (2 pi), and two atoms and a cell 3 panels 8 a / sqrt(2 pi).
        scale = 8 * a * self.panels * (sigma / (2 * pi) + 3 / np.sqrt(2 * pi))
        return exp(min(best + log(scale), 0.0)) * (1 + 1e-9)

    def errors(self, steps: int) -> tuple[float, float] | None:
        """Absolute and relative error of masses after so many steps; None where they leave nothing to say."""
        absolute = 3 * steps * (self.quadrature_error + 2 * len(self.points) * LEAST)
        # A step rounds the entries of two kernels, their sum, and sums over the states; squaring rounds no more often.
        relative = steps * (RELATIVE + 4 * len(self.points) * 2.3e-16)
        return None if max(relative, absolute) > MOST_ERROR else (absolute, relative)

    def kernel(self, update: Update, noise: float, sources: Array | None = None) -> Array:
        """Shape (states, sources): mass that a unit at the source of the column sends to the state of the row."""
        mean = update.mean(self.points if sources is None else sources)
        z = (self.points[:, None] - mean[None, :]) / noise
        kernel: Array = self.weights[:, None] * np.exp(-(z**2) / 2) / (noise * np.sqrt(2 * np.pi))
        kernel[0], kernel[-1] = ndtr(z[0]), ndtr(-z[-1])
        return flushed(kernel)

    def last(
        self,
        parts: Sequence[tuple[float, Update, Array]],
        sources: Array,
        noise: float,
        errors: tuple[float, float],
        edges: Array,
    ) -> Masses:
        """Masses after a last step without projection: below the first edge, between edges, above the last one.

        Args:
            parts: (weight, update, masses on the sources) of all ways to take the step.
            sources: points, shape (sources,).
            noise: sigma of the step.
            errors: of any mass, and as a part of it.
            edges: rising lengths.
        """
        absolute, relative = errors
        mass, error = np.zeros(len(edges) + 1), np.full(len(edges) + 1, absolute)
        for weight, update, on in parts:
            if weight > 0 and on.any():
                part, part_error = _cells(update, sources[on > 0], on[on > 0], noise, edges)
                mass += weight * part
                error += weight * part_error
        error += 1.1 * relative * mass
        return Masses.between(mass - error, mass + error)


def sent(kernel: Array, masses: Array) -> Array:
    """kernel @ masses, on one thread: the threads of a BLAS wait for one another longer than a product takes."""
    return np.asarray(np.einsum("ij,j->i", kernel, masses))


def flushed(masses: Array) -> Array:
    """With what is below `LEAST` set to 0: numbers near the end of the floats are slow."""
    return np.where(masses < LEAST, 0.0, masses)


def cut(low: float, high: float, length: float) -> Array:
    """Edges of equal cells in [low, high], of about this length; not too few, nor too many."""
    return np.linspace(low, high, min(max(_LEAST_CELLS, int((high - low) / length)), _MOST_CELLS) + 1)


_LEAST_CELLS = 120
_MOST_CELLS = 6000


def _cells(update: Update, sources: Array, masses: Array, noise: float, edges: Array) -> tuple[Array, Array]:
    """Masses that those at the sources send to the atoms and the cells, and their errors; shape (cells + 2,)."""
    z = (edges[:, None] - update.mean(sources)[None, :]) / noise
    low = z < 0  # a cell's mass is a difference of tails that do not reach over the middle
    tail = ndtr(np.negative(np.abs(z, out=z), out=z))
    more = np.maximum(tail[1:], tail[:-1])
    np.subtract(1, more, out=more, where=low[1:] != low[:-1])
    less = np.minimum(tail[1:], tail[:-1], out=z[1:])
    below, above = (np.where(side, tail[end], 1 - tail[end]) for side, end in ((low[0], 0), (~low[-1], -1)))
    ends, reached = sent(np.stack([below, above]), masses), sent(more, masses)
    inside = sent(np.subtract(more, less, out=less), masses)
    return np.concatenate([ends[:1], inside, ends[1:]]), TAIL * np.concatenate([ends[:1], reached, ends[1:]])


def apply(kernel: Array, times: int, masses: Array) -> Array:
    """kernel^times masses, by squaring where that is shorter."""
    if times <= DIRECT:
        for _ in range(times):
            masses = flushed(sent(kernel, masses))
        return masses
    while times:
        if times & 1:
            masses = flushed(sent(kernel, masses))
        times >>= 1
        if times:
            kernel = flushed(kernel @ kernel)
    return masses
