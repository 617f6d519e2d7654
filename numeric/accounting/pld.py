"""Laws of single and of summed privacy losses on a lattice, and profiles with error bounds.

The base is N(0, 1), the moved Gaussian N(g, 1) with g = 1 / multiplier, and the mixture M = (1-q) N(0, 1) + q
N(g, 1). The loss at z is L(z) = log(1 - q + q e^(g z - g^2/2)), increasing in z. For "remove", M is the
numerator and the base is the denominator; for "add", they are exchanged. "replace" is the largest profile
that advanced joint convexity allows, for both directions at once: losses above 0 are as for "remove", losses
below 0 are as for "add", and the loss 0 has mass (1-q) (1-2 Phi(-g/2)).

The mass of every cell of losses moves to the ends of the cell, which gives a chord above the convex profile.
Beyond the last node, the remaining mass has infinite loss; all mass below the first node moves up to this
node.

Tilted masses m e^(lam l) / Y with sum 1 have the T-fold convolution c, and the loss l then has mass c(l) Y^T
e^(-lam l), with a rounding error of about 1e-16 T relative to delta. For a transform of length n, let u =
2^-53, eta = 8 u log2(n), A_ki = |Y_ki| + eta with the transform Y_ki of release i, and A_k = prod A_ki^T_i.
The error of the spectrum is e_k <= A_k (eta sum T_i / A_ki + 5 u sum T_i), and the error of c is at most
|e|_2 + eta |spectrum|_2 in the l1 norm. Mass that wraps around is added, and mass above the window is bounded
by Chernoff's inequality.

Any tilt lam, grid and increasing nodes are valid. The chords of a release add about (lam + 1) w^2 / 12 to
epsilon, where w^2 is the mean squared width of a cell under the tilted law. For a given number of nodes, this
increase is least if the density of nodes in z is proportional to the cube root of the tilted density times
the squared slope of the loss.

Source: docs/proofs/privacy_loss.md (claims ours/pld/*); Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022
(chords); Koskela, Jälkö & Honkela 2020 (transform).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, floor, frexp, fsum, inf, ldexp, log, log1p, log2, sqrt
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences.sampled import group_law, log_moved
from lastiterate.numeric.rounding import exact, precision, upper

_FINE = 4e-5
"""Maximum relative increase of epsilon due to the lattice; the maximum due to the nodes is the same."""
_COARSE = 0.04
"""Largest change of the logarithm of the tilted density from one node to the next."""
_WIDEST = 0.1
"""Largest distance between two nodes in z."""
_MOST_NODES = 1500
_LONGEST = 1 << 21
_LEAST_DELTA = 1e-250
_LEAST_GAP, _MOST_GAP = 1e-25, 1e8
"""Range of gaps for which floats represent the masses and losses of a sketch."""
TILTS: Final[Array] = np.geomspace(1e-8, 1e5, 161).astype(np.float64)
"""Candidate tilts."""
_UNIT = 2.0**-53
_NEWTON = 6
_CLOSE = 1e-6
"""Relative tolerance of the epsilon at which the bound crosses delta."""


@dataclass(frozen=True)
class LatticeLaw:
    """Masses of the loss under the numerator, rounded up, at increasing multiples ``index`` of the spacing."""

    index: NDArray[np.int64]
    mass: Array
    infinite: float


@dataclass(frozen=True)
class Release:
    """``count`` releases of one kind with rate q in (0, 1] (1 for a Gaussian) and gap g > 0.

    ``side`` is "remove", "add" or "replace" (see the module docstring), and "remove" for a Gaussian. For a
    ``group`` of k samples, M is the mixture of N(j g, 1) with j ~ Binomial(k, q).
    """

    rate: float
    gap: arb
    side: str
    count: int
    group: int = 1

    @cached_property
    def _members(self) -> tuple[arb, list[arb]]:
        """`group_law` of the batch; for one sample, (q, [1])."""
        return group_law(self.group, exact(self.rate)) if self.group > 1 else (exact(self.rate), [arb(1)])

    def ends(self, mass: float) -> tuple[float, float]:
        """Points z between which the numerator has a mass of about 1 - ``mass``."""
        from scipy.special import ndtri

        g = float(self.gap)
        low = g / 2 if self.side == "replace" else float(ndtri(min(mass, 0.5)))
        return low, self.group * g - float(ndtri(min(mass / self.rate, 0.5)))

    def loss(self, z: Array) -> Array:
        """L(z) in floats, not rounded."""
        g = float(self.gap)
        exponent = g * z - g * g / 2
        if self.rate == 1:
            return exponent
        q, parts = self._members
        if self.group > 1:
            none = self.group * log1p(-self.rate)  # 1 - q may be 0 within its error
            return np.logaddexp(none, float(q.log()) + log_moved(parts, g, z))
        return np.logaddexp(log1p(-self.rate), log(self.rate) + exponent)

    def sketch(self, low: float, high: float) -> tuple[Array, Array, Array]:
        """Losses, masses and slopes on cells of z, in floats; "replace" adds the mirror images and the loss 0."""
        g = float(self.gap)
        edges = np.linspace(low, high, 801)
        z = (edges[1:] + edges[:-1]) / 2
        width = edges[1] - edges[0]
        loss = self.loss(z)
        base = np.exp(-z * z / 2) * width / np.sqrt(2 * np.pi)
        slope = g * np.exp(np.minimum(log(self.rate) + g * z - g * g / 2 - loss, 0.0))
        slope = np.gradient(loss, width) if self.group > 1 else slope
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

    def on_lattice(self, spacing: float, z: Array) -> LatticeLaw:
        """Masses on multiples of ``spacing``, a power of two, from chords between the nodes ``z``."""
        with precision():
            nodes, base, moved = self._nodes(spacing, z)
            losses = [exact(spacing) * int(k) for k in nodes]
            q = self._members[0]
            mixed = [(1 - q) * one + q * other for one, other in zip(base, moved, strict=True)]
            masses: dict[int, arb] = defaultdict(arb)
            infinite = arb(0)
            if self.side != "add":
                below = arb(0) if self.side == "replace" else 1 - mixed[0]
                infinite += _place(masses, nodes, losses, mixed, base, below)
            if self.side != "remove":
                # The negative losses of "replace" end at 0, so masses are measured from base[0] and mixed[0].
                start = (base[0], mixed[0]) if self.side == "replace" else (arb(1), arb(1))
                above, other = [start[0] - one for one in base[::-1]], [start[1] - one for one in mixed[::-1]]
                backwards = [-k for k in nodes[::-1]]
                infinite += _place(masses, backwards, [-one for one in losses[::-1]], above, other, base[-1])
            if self.side == "replace":
                masses[0] += (1 - q) * (1 - 2 * base[0])
            index = sorted(masses)
            values = [max(upper(masses[k]), 0.0) for k in index]
            return LatticeLaw(np.array(index, dtype=np.int64), np.array(values), max(upper(infinite), 0.0))

    def nodes(self, spacing: float, z: Array) -> list[int]:
        """Increasing losses, as multiples of the spacing, between which `on_lattice` puts chords."""
        with precision():
            found = self._nodes(spacing, z)[0]
        backwards = [-k for k in found[::-1]]
        return {"remove": found, "add": backwards, "replace": backwards[:-1] + found}[self.side]

    def _nodes(self, spacing: float, z: Array) -> tuple[list[int], list[arb], list[arb]]:
        """Lattice indices near L(z), and the masses of the base and of the moved Gaussian above each."""
        g, root, (q, parts) = self.gap, arb(2).sqrt(), self._members
        wanted = self.loss(z) / spacing
        found = sorted({int(k) for k in np.rint(wanted)} | {floor(wanted[0]), ceil(wanted[-1])})
        if self.side == "replace":
            found = [0, *(k for k in found if k > 0)]
        nodes: list[int] = []
        base: list[arb] = []
        moved: list[arb] = []
        for k in found:
            ratio = ((exact(spacing) * k).exp() - 1 + q) / q
            if ratio < 0 and not nodes:  # rounded below every loss
                nodes, base, moved = [k], [arb(1)], [arb(1)]
            elif ratio > 0:
                point = ratio.log() / g + g / 2
                if self.group > 1:
                    point = _inverse(parts, g, ratio, float(np.interp(k, wanted, z)))
                nodes.append(k)
                base.append((point / root).erfc() / 2)
                beyond = (part * ((point - j * g) / root).erfc() / 2 for j, part in enumerate(parts, start=1))
                moved.append(sum(beyond, arb(0)))
        return nodes, base, moved


def _inverse(parts: list[arb], g: arb, ratio: arb, about: float) -> arb:
    """The root z of r(z) = ``ratio`` for the density r of the mixture of N(j g, 1), j = 1, 2, ..., over N(0, 1).

    The slope of log r is at least g, which bounds the error of an approximate root.
    """
    z = arb(about)
    for _ in range(_NEWTON):
        terms = [part * (j * g * (z - j * g / 2)).exp() for j, part in enumerate(parts, start=1)]
        density = sum(terms, arb(0))
        excess = (density / ratio).log()
        known = arb(z, upper(abs(excess) / g))
        z = (z - excess * density / (g * sum((j * one for j, one in enumerate(terms, start=1)), arb(0)))).mid()
    return known


def _place(
    masses: dict[int, arb], nodes: list[int], losses: list[arb], above: list[arb], other: list[arb], below: arb
) -> arb:
    """Add the masses of all cells, and return the mass of infinite loss.

    ``above`` and ``other`` are the masses of numerator and denominator above each node; ``below`` is the mass
    of the numerator below all nodes.
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


