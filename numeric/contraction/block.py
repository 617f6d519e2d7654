"""Blocks of steps: the profile of two laws after a block, bounded by the profile before it and its costs.

The costs are profiles of the block alone: the near cost N for runs that start at one point, and the far cost
F for runs that start at any two points of the domain. Let measures p and q have the profile before the block,
0 <= u <= p, 0 <= v <= q, A = p(all) - u(all) and B = q(all) - v(all). Then

    E_g(after) <= int u N(g dv/du) + A F(g B / A).

Here u = min(p, g1 q) and v = min(q, p / g0), with thresholds g0 <= g1 that are ratios of atoms, or below all
ratios (v = q) or above all (u = p, A = 0). The thresholds are searched for in floats, and the bound is
rounded up.

A table is the profile of atoms at ratios l_j, with q_j the change of slope at l_j and p_j = l_j q_j, and of
masses that P or Q has alone. The q_j are computed in floats; then, P is made heavier and Q lighter by the
smallest of `LIFTS` that passes a check against the table.

Source: docs/proofs/contraction.md (claims ours/contraction/block, ours/contraction/atoms).
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.table import DOWN, TINY, UP, Table, envelope, headed

Prices = tuple[Table | None, Table]
"""The near cost of a block (None if its steps are the same in both runs) and its far cost."""

LIFTS = (2.0**-36, 2.0**-30, 2.0**-24)
"""Relative changes of masses: one well above rounding errors, and larger ones for large values near 1."""


@dataclass(frozen=True, eq=False)
class DiscretePair:
    """Measures P and Q on finitely many ratios l = dP/dQ whose profile is at least a given table.

    For n nodes, arrays have shape (2n - 1,), with increasing ratios and 1 in the middle. ``only_p`` and
    ``only_q`` are masses where the other measure has none; ``lift`` is one of `LIFTS`.
    """

    ratio: Array
    p: Array
    q: Array
    only_p: float
    only_q: float
    lift: float

    @classmethod
    def of(cls, table: Table) -> "DiscretePair":
        """Atoms whose profile is at least the table; raises `ArithmeticError` if no lift suffices."""
        middle, right, left = envelope(table.g, table.ahead, table.back)
        one, g = len(table.g) - 1, table.g
        values = headed(middle, table.ahead)[right], headed(middle, table.back)[left]
        above, only_p = _masses(g, values[0], right)
        below, only_q = _masses(g, values[1], left)
        p, q = np.zeros(2 * one + 1), np.zeros(2 * one + 1)
        q[one + 1 :], p[one + 1 :] = above, g[1:] * above
        p[:one], q[:one] = below[::-1], (g[1:] * below)[::-1]
        p[one] = q[one] = max(1 - fsum(q.tolist()) - only_q, 1 - fsum(p.tolist()) - only_p, 0.0)
        for lift in LIFTS:
            if _admitted(g, values, (right, left), (p, q, only_p, only_q), lift):
                lifted, lowered = 1 + lift, 1 - lift
                return cls(ratios(g, lift), p * lifted, q * lowered, only_p * lifted, only_q * lowered, lift)
        raise ArithmeticError("a table of a profile has larger rounding errors than its lift covers")


def ratios(g: Array, lift: float = LIFTS[0]) -> Array:
    """The ratios of the atoms of any table with nodes g: 1/g and g, both lifted."""
    plain = np.concatenate([1 / g[:0:-1], g])
    found: Array = plain * ((1 + lift) / (1 - lift))
    return found


def _masses(g: Array, values: Array, kept: NDArray[np.intp]) -> tuple[Array, float]:
    """Changes of slope at the nodes from the second on, 0 at nodes not kept, and the last value."""
    at, falls, found = g[kept], np.zeros(len(kept)), np.zeros(len(g))
    falls[:-1] = (values[:-1] - values[1:]) / (at[1:] - at[:-1])
    found[kept[1:]] = np.maximum(falls[:-1] - falls[1:], 0.0)
    return found[1:], float(values[-1])


def _admitted(
    g: Array,
    values: tuple[Array, Array],
    kept: tuple[NDArray[np.intp], NDArray[np.intp]],
    atoms: tuple[Array, Array, float, float],
    lift: float,
) -> bool:
    """Check the profile of the atoms against a table, and the masses against 1.

    Right of 1, lifting multiplies the profile by at least 1 + lift. At g < 1, with t = 1/g, t times the
    profile of the atoms gains lift (t P + Q)(ratios above g), t (P(all) - 1) and 1 - Q(all).
    """
    p, q, only_p, only_q = atoms
    one, widths = len(g) - 1, g[1:] - g[:-1]
    ahead, back = _profile(q[one + 1 :], only_p, widths), _profile(p[:one][::-1], only_q, widths)
    right = np.all(ahead[kept[0]] * (1 + lift) * DOWN >= values[0] * UP)
    total_p, total_q = fsum([*p.tolist(), only_p]), fsum([*q.tolist(), only_q])
    above = (p[::-1].cumsum()[::-1][one::-1] + only_p) * g  # t P(ratios from 1/t on)
    spare = np.concatenate([above[:1], above[:-1] * (g[1:] / g[:-1])]) * lift * DOWN  # one fewer above 1/t
    found = back * DOWN + g * (total_p - 1) + (1 - total_q) + spare
    left = np.all(found[kept[1]] >= values[1] * UP)
    masses = total_p * (1 + lift) * DOWN >= 1 >= total_q * (1 - lift) * UP
    return bool(right and left and masses)


def _profile(masses: Array, rest: float, widths: Array) -> Array:
    beyond, found = masses[::-1].cumsum()[::-1], np.zeros(len(masses) + 1)
    found[:-1] = (beyond * widths)[::-1].cumsum()[::-1]
    return found + rest


Indices = NDArray[np.intp]
_SCANNED, _STEPS = 40, (0.01, 0.003, 0.0)
"""Number of threshold pairs scanned first; sizes of later moves as fractions of the number of atoms."""
_FIRST, _AGAIN = 6, 5
"""Number of first blocks with thresholds searched everywhere, and period of later full searches."""


@dataclass(eq=False)
class Block:
    """A block of steps with its near and far costs, on the nodes g of the tables before and after it.

    ``near`` is None if the steps are the same in both runs. ``thresholds`` holds the latest thresholds for
    each order of the laws.
    """

    g: Array
    near: Table | None
    far: Table
    thresholds: dict[bool, tuple[Indices, Indices]] = field(default_factory=dict, init=False, repr=False)
    _searches: Counter[bool] = field(default_factory=Counter, init=False, repr=False)
    _kernels: dict[tuple[float, bool], Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def prices(self) -> tuple[Table, Table]:
        """The near and far costs; raises `ValueError` without a near cost."""
        if self.near is None:
            raise ValueError("a block of steps that are the same in both runs has no near cost")
        return self.near, self.far

    @property
    def symmetric(self) -> bool:
        """Tell whether each cost serves both orders of the laws."""
        return (self.near is None or self.near.symmetric) and self.far.symmetric

    @np.errstate(over="ignore")  # a ratio beyond all floats has the value of the last node
    def after(self, before: Table) -> Table:
        """The table after the block, not necessarily convex."""
        ahead = self._one_order(before, ahead=True)
        if before.symmetric and self.symmetric:
            return Table(self.g, ahead, ahead)
        return Table(self.g, ahead, self._one_order(before, ahead=False))

    def _one_order(self, before: Table, *, ahead: bool) -> Array:
        table, far = (before, self.far) if ahead else (before.reversed, self.far.reversed)
        if self.near is None:
            return forget(self.g, table.ahead, far)
        atoms = DiscretePair.of(table)
        known = _Known(self.g, atoms, self._kernel(atoms.lift, ahead=ahead), far)
        times, start = self._searches[ahead], self.thresholds.get(ahead)
        wide = start is None or times < _FIRST or times % _AGAIN == 0
        lattice = (self._lattice_ahead if ahead else self._lattice_back) if wide else None
        low, high = known.search(lattice, start)
        self.thresholds[ahead] = low, high
        self._searches[ahead] += 1
        return np.minimum.accumulate(np.minimum(known.bound(low, high), 1.0))

    @cached_property
    def _lattice_ahead(self) -> tuple[Indices, Indices]:
        return _lattice(self.g, *self.prices)

    @cached_property
    def _lattice_back(self) -> tuple[Indices, Indices]:
        return (
            self._lattice_ahead if self.symmetric else _lattice(self.g, *(one.reversed for one in self.prices))
        )

    def _kernel(self, lift: float, *, ahead: bool) -> Array:
        """Near cost N(g_i / l_j) at node i and atom j, and a last column of N(0) = 1; shape (n, 2n).

        Ratios are capped at 1e300.
        """
        near, _ = self.prices
        key = lift, ahead or near.symmetric
        if key not in self._kernels:
            with np.errstate(over="ignore"):
                quotients = np.minimum(self.g[:, None] / ratios(self.g, lift)[None, :], 1e300)
            kernel = (near if key[1] else near.reversed)(quotients)
            self._kernels[key] = np.column_stack([kernel, np.ones(len(self.g))])
        return self._kernels[key]


def forget(g: Array, before: Array, far: Table) -> Array:
    """Values A F(1 + (g - 1) / A) after steps that are the same in both runs, with A = E_g before them.

    ``before`` may have any number of rows.
    """
    some = before > 0
    share = np.where(some, np.maximum(before, TINY), 1.0)
    after = share * far(1 + (g - 1) / (share * UP)) * UP + TINY
    return np.minimum.accumulate(np.where(some, np.minimum(after, before), 0.0), axis=-1)


class _Known:
    """Bounds for one order of the laws by thresholds: high = 2n - 1 means u = p, low = -1 means v = q."""

    def __init__(self, g: Array, atoms: DiscretePair, kernel: Array, far: Table) -> None:
        self.g, self.atoms, self.kernel_above, self.kernel, self.far = g, atoms, kernel, kernel[:, :-1], far
        m, ratio, inverse = len(atoms.ratio), atoms.ratio, 1 / atoms.ratio
        heavier, lighter = np.zeros(m), np.zeros(m)
        heavier[:-1] = atoms.q[:0:-1].cumsum()[::-1]  # Q above each atom
        atoms.p[:-1].cumsum(out=lighter[1:])  # P below each atom
        # One extra index at each end: above all atoms u = p and A = 0, below all atoms v = q and B = 0.
        self.left_p, self.left_q, self.q_above, self.p_below = np.zeros((4, m + 1))
        self.left_p[: m - 1] = (heavier[:-1] * (ratio[1:] - ratio[:-1]))[::-1].cumsum()[::-1]
        (lighter[1:] * (inverse[:-1] - inverse[1:])).cumsum(out=self.left_q[1:m])
        self.left_p[:m] += atoms.only_p
        self.left_q[:m] += atoms.only_q
        self.q_above[:m], self.q_above[m], self.p_below[:m] = heavier * ratio, atoms.only_p, lighter
        self.rows, sums = np.arange(len(g)), np.zeros_like(kernel)
        self.terms = self.kernel * atoms.p
        self.terms.cumsum(axis=1, out=sums[:, 1:])
        self.flat, self.sums = kernel.ravel(), sums.ravel()

    def _about(self, low: Indices, high: Indices, rows: Indices) -> Array:
        m, a, first = len(self.atoms.ratio), self.left_p.take(high), rows * self.kernel_above.shape[1]
        ratio = self.g[rows] * self.left_q.take(low) / np.maximum(a, TINY)
        found: Array = (
            self.q_above.take(high) * self.flat.take(first + high)
            + self.p_below.take(low) * self.flat.take(first + low)  # index -1 reads another row, times 0
            + a * np.interp(ratio, *self.far.sketch)
            + (self.sums.take(first + np.minimum(high + 1, m)) - self.sums.take(first + np.maximum(low, 0)))
        )
        return found

    def search(
        self, lattice: tuple[Indices, Indices] | None, start: tuple[Indices, Indices] | None
    ) -> tuple[Indices, Indices]:
        """Good thresholds for every node: the best of ``lattice`` and ``start``, then refined."""
        m, steps = len(self.atoms.ratio), list(_STEPS)
        if lattice is not None:
            lows, highs = lattice
            if start is not None:
                lows, highs = np.column_stack([lows, start[0]]), np.column_stack([highs, start[1]])
            best = np.argmin(self._about(lows, highs, self.rows[:, None]), axis=1)
            start = lows[self.rows, best], highs[self.rows, best]
        else:
            del steps[:-1]
        assert start is not None  # noqa: S101
        low, high = start
        value = self._about(low, high, self.rows)
        for share in steps:
            step = max(round(share * m), 1)
            for move_low, move_high in (
                (0, step),
                (0, -step),
                (step, 0),
                (-step, 0),
                (step, step),
                (-step, -step),
            ):
                other_high = np.minimum(np.maximum(high + move_high, 0), m)
                other_low = np.minimum(np.maximum(low + move_low, -1), np.minimum(other_high, m - 1))
                other = self._about(other_low, other_high, self.rows)
                better = other < value
                low, high = np.where(better, other_low, low), np.where(better, other_high, high)
                value = np.where(better, other, value)
        return low, high

    def bound(self, low: Indices, high: Indices) -> Array:
        """Bounds at the given thresholds, rounded up."""
        m = len(self.atoms.ratio)
        first = self.rows * m
        # Only every other sum between consecutive ends is needed; an extra term ends the last sum.
        ends = np.column_stack([first + np.maximum(low, 0), first + np.minimum(high + 1, m)]).ravel()
        total = np.add.reduceat(np.append(self.terms, 0.0), ends)[::2]
        total += (
            self.q_above[high] * self.kernel_above[self.rows, high]
            + self.p_below[low] * self.kernel[self.rows, low]
        )
        a, b = self.left_p[high], self.left_q[low]
        ratio = np.where(a > 0, np.minimum(self.g * b * DOWN / np.where(a > 0, a * UP, 1.0), 1e300), 0.0)
        found: Array = (total + a * self.far(ratio)) * UP + TINY
        return found


def _lattice(g: Array, near: Table, far: Table) -> tuple[Indices, Indices]:
    """Thresholds at which near and far costs have equal power (high) or level (low), shape (nodes, pairs)."""
    m, place = 2 * len(g) - 1, ratios(g)
    at, power, level = _tests(near)
    rho, far_power, far_level = _tests(far)
    chosen = np.unique(np.round(np.linspace(0, len(rho) - 1, _SCANNED)).astype(np.intp))
    above, below = np.interp(-far_power[chosen], -power, at), np.interp(-far_level[chosen], -level, at)
    high = np.searchsorted(place, g[:, None] / above[None, :])
    low = np.searchsorted(place, g[:, None] / np.maximum(below, above)[None, :], side="right") - 1
    composed, free = np.array([-1, m], dtype=np.intp), np.array([0, 0], dtype=np.intp)
    low = np.column_stack([low, *(np.full(len(g), pair[0]) for pair in (composed, free))])
    high = np.column_stack([high, *(np.full(len(g), pair[1]) for pair in (composed, free))])
    return np.clip(low, -1, np.minimum(high, m - 1)), high


def _tests(price: Table) -> tuple[Array, Array, Array]:
    """Ratios, and the approximate power and level of the best test at each ratio, both nonincreasing."""
    ahead, back = -np.diff(price.ahead) / np.diff(price.g), -np.diff(price.back) / np.diff(price.g)
    middle = np.sqrt(price.g[1:]) * np.sqrt(price.g[:-1])
    level = np.concatenate([(1 - price.back[1:] - price.g[1:] * back)[::-1], ahead])
    power = np.concatenate([(1 - back)[::-1], price.ahead[1:] + price.g[1:] * ahead])
    return (
        np.concatenate([1 / middle[::-1], middle]),
        np.minimum.accumulate(power),
        np.minimum.accumulate(level),
    )
