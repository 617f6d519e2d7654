"""Chains of blocks: the table at the end of a run, from the last blocks alone or from the beginning.

From `equal`, both runs start at one point. From `unknown`, the table after some blocks bounds every run that
ends with these blocks, and every shorter run if all blocks are equal.

Source: docs/proofs/contraction.md (claims ours/contraction/chain and above).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf, isfinite, isinf, log2, sqrt
from typing import Self

import numpy as np

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import Block
from lastiterate.numeric.contraction.block import Prices as Prices
from lastiterate.numeric.contraction.hidden import HiddenBlocks, HiddenEpoch
from lastiterate.numeric.contraction.table import (
    Table,
    chord,
    equal,
    gaussian_table,
    sketch_rdp,
    spread_nodes,
    table_rdp,
    unknown,
)
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.schemes import GROUPS

Stretch = Prices | HiddenEpoch


COARSE, FINE = 80, 240
_FROM_EQUAL, _FROM_EQUAL_ALONE = 100, 600
"""Maximum number of blocks for which a run is followed from its beginning, with and without `Repeated.always`."""
_MOST = ((600, 1e-4, 5000), (1000, 3e-5, 3000))
"""On coarse and on fine nodes: limit on periods, relative change of a settled bound, and limit on blocks."""
_OUTGROWN, _GRIDS = 3.0, 12
"""Factor by which a bound must fall before its nodes change, and maximum number of grids."""
_PATIENCE = 40
"""Number of periods after which an infinite bound is abandoned."""
_FINE_BLOCKS, _LONGER, _STILL = 20, 4, 1e-4
"""Number of last blocks on fine nodes, factor by which it grows, and relative change that requires growth."""
_WIDEST, _FURTHEST = 60.0, 200.0
"""Minimum and maximum logarithm of the last node."""
_NEARLY, _UNKNOWN = 1.05, 8.0


@dataclass(frozen=True)
class Goal:
    """The epsilon to be bounded, at a delta or an order; ``known`` is a bound that needs no table."""

    order: float | None
    delta: float | None
    known: float
    known_rdp: Callable[[float], float]

    def value(self, table: Table) -> float:
        """Epsilon by a table, rounded up."""
        if self.delta is not None:
            return table.epsilon(self.delta)
        return table_rdp(table, float(self.order or 2.0), self.known_rdp)

    def about(self, table: Table) -> float:
        """Approximate epsilon by a table."""
        if self.delta is None:
            return sketch_rdp(table, float(self.order or 2.0), self.known_rdp)
        worse = table.worse
        return float(np.log(np.interp(-self.delta, -worse, table.g))) if worse[-1] <= self.delta else inf

    def nodes(self, number: float, count: int) -> Array:
        """Nodes that resolve a profile whose epsilon is about ``number``."""
        if self.delta is not None:
            scale, end = 0.6 * number, max(_WIDEST, 3 * number)
        else:
            order = float(self.order or 2.0)
            mu = sqrt(2 * number / order)
            scale, end = 2 * mu + 0.5 * order * mu * mu, max(_WIDEST, 3 * (order * mu * mu + 8 * mu))
        found: Array = np.exp(spread_nodes(min(max(scale, 1e-6), 100.0) / count, min(end, _FURTHEST), count))
        return found


@dataclass(frozen=True, eq=False)
class Repeated:
    """Repetitions of a pattern, then a rest; ``always`` is mu of a Gaussian bound for all ``periods``."""

    pattern: Sequence[Stretch]
    periods: int
    goal: Goal
    rest: Sequence[Stretch] = ()
    always: float | None = None

    @cached_property
    def _follow(self) -> bool:
        return self.periods * self._size <= (_FROM_EQUAL_ALONE if self.always is None else _FROM_EQUAL)

    @cached_property
    def _size(self) -> int:
        return sum(map(_blocks, self.pattern))

    @cached_property
    def _sketch(self) -> tuple[float, Table, int]:
        """Epsilon on coarse nodes, its table, and the number of repetitions used (0 if followed from the beginning)."""
        if self._follow:
            found, course = self._course
            return found, course.tables[-1], 0
        number = _size_of(self.goal.known)
        grid = self.goal.nodes(number, COARSE)
        begun = unknown(grid) if self.always is None else resample(gaussian_table(self.always), grid)
        return self._descended(begun, 0, number, COARSE)

    @cached_property
    def _course(self) -> tuple[float, "_Chain"]:
        number = _size_of(self.goal.known)
        for _ in range(_GRIDS):  # may stop early, as only the nodes depend on it
            course = _Chain(self.pattern, equal(self.goal.nodes(number, COARSE)))
            self._settling(course, self.periods, _STILL)
            found = self.goal.about(course.tables[-1])
            if number in _sizes_of(found):
                break
            number = _size_of(found)
        return found, course

    @property
    def about(self) -> float:
        """Approximate epsilon on coarse nodes."""
        return self._sketch[0]

    def settled(self) -> tuple[Table, int]:
        """Final table, and the number of last repetitions that it uses."""
        found, table, done = self._sketch
        if isinf(found):  # out of reach
            return unknown(table.g), done
        if self._follow:
            table, done = self._followed(self.goal.nodes(_size_of(found), FINE)), self.periods
        else:
            _, table, done = self._descended(table, done, _size_of(found), FINE)
            done = min(done, self.periods)  # more repetitions also bound a shorter run
        return _Chain(self.rest, table).after(1).hull(), done

    def _descended(self, table: Table, done: int, number: float, count: int) -> tuple[float, Table, int]:
        """`_sketch` on ``count`` nodes, starting from a table of upper bounds."""
        most, close, blocks = _MOST[count == FINE]
        left = min(most, max(blocks // self._size, _PATIENCE))
        for _ in range(_GRIDS):
            table = resample(table, self.goal.nodes(number, count))
            course = _Chain(self.pattern, table)
            more = self._settling(course, left, close, number / _OUTGROWN)
            table = course.tables[-1]
            done, left, found = done + more, left - more, self.goal.about(table)
            if left <= 0 or number in _sizes_of(found):
                break
            number = _size_of(found)
        return found, table, done

    def _settling(self, course: "_Chain", most: int, close: float, least: float = 0.0) -> int:
        """Append at most ``most`` periods, fewer if epsilon settles, and return their number.

        An epsilon of 0 counts as settled only in a chain from `unknown`, whose tables bound runs of any
        length.
        """
        last = inf
        for done in range(most):
            now = self.goal.about(course.after(done + 1))
            settled = isfinite(now) and abs(now - last) <= close * now and (now > 0 or not self._follow)
            if settled or 0 < now < least or (isinf(now) and done >= _PATIENCE):
                return done + 1
            last = now
        return most

    def _followed(self, fine: Array) -> Table:
        last, (_, coarse) = ceil(_FINE_BLOCKS / self._size), self._course
        while True:
            first = max(self.periods - last, 0)
            chain = _Chain(self.pattern, resample(coarse.after(first), fine))
            before = self.goal.about(chain.after(self.periods - first - 1))
            table = chain.after(self.periods - first)
            if first == 0 or not before - self.goal.about(table) > _STILL * before:
                return table
            last *= _LONGER


def chain_blocks(blocks: Sequence[Stretch], goal: Goal, *, from_equal: bool) -> Table:
    """Table after the given blocks, from equal points or from any two laws."""
    start = equal if from_equal else unknown
    number = _size_of(goal.known)
    for _ in range(_GRIDS):
        grid = goal.nodes(number, COARSE)
        found = goal.about(_Chain(blocks, start(grid)).after(1))
        if number == _size_of(found):
            break
        number = _size_of(found)
    first = max(len(blocks) - _FINE_BLOCKS, 0)
    fine = goal.nodes(number, FINE)
    table = _Chain(blocks[:first], start(grid)).after(1)
    return _Chain(blocks[first:], resample(table, fine)).after(1).hull()


def resample(table: Table, grid: Array) -> Table:
    """The table interpolated on other nodes, which is still a bound."""
    ahead = chord(table.g, table.ahead, grid)
    return Table(grid, ahead, ahead if table.symmetric else chord(table.g, table.back, grid))


class _Chain:
    """Tables after every period of a pattern; blocks with the same costs share their kernels."""

    def __init__(self, pattern: Sequence[Stretch], start: Table) -> None:
        self.pattern, self.tables, self.grid = pattern, [start], start.g
        self._known, self._epochs = dict[tuple[int, int], Block](), dict[int, HiddenBlocks]()

    def after(self, periods: int) -> Table:
        while len(self.tables) <= periods:
            table = self.tables[-1]
            for stretch in self.pattern:
                table = self._after(table, stretch)
            self.tables.append(table)
        return self.tables[periods]

    def _after(self, table: Table, stretch: Stretch) -> Table:
        if isinstance(stretch, HiddenEpoch):
            if id(stretch) not in self._epochs:
                self._epochs[id(stretch)] = HiddenBlocks(self.grid, stretch)
            return self._epochs[id(stretch)].after(table)
        near, far = stretch
        return self._known.setdefault((id(near), id(far)), Block(self.grid, near, far)).after(table)


def _size_of(number: float) -> float:
    return 2.0 ** round(log2(number)) if isfinite(number) and number > 0 else _UNKNOWN


def _sizes_of(number: float) -> tuple[float, float]:
    return _size_of(number), _size_of(number * _NEARLY)


def _blocks(stretch: Stretch) -> int:
    return stretch.size if isinstance(stretch, HiddenEpoch) else 1


@dataclass(frozen=True, eq=False)
class TableCandidate(Candidate):
    """A bound by contraction; ``table`` bounds the profile in both orders, and ``other`` is the best other bound."""

    table: Table = field(kw_only=True, repr=False)
    other: Candidate = field(kw_only=True, repr=False)

    @classmethod
    def of(cls, run: NoisySGD, table: Table, steps: int, other: Candidate) -> Self:
        """Candidate from a table that uses the last ``steps`` steps of a run."""
        window, kept = (max(run.steps - steps, 0), run.steps), ("pair", "optimum", "position", "share")
        rest = {name: getattr(other, name) for name in kept}
        claim = GROUPS if run.scheme.claim == GROUPS else f"ours/contraction/{run.scheme.name}"
        return cls("contraction", claim, window, **rest, table=table, other=other)

    def rdp(self, order: float) -> float:
        return min(table_rdp(self.table, order, self.other.rdp), self.other.rdp(order))

    def dp(self, delta: float) -> float:
        return min(self.table.epsilon(delta), self.other.dp(delta))

    def delta(self, epsilon: float) -> float:
        return min(self.table.delta(epsilon), self.other.delta(epsilon))