@dataclass(frozen=True)
class TransformPlan:
    """Tilt, grid and the nodes of each release in z."""

    tilt: float
    spacing: float
    length: int
    nodes: tuple[Array, ...]


def plan_transform(found: Sequence[Release], delta: float, tilt: float | None) -> TransformPlan | None:
    """Choose a plan by the moments of a coarse sketch; None outside the range of floats."""
    if delta < _LEAST_DELTA or not all(_LEAST_GAP < float(one.gap) < _MOST_GAP for one in found):
        return None
    total = sum(one.count for one in found)
    ends = tuple(one.ends(1e-5 * delta / total) for one in found)
    sketches = [one.sketch(*end) for one, end in zip(found, ends, strict=True)]
    moments = np.zeros_like(TILTS)
    for one, (loss, mass, _) in zip(found, sketches, strict=True):
        moments += one.count * moments_of(loss, mass)
    if not np.isfinite(moments).all():  # all masses of a sketch underflow
        return None
    epsilons = (moments - log(delta) - np.log1p(TILTS)) / TILTS - np.log1p(1 / TILTS)
    best = int(np.argmin(epsilons))
    if tilt is None:
        tilt = float(TILTS[best])
    top = float(np.min((moments - log(1e-4 * delta)) / TILTS))
    mean = variance = 0.0
    tilted = []
    for one, (loss, mass, slope), end in zip(found, sketches, ends, strict=True):
        exponents = tilt * loss + np.log(np.maximum(mass, 1e-300))
        weighed = np.exp(exponents - np.max(exponents))
        weighed /= np.sum(weighed)
        middle = float(weighed @ loss)
        mean += one.count * middle
        variance += one.count * float(weighed @ (loss - middle) ** 2)
        folded = weighed[: len(slope)] + (weighed[len(slope) : -1] if len(loss) > len(slope) else 0.0)
        tilted.append((folded * len(slope) / (end[1] - end[0]), slope, loss[: len(slope)]))
    spread = sqrt(variance)
    scale = max(float(epsilons[best]), 0.05 * spread, 1e-9)
    fine = sqrt(12 * _FINE * scale / (tilt + 1))
    reach = top - mean + 9 * spread + 4 * scale / (1 + tilt)
    if not (0 < reach < inf and spread > 0):
        return None
    spacing = ldexp(1.0, frexp(min(fine / sqrt(total), spread / 4, _COARSE / max(tilt, 1.0)))[1] - 1)
    while reach / spacing > _LONGEST:
        spacing *= 2
    length = 1 << max(6, ceil(log2(reach / spacing)))
    pulls = [
        np.cbrt(one.count * density * slope**2) for one, (density, slope, _) in zip(found, tilted, strict=True)
    ]
    pace = (
        sqrt(sum(float(np.mean(pull)) * (end[1] - end[0]) for pull, end in zip(pulls, ends, strict=True)))
        / fine
    )
    alone = 2 * float(epsilons[best])  # a single loss may be as large as epsilon
    nodes = []
    for pull, (_, slope, loss), end in zip(pulls, tilted, ends, strict=True):
        rarer = np.log(max(np.max(pull), 1e-300)) - np.log(np.maximum(pull, 1e-300))
        rarer[(loss > 0) & (loss < alone)] = 0.0
        nodes.append(_placed(np.maximum(pace * pull, max(tilt, 1.0) * slope / (_COARSE * (1 + rarer))), *end))
    return TransformPlan(tilt, spacing, length, tuple(nodes))


