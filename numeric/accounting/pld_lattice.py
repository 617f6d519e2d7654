"""The law of the privacy loss of one release, put on a lattice so that it can only look worse.

Base N(0, 1), moved N(g, 1), mixture M = (1-q) N(0, 1) + q N(g, 1), g = 1 / multiplier. The loss at z is
L(z) = log(1 - q + q e^(g z - g^2/2)), rising. "remove": M is the numerator, the base the denominator; "add": the other
way round. "replace" is the greatest profile that advanced joint convexity allows, in both directions at once: losses
above 0 are those of "remove", below 0 those of "add", and the rest, (1-q) (1-2p), p = Phi(-g/2), has no loss.

A cell of losses [l, r] with masses P and Q moves to its ends, a to l and b to r, with a + b = P and a e^-l + b e^-r =
Q: a chord, which lies above the convex profile. Beyond the last node, a e^-l = Q and the rest has infinite loss; below
the first, all of P moves up to it. Masses come from balls and are rounded up.

Source: docs/proofs/privacy_loss.md (claims ours/pld/*); Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022 (chords).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log, log1p

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, precision, upper


@dataclass(frozen=True)
class Losses:
    """Masses of the privacy loss under the numerator, whose profile is at least the true one.

    Attributes:
        index: the losses as multiples of the spacing, shape (k,), rising.
        mass: their masses, rounded up, shape (k,).
        infinite: mass of an infinite loss, rounded up.
    """

    index: NDArray[np.int64]
    mass: Array
    infinite: float


@dataclass(frozen=True)
class Release:
    """One kind of release, made ``count`` times.

    Attributes:
        rate: q in (0, 1]; 1 for a Gaussian.
        gap: g > 0, the distance of the two means in units of the noise, as a ball.
        side: "remove", "add" or "replace", see above; "remove" for a Gaussian.
        count: how often.
    """

    rate: float
    gap: arb
    side: str
    count: int

    def ends(self, mass: float) -> tuple[float, float]:
        """Two points z between which all but about this mass of the numerator lies; not rounded."""
        from scipy.special import ndtri

        g = float(self.gap)
        low = g / 2 if self.side == "replace" else float(ndtri(min(mass, 0.5)))
        return low, g - float(ndtri(min(mass / self.rate, 0.5)))

    def loss(self, z: Array) -> Array:
        """L(z) in floats, not rounded."""
        g = float(self.gap)
        exponent = g * z - g * g / 2
        if self.rate == 1:
            return exponent
        return np.logaddexp(log1p(-self.rate), log(self.rate) + exponent)

    def sketch(self, low: float, high: float) -> tuple[Array, Array, Array]:
        """Losses and their masses, and the slope of the loss in each cell of z; in floats and not rounded.

        A choice of grid is made by it. A "replace" has its losses, their mirror images and 0.
        """
        g = float(self.gap)
        edges = np.linspace(low, high, 801)
        z = (edges[1:] + edges[:-1]) / 2
        width = edges[1] - edges[0]
        loss = self.loss(z)
        base = np.exp(-z * z / 2) * width / np.sqrt(2 * np.pi)
        slope = g * np.exp(np.minimum(log(self.rate) + g * z - g * g / 2 - loss, 0.0))
        numerator = np.exp(np.minimum(loss - z * z / 2, 0.0)) * width / np.sqrt(2 * np.pi)
        if self.side == "remove":
            return loss, numerator, slope
        if self.side == "add":
            return -loss, base, slope
        still = max(1 - float(np.sum(numerator + base)), 0.0)
        return (
            np.concatenate([loss, -loss, [0.0]]),
            np.concatenate([numerator, base, [still]]),
            slope,
        )

    def on_lattice(self, spacing: float, z: Array) -> Losses:
        """The masses on the multiples of ``spacing``.

        Args:
            spacing: a power of two, so that losses on the lattice are floats.
            z: the nodes, about, rising; any two or more are valid.
        """
        with precision():
            nodes, base, moved = self._nodes(spacing, z)
            losses = [exact(spacing) * int(k) for k in nodes]
            q = exact(self.rate)
            mixed = [(1 - q) * one + q * other for one, other in zip(base, moved, strict=True)]
            masses: dict[int, arb] = defaultdict(arb)
            infinite = arb(0)
            if self.side != "add":
                below = arb(0) if self.side == "replace" else 1 - mixed[0]
                infinite += _place(masses, nodes, losses, mixed, base, below)
            if self.side != "remove":
                # The half of the losses below 0 of "replace" ends at 0, where base[0] and mixed[0] count from.
                start = (base[0], mixed[0]) if self.side == "replace" else (arb(1), arb(1))
                above, other = [start[0] - one for one in base[::-1]], [start[1] - one for one in mixed[::-1]]
                backwards = [-k for k in nodes[::-1]]
                infinite += _place(masses, backwards, [-one for one in losses[::-1]], above, other, base[-1])
            if self.side == "replace":
                masses[0] += (1 - q) * (1 - 2 * base[0])
            index = sorted(masses)
            values = [max(upper(masses[k]), 0.0) for k in index]
            return Losses(np.array(index, dtype=np.int64), np.array(values), max(upper(infinite), 0.0))

    def nodes(self, spacing: float, z: Array) -> list[int]:
        """The losses, as multiples of the spacing and rising, between which `on_lattice` puts chords."""
        with precision():
            found = self._nodes(spacing, z)[0]
        backwards = [-k for k in found[::-1]]
        return {"remove": found, "add": backwards, "replace": backwards[:-1] + found}[self.side]

    def _nodes(self, spacing: float, z: Array) -> tuple[list[int], list[arb], list[arb]]:
        """Lattice indices near L(z), and the mass of the base and of the moved Gaussian beyond each."""
        g, q, root = self.gap, exact(self.rate), arb(2).sqrt()
        wanted = self.loss(z) / spacing
        found = sorted({int(k) for k in np.rint(wanted)} | {floor(wanted[0]), ceil(wanted[-1])})
        if self.side == "replace":
            found = [0, *(k for k in found if k > 0)]
        nodes: list[int] = []
        base: list[arb] = []
        moved: list[arb] = []
        for k in found:
            ratio = ((exact(spacing) * k).exp() - 1 + q) / q
            if ratio < 0 and not nodes:  # rounded to below every loss
                nodes, base, moved = [k], [arb(1)], [arb(1)]
            elif ratio > 0:
                point = ratio.log() / g + g / 2
                nodes.append(k)
                base.append((point / root).erfc() / 2)
                moved.append(((point - g) / root).erfc() / 2)
        return nodes, base, moved


def _place(
    masses: dict[int, arb], nodes: list[int], losses: list[arb], above: list[arb], other: list[arb], below: arb
) -> arb:
    """Add the masses of all cells, of ``below`` to the first node, and return the mass of an infinite loss.

    The nodes are lattice indices, rising, and ``losses`` what they stand for; ``above`` and ``other`` are the masses of
    the numerator and of the denominator above each node, ``below`` that of the numerator below the first.
    """
    masses[nodes[0]] += below
    for j in range(len(nodes) - 1):
        p, q = above[j] - above[j + 1], other[j] - other[j + 1]
        width = losses[j + 1] - losses[j]
        right = (p - losses[j].exp() * q) / -(-width).expm1()
        masses[nodes[j]] += p - right
        masses[nodes[j + 1]] += right
    last = losses[-1].exp() * other[-1]
    masses[nodes[-1]] += last
    return above[-1] - last


def from_profile(points: Sequence[tuple[float, float]]) -> tuple[Array, Array, float]:
    """Losses, their masses and the mass of an infinite loss, of a law that dominates two laws in both directions.

    The profile f of either direction is convex in t = e^epsilon, f(0) = 1, and f(t) = 1 - t + t g(1/t), g that of the
    other. So it lies below the chords of the points, of their mirror images and of (0, 1); the lower hull of these is
    the profile of the law returned, of which f need not be known between the points.

    Args:
        points: (epsilon, delta), both rising or falling strictly, epsilon >= 0, at which the two laws are
            (epsilon, delta)-DP.
    """
    with precision():
        right = sorted(points)
        corners = [(-eps, 1 - (-exact(eps)).exp() * (1 - exact(d))) for eps, d in reversed(right) if eps > 0]
        corners += [(eps, exact(d)) for eps, d in right]
        hull = [
            (-inf, arb(0), arb(1), arb(1))
        ]  # loss, its exponential, the profile there, and its slope before, negated
        for loss, height in corners:
            t = exact(loss).exp()
            while len(hull) > 1 and not (hull[-1][2] - height) / (t - hull[-1][1]) <= hull[-1][3]:
                hull.pop()
            hull.append((loss, t, height, (hull[-1][2] - height) / (t - hull[-1][1])))
        slopes = [slope for *_, slope in hull[2:]] + [arb(0)]
        masses = [upper(t * (slope - after)) for (_, t, _, slope), after in zip(hull[1:], slopes, strict=True)]
        return np.array([loss for loss, *_ in hull[1:]]), np.maximum(masses, 0.0), upper(hull[-1][2])
