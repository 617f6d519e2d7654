"""One block of steps: what is known of two laws before it, and its prices, bound the two laws after it.

For measures p, q with the profile known before, any 0 <= u <= p and 0 <= v <= q, A = p(all) - u(all), B = q(all) -
v(all), a near price N (both runs at one point) and a far price F (at any two points of the domain),

    E_g(after) <= int u N(g dv/du) + A F(g B / A).

Here u = min(p, g1 q), v = min(q, p / g0) with thresholds g0 <= g1 among the ratios of the atoms, below all of them
(v = q), or above all (u = p, A = 0). Any are valid; they are searched for in floats, and the value is rounded up.

Source: docs/proofs/contraction.md (claim ours/contraction/block).
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.atoms import Atoms, ratios
from lastiterate.numeric.contraction.table import DOWN, TINY, UP, Table

Indices = NDArray[np.intp]
_SCANNED, _STEPS = 40, (0.01, 0.003, 0.0)
"""Pairs of thresholds looked at first, and moves tried then, as shares of the number of atoms; at least one place."""
_FIRST, _AGAIN = 6, 5
"""Blocks in a row for which thresholds are looked for everywhere, not only near those of the block before; and later
one in so many."""


@dataclass(eq=False)
class Block:
    """A block of steps and its two prices, on the nodes of the tables before and after it.

    Attributes:
        g: the nodes.
        near: N, at equal points; None where the steps are the same in both runs.
        far: F, at any two points of the domain.
        thresholds: the places of g0 and g1 at every node that were last found, by order (True: ahead).
    """

    g: Array
    near: Table | None
    far: Table
    thresholds: dict[bool, tuple[Indices, Indices]] = field(default_factory=dict, init=False, repr=False)
    _searches: Counter[bool] = field(default_factory=Counter, init=False, repr=False)
    _kernels: dict[tuple[float, bool], Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def prices(self) -> tuple[Table, Table]:
        """The near and the far price of a block in which the runs differ."""
        if self.near is None:
            raise ValueError("a block of steps that are the same in both runs has no near price")
        return self.near, self.far

    @property
    def symmetric(self) -> bool:
        """Tell whether both prices serve both orders."""
        return (self.near is None or self.near.symmetric) and self.far.symmetric

    @np.errstate(over="ignore")  # a ratio beyond all floats costs what the last node does
    def after(self, before: Table) -> Table:
        """The table after the block, not yet convex."""
        ahead = self._one_order(before, ahead=True)
        if before.symmetric and self.symmetric:
            return Table(self.g, ahead, ahead)
        return Table(self.g, ahead, self._one_order(before, ahead=False))

    def _one_order(self, before: Table, *, ahead: bool) -> Array:
        """E_g of one order at the nodes, rounded up."""
        table, far = (before, self.far) if ahead else (before.reversed, self.far.reversed)
        if self.near is None:
            return forgotten(self.g, table.ahead, far)
        atoms = Atoms.of(table)
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
        """Pairs of thresholds for every node, shape (n, k), where both prices have equal power and equal level.

        At the least of the bound, with rho = g B / A, N at g / g1 has the power of F at rho, N at g / g0 its level.
        """
        return _lattice(self.g, *self.prices)

    @cached_property
    def _lattice_back(self) -> tuple[Indices, Indices]:
        if self.symmetric:
            return self._lattice_ahead
        near, far = self.prices
        return _lattice(self.g, near.reversed, far.reversed)

    def _kernel(self, lift: float, *, ahead: bool) -> Array:
        """N(g_i / l_j), and N(0) = 1 above all atoms, shape (n, 2n); where floats do not reach at a lesser ratio."""
        near, key = self.prices[0], (lift, ahead or self.prices[0].symmetric)
        if key not in self._kernels:
            with np.errstate(over="ignore"):
                quotients = np.minimum(self.g[:, None] / ratios(self.g, lift)[None, :], 1e300)
            kernel = (near if key[1] else near.reversed)(quotients)
            self._kernels[key] = np.column_stack([kernel, np.ones(len(self.g))])
        return self._kernels[key]


def forgotten(g: Array, before: Array, far: Table) -> Array:
    """After steps that are the same in both runs: A F(1 + (g - 1) / A), A = E_g before; g0 = g1 = g."""
    some = before > 0
    share = np.where(some, np.maximum(before, TINY), 1.0)
    after = share * far(1 + (g - 1) / (share * UP)) * UP + TINY
    return np.minimum.accumulate(np.where(some, np.minimum(after, before), 0.0))


class _Known:
    """The value of one order for every pair of thresholds.

    A threshold is the index of an atom; high = 2n - 1 means u = p, low = -1 means v = q.
    """

    def __init__(self, g: Array, atoms: Atoms, kernel: Array, far: Table) -> None:
        self.g, self.atoms, self.kernel_above, self.kernel, self.far = g, atoms, kernel, kernel[:, :-1], far
        m, ratio, inverse = len(atoms.ratio), atoms.ratio, 1 / atoms.ratio
        heavier, lighter = np.zeros(m), np.zeros(m)
        heavier[:-1] = atoms.q[:0:-1].cumsum()[::-1]  # Q above each atom
        atoms.p[:-1].cumsum(out=lighter[1:])  # P below each atom
        # One more place at each end: above all atoms u = p, A = 0; below all v = q, B = 0.
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
            + self.p_below.take(low) * self.flat.take(first + low)  # at the place -1 of another row, times 0
            + a * np.interp(ratio, *self.far.sketch)
            + (self.sums.take(first + np.minimum(high + 1, m)) - self.sums.take(first + np.maximum(low, 0)))
        )
        return found

    def search(
        self, lattice: tuple[Indices, Indices] | None, start: tuple[Indices, Indices] | None
    ) -> tuple[Indices, Indices]:
        """Good thresholds for every node: the best of a lattice and those of another block, then closer.

        Args:
            lattice: pairs for every node, shape (n, k); None to look near to those of another block only.
            start: those of another block, if there is one.
        """
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
            for move_low, move_high in ((0, step), (0, -step), (step, 0), (-step, 0), (step, step), (-step, -step)):
                other_high = np.minimum(np.maximum(high + move_high, 0), m)
                other_low = np.minimum(np.maximum(low + move_low, -1), np.minimum(other_high, m - 1))
                other = self._about(other_low, other_high, self.rows)
                better = other < value
                low, high = np.where(better, other_low, low), np.where(better, other_high, high)
                value = np.where(better, other, value)
        return low, high

    def bound(self, low: Indices, high: Indices) -> Array:
        """The value at thresholds, rounded up."""
        m = len(self.atoms.ratio)
        first = self.rows * m
        # Of sums from each end to the next one every other is meant; there is one place more for the end of the last.
        ends = np.column_stack([first + np.maximum(low, 0), first + np.minimum(high + 1, m)]).ravel()
        total = np.add.reduceat(np.append(self.terms, 0.0), ends)[::2]
        total += (
            self.q_above[high] * self.kernel_above[self.rows, high] + self.p_below[low] * self.kernel[self.rows, low]
        )
        a, b = self.left_p[high], self.left_q[low]
        ratio = np.where(a > 0, np.minimum(self.g * b * DOWN / np.where(a > 0, a * UP, 1.0), 1e300), 0.0)
        found: Array = (total + a * self.far(ratio)) * UP + TINY
        return found


def _lattice(g: Array, near: Table, far: Table) -> tuple[Indices, Indices]:
    """Thresholds at which near and far prices have equal power (high) and equal level (low), shape (n, k)."""
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
    """Ratios, and about the power and the level of the best test at each, both falling."""
    ahead, back = -np.diff(price.ahead) / np.diff(price.g), -np.diff(price.back) / np.diff(price.g)
    middle = np.sqrt(price.g[1:]) * np.sqrt(price.g[:-1])
    level = np.concatenate([(1 - price.back[1:] - price.g[1:] * back)[::-1], ahead])
    power = np.concatenate([(1 - back)[::-1], price.ahead[1:] + price.g[1:] * ahead])
    return np.concatenate([1 / middle[::-1], middle]), np.minimum.accumulate(power), np.minimum.accumulate(level)