def _placed(pace: Array, low: float, high: float) -> Array:
    """Nodes from ``low`` to ``high``, ``pace`` per unit of z in each cell, at most about `_MOST_NODES`."""
    edges = np.linspace(low, high, len(pace) + 1)
    counted = np.append(0.0, np.cumsum(np.maximum(pace, 1 / _WIDEST))) * (edges[1] - edges[0])
    return np.interp(np.linspace(0.0, counted[-1], min(ceil(counted[-1]), _MOST_NODES) + 1), counted, edges)


def moments_of(loss: Array, mass: Array) -> Array:
    """Log of the sum of mass e^(lam loss) for every lam in ``TILTS``; not rounded."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weighed = np.log(mass) + TILTS[:, None] * loss
        highest = np.max(weighed, axis=1)
        found: Array = highest + np.log(np.sum(np.exp(weighed - highest[:, None]), axis=1))
    return found


@dataclass(frozen=True)
class Composition:
    """Law of the sum of all losses, tilted by lam = ``tilt``, on a window of the lattice.

    Attributes:
        weights: c, shape (n,); the first weight belongs to the loss with the lattice index ``first``.
        log_scale: log of the product of Y^T, as a ball.
        error: upper bound on the l1 norm of the error of the weights.
        lost: upper bound on the mass above the window and at infinity.
    """

    spacing: float
    tilt: float
    first: int
    weights: Array
    log_scale: arb
    error: float
    lost: float

    @classmethod
    def of(cls, found: Sequence[Release], delta: float, tilt: float | None = None) -> "Composition | None":
        """Compose releases near ``delta``, at ``tilt`` or the best tilt; None outside the range of floats."""
        plan = plan_transform(found, delta, tilt)
        return None if plan is None else cls.on(plan, found, delta)

    @classmethod
    def on(cls, plan: TransformPlan, found: Sequence[Release], delta: float) -> "Composition":
        """Compose releases with a given tilt and grid."""
        parts = [one.on_lattice(plan.spacing, nodes) for one, nodes in zip(found, plan.nodes, strict=True)]
        counts = [one.count for one in found]
        stop, above = _stop(parts, counts, plan.spacing, delta)
        spectra, log_scale = [], arb(0)
        with precision():
            for part, count in zip(parts, counts, strict=True):
                folded, log_sum = _tilted(part, plan)
                spectra.append(folded)
                log_scale += count * log_sum
            lost = upper(_lost(parts, counts, stop, above, plan.spacing))
        weights, error = _convolved(spectra, counts)
        first = stop - plan.length
        return cls(
            plan.spacing, plan.tilt, first, np.roll(weights, -(first % plan.length)), log_scale, error, lost
        )

    @property
    def losses(self) -> Array:
        """Losses of the window, exact."""
        found: Array = self.spacing * (self.first + np.arange(len(self.weights), dtype=np.float64))
        return found

    def masses(self) -> Array:
        """Masses of the losses of the window for ``tilt`` 0, rounded up, with the error bound ``error``."""
        if self.tilt:
            raise ValueError(f"masses needs an untilted law, got tilt={self.tilt:g}")
        with precision():
            found: Array = self.weights * (upper(self.log_scale.exp()) * (1 + 4 * _UNIT))
        return found

    def delta(self, epsilon: float) -> float:
        """Upper bound on the profile at an epsilon that is at least 0 and at least the first loss."""
        start = max(0, int(np.floor(epsilon / self.spacing)) - self.first)
        beyond = self.losses[start:] - epsilon
        kept = beyond > 0
        x, c = beyond[kept], self.weights[start:][kept]
        if not len(x):  # errors of the weights are errors of losses in the window
            return self.lost
        total = float(np.sum(c * np.exp(-self.tilt * x) * -np.expm1(-x))) * (1 + 1e-9) + 1e-290
        with precision():
            scale = (self.log_scale - exact(self.tilt) * exact(epsilon)).exp()
            return upper(scale * (exact(total) + exact(self.error) / (1 + exact(self.tilt))) + exact(self.lost))

    def epsilon(self, delta: float) -> float:
        """Nearly the smallest epsilon at which the profile is at most ``delta``; inf if there is none."""
        losses = self.losses
        low, high = max(0.0, float(losses[0])), float(losses[-1])
        if high <= low or self.delta(high) > delta:
            return inf
        if (most := self.delta(low)) <= delta:
            return low
        # False position on the log, where the profile is nearly straight. The fixed end counts half, and every
        # third step is a bisection.
        left, right = _log_ratio(most, delta), _log_ratio(self.delta(high), delta)
        turn = 0
        while high - low > _CLOSE * high + 1e-12:
            turn += 1
            share = 0.5 if turn % 3 == 0 else min(max(left / (left - right), 0.01), 0.99)
            middle = low + share * (high - low)
            gap = _log_ratio(self.delta(middle), delta)
            if gap > 0:
                low, left, right = middle, gap, right / 2
                just_above = min(high, low * (1 + _CLOSE))
                if self.delta(just_above) <= delta:
                    return just_above
            else:
                high, right, left = middle, gap, left / 2
        return high


def _log_ratio(value: float, delta: float) -> float:
    return log(min(max(value, 1e-300), 1e300)) - log(delta)


def _tilted(part: LatticeLaw, plan: TransformPlan) -> tuple[Array, arb]:
    """Folded tilted masses with sum about 1, and the log of their scale."""
    weighed, shift, up = _weighed(part, plan.spacing, plan.tilt)
    tilted = weighed * up
    total = fsum(tilted)
    scaled: Array = (tilted / total) * (1 + 8 * _UNIT)
    return np.bincount(part.index % plan.length, scaled, minlength=plan.length).astype(np.float64), exact(
        total
    ).log() + exact(shift)


def _weighed(part: LatticeLaw, spacing: float, tilt: float) -> tuple[Array, float, float]:
    """Masses times e^(lam l - s), the shift s, and a factor that covers rounding errors."""
    exponents: Array = np.asarray(tilt * (spacing * part.index), dtype=np.float64)
    with np.errstate(divide="ignore"):
        shift = float(np.max(exponents + np.log(part.mass)))
    weighed: Array = part.mass * np.exp(np.minimum(exponents - shift, 700.0)) + 1e-300
    return weighed, shift, 1 + 4e-13 + 2 * _UNIT * float(np.max(np.abs(exponents)))


def _stop(
    parts: Sequence[LatticeLaw], counts: Sequence[int], spacing: float, delta: float
) -> tuple[int, float]:
    """The end of the window, and the tilt that bounds the mass beyond it; any values are valid."""
    moments = np.zeros_like(TILTS)
    for part, count in zip(parts, counts, strict=True):
        moments += count * moments_of(spacing * part.index.astype(np.float64), part.mass)
    ends = (moments - log(1e-4 * delta)) / (TILTS * spacing)
    above = int(np.argmin(ends))
    most = sum(count * int(part.index[-1]) for part, count in zip(parts, counts, strict=True))
    return min(ceil(ends[above]), most) + 1, float(TILTS[above])


def _lost(parts: Sequence[LatticeLaw], counts: Sequence[int], stop: int, above: float, spacing: float) -> arb:
    """Upper bound on the mass of sums at or above ``stop`` (Chernoff) and of infinite loss."""
    exponent, infinite, whole = arb(0), arb(0), arb(0)
    for part, count in zip(parts, counts, strict=True):
        weighed, shift, up = _weighed(part, spacing, above)
        exponent += count * (exact(fsum(weighed) * up).log() + exact(shift))
        infinite += count * exact(part.infinite)
        whole += count * exact((fsum(part.mass) + part.infinite) * (1 + 4 * _UNIT)).log()
    out_of_reach = sum(count * int(part.index[-1]) for part, count in zip(parts, counts, strict=True)) < stop
    chernoff = arb(0) if out_of_reach else (exponent - exact(above) * exact(spacing) * stop).exp()
    return chernoff + infinite * whole.exp()


def _convolved(folded: Sequence[Array], counts: Sequence[int]) -> tuple[Array, float]:
    """Convolution of all laws, each taken ``count`` times, and a bound on the l1 norm of its error."""
    length = len(folded[0])
    eta = 8 * _UNIT * log2(length) * max(fsum(one) for one in folded)
    spectrum: NDArray[np.complex128] = np.ones(length // 2 + 1, dtype=np.complex128)
    log_size, relative = np.zeros(length // 2 + 1), np.zeros(length // 2 + 1)
    for one, count in zip(folded, counts, strict=True):
        here = np.fft.rfft(one)
        size = np.abs(here) * (1 + 4 * _UNIT) + eta
        log_size += count * np.log(size)
        relative += count * (eta / size + 5 * _UNIT)
        spectrum *= _power(here, count)
    sizes = np.exp(log_size + 1e-9)
    error = sqrt(2 * float(np.sum((sizes * relative) ** 2))) + eta * sqrt(2 * float(np.sum(sizes**2)))
    return np.maximum(np.fft.irfft(spectrum, length), 0.0), error * (1 + 1e-6) + exp(-600)


def _power(base: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    result = np.ones_like(base)
    while count:
        if count & 1:
            result = result * base
        count >>= 1
        base = base * base if count else base
    return result
