"""Contraction if a sample is used at listed steps, and contraction by clean steps, equal in both runs.

For each ratio g >= 1, a block of clean steps with far cost F turns A = E_g into A F(1 + (g - 1) / A).
Also, E_g <= E_1, and m clean steps multiply E_1 by at most V_m(D), for the diameter D. Reflected noises give

    V_0 = 1,   V_(m+1)(z) = E[V_m(min(2 sigma |Y|, D)); not met],   Y > 0 of density phi(y - x) - phi(y + x),

where 2 x = e(z) / sigma, for the update expansion e and the noise sigma. Blocks are chosen by dynamic
programming. Windows end some steps after a use, and these steps share the noise that hides the use.

Source: docs/proofs/contraction.md, reflection.md, participation.md (claims ours/contraction/cyclic, forgetting).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np
from scipy.special import ndtr

from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import forget
from lastiterate.numeric.contraction.chain import FINE, Goal, Prices, chain_blocks, resample
from lastiterate.numeric.contraction.table import DOWN, TINY, UP, Table, gaussian_table
from lastiterate.numeric.losses.assumptions import Assumption, Sized
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import exact, geometric_sum, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import hide_initial, optimum
from lastiterate.numeric.shift_program.program import ShiftProgram, used_part, used_program

_TAIL = 1e-11
"""Relative error of `ndtr`."""
_ENOUGH, _PLACES, _WIDTHS = 12.0, 200, 9
"""Number of steps used per (diameter / noise)^2, maximum number of tables, and number of block lengths."""
_LEVELS, _ACROSS, _MOST = 1024, 16.0, 4000
"""Number of distances for V, ratio of diameter to noise of merged steps, and maximum number of merged steps."""
_LONGEST = 1024
"""Maximum number of steps in a searched path; a longer window has the cost of its last steps."""
_PARTS = 2.4, 2.8
"""Approximate ratios of diameter / sqrt(w) to the noise, for windows of w steps."""
_WINDOWS = 100
"""Number of last windows used in a run."""
_LEAST = 30.0
"""Ratio of the bound at the last use to the smallest bound that the nodes are made to resolve."""


@dataclass(frozen=True, eq=False)
class Clean:
    """Equal steps of ``run`` without the sample, with batches of at most ``largest`` samples."""

    run: NoisySGD
    assumption: Assumption
    largest: int
    start: float | None = None
    """Largest distance at the start, if there is no domain."""

    def after(self, before: Table) -> Table:
        """The table after the clean steps, for both orders."""
        last = self.course(before)[-1]
        return Table(before.g, last, last).hull()

    @np.errstate(over="ignore")  # a ratio beyond all floats has the value of the last node
    def course(self, before: Table) -> list[Array]:
        """Values of the worse order at the nodes, after every multiple of `unit` steps."""
        g, first = before.g, before.worse
        known = [first]
        for place in range(1, self._places + 1):
            found = np.minimum(known[-1], np.minimum(first[0] * self.variation[place] * UP, 1.0))
            ended = [(known[place - width], far) for width, far in self._blocks.items() if width <= place]
            best = np.argmin([_about(g, *one) for one in ended], axis=0)
            for k in np.unique(best):  # the choice is made in floats, the value is rounded up
                here = best == k
                found[here] = np.minimum(found[here], forget(g[here], ended[k][0][here], ended[k][1]))
            known.append(np.minimum.accumulate(found))
        return known

    def cost(self, steps: int) -> float:
        """mu^2 by shifts alone, rounded up, after ``steps`` steps from the diameter or from `start`."""
        far, inside = (self.run.diameter, True) if self.start is None else (self.start, False)
        with precision():
            affine = self._step.affine_on(far)
            if affine is not None and (inside or affine[0] <= 1):  # e(z) = c z: shifts in a geometric series
                width = geometric_sum(1 / affine[0] ** 2, steps) * exact(self.run.noise_std_at(0)) ** 2
                return upper(exact(far) ** 2 / width)
            length = min(steps, _LONGEST)  # the last steps, or the first: after them equal runs stay equal
            program = ShiftProgram(self._fixed(length), self._sized, length, initial=far)
            return upper(hide_initial(program).cost)

    @cached_property
    def variation(self) -> Array:
        """V_m(D) at every multiple of `unit` steps, rounded up; 1 if not computed."""
        noise, places = exact(self.run.noise_std_at(0)), np.arange(self._places + 1) * self.unit
        step = self._step
        affine = step.affine_on(self.run.diameter)
        together = max(int((self._across / _ACROSS) ** 2), 1) if affine is not None and affine[0] <= 1 else 1
        steps = int(places[-1]) // together
        if steps > _MOST:
            return np.ones(len(places))
        with precision():
            scale = 1 / (noise * exact(together).sqrt())
            levels = [exact(self.run.diameter) * j / _LEVELS for j in range(1, _LEVELS + 1)]
            apart = np.array([upper((step.ball(z) if together == 1 else z) * scale / 2) for z in levels])
            edges = np.array([0.0, *(upper(z * scale / 2) * DOWN for z in levels[:-1])])
        return survival(apart, edges, steps)[places // together]

    @cached_property
    def _step(self) -> UpdateExpansion:
        with precision():
            return self._sized.expansion(self._fixed(1), 0, differs=False)

    @property
    def _across(self) -> float:
        return self.run.diameter / self.run.noise_std_at(0)

    @cached_property
    def unit(self) -> int:
        """Number of steps between tabulated times."""
        return -(-self._last // _PLACES)

    @property
    def _last(self) -> int:
        return int(min(self.run.steps, _ENOUGH * self._across**2 + _PLACES))

    @property
    def _places(self) -> int:
        return self._last // self.unit

    @cached_property
    def _blocks(self) -> dict[int, Table]:
        most = min(max(self._across**2 / self.unit, 1.0), self._places)
        widths = sorted({round(w) for w in np.geomspace(1, most, _WIDTHS)})
        return {w: gaussian_table(DominatingPair(self.cost(w * self.unit)).mu) for w in widths}

    @property
    def _sized(self) -> Assumption:
        return self.assumption if self.run.scheme.fixed_size else Sized(self.assumption, 0, self.largest)

    def _fixed(self, steps: int) -> NoisySGD:
        """A cyclic run of ``steps`` steps, none of which uses the sample."""
        size = (steps + 1) * self.run.batch
        return replace(self.run, steps=steps, sampling="cyclic", adjacency="replace", dataset_size=size,
                       batch_size=self.run.batch)  # fmt: skip


def _about(g: Array, before: Array, far: Table) -> Array:
    share = np.maximum(before, TINY)
    found: Array = share * np.interp(1 + (g - 1) / share, far.g, far.ahead)
    return found


def survival(apart: Array, edges: Array, steps: int) -> Array:
    """V_0, ..., V_steps at the largest of the levels, rounded up.

    ``apart`` is half of each distance after the update, divided by the noise and rounded up. ``edges`` are 0
    and half of each level but the last, divided by the noise and rounded down.
    """
    beyond = np.maximum(
        ndtr(apart[:, None] - edges) * (1 + _TAIL) - ndtr(-apart[:, None] - edges) * (1 - _TAIL), 0.0
    )
    value, found = np.ones(len(apart)), [1.0]
    for _ in range(steps):  # V increases: weigh its increments by the probabilities beyond each edge
        value = np.minimum(beyond @ np.diff(value, prepend=0.0) * UP + TINY, 1.0)
        value = np.maximum.accumulate(value)
        found.append(float(value[-1]))
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Used:
    """A sample of a run on a bounded domain, used at increasing steps in batches of equal size."""

    run: NoisySGD
    assumption: Assumption
    uses: Sequence[int]
    _prices: dict[tuple[object, ...], Prices] = field(default_factory=dict, init=False, repr=False)

    def numbers(self, clean: Sequence[int], goals: Sequence[Goal]) -> list[float]:
        """Epsilon of each goal, rounded up, if the last use is followed by each number of ``clean`` steps.

        The numbers increase up to that of the run, the only number allowed for a schedule.
        """
        most, found = clean[-1], [inf] * len(clean)
        steps = (
            Clean(used_part(self.run, 0, max(most, 1)), self.assumption, self.run.batch)
            if self.run.constant
            else None
        )
        for lag in self._lags(most):
            for part in self._parts:
                end = self.uses[-1] + 1 + (most if steps is None else lag)
                windows = self.windows(end, lag, part)
                prices = [self.price(*window) for window in windows]
                here = next(i for i, steps in enumerate(clean) if steps >= lag)
                before = chain_blocks(prices, goals[here], from_equal=windows[0][0] <= self.uses[0])
                if steps is None or most == lag:
                    found[-1] = min(found[-1], goals[-1].value(before))
                    continue
                for i, table in _after(before, steps, [more - lag for more in clean], goals[here]):
                    found[i] = min(found[i], goals[i].value(table))
        return found

    def windows(self, end: int, lag: int, part: float) -> list[tuple[int, int]]:
        """The last windows before ``end``, (start, length) in time order."""
        found = list[tuple[int, int]]()
        while end > self.uses[0] and len(found) < _WINDOWS:
            wide = max(round((self.run.diameter / self.run.noise_std_at(end - 1) / part) ** 2), 1)
            latest = bisect_right(self.uses, end - (wide + 1) // 2 - lag - 1)  # uses that allow half the width
            first = bisect_left(self.uses, end - wide - lag - 1)
            if first < latest:
                start = self.uses[first] + lag + 1
            else:  # the previous use is far away: clean windows of about that width
                rest = end - (self.uses[latest - 1] + lag + 1 if latest else self.uses[0])
                start = end - round(rest / max(round(rest / wide), 1))
            start = max(start, self.uses[0])  # until then both runs are the same
            found.append((start, end - start))
            end = start
        return found[::-1]

    def price(self, start: int, length: int) -> Prices:
        """The near and far costs of a window."""
        low, high = bisect_left(self.uses, start), bisect_left(self.uses, start + length)
        inside = tuple(t - start for t in self.uses[low:high])
        key = (length, inside, None if self.run.constant else start)
        if key not in self._prices:
            part = used_part(self.run, start, length)

            def price(apart: float) -> Table:
                with precision():
                    found = optimum(used_program(part, self.assumption, inside, apart))
                    return gaussian_table(upper(found.cost.sqrt()))

            self._prices[key] = price(0.0) if inside else None, price(part.diameter)
        return self._prices[key]

    @property
    def _parts(self) -> tuple[float, ...]:
        wide = (self.run.diameter / self.run.noise_std_at(self.uses[-1])) ** 2 / _PARTS[0] ** 2
        return _PARTS if len(self.uses) > 1 and self.uses[-1] - self.uses[-2] <= wide else _PARTS[:1]

    def _lags(self, most: int) -> list[int]:
        """Numbers of steps after a use that share the noise that hides the use."""
        if not self.run.constant:
            return sorted({0, min(most, 3)})
        wide = min(most, round(4 * (self.run.diameter / self.run.noise_std_at(0)) ** 2))
        return sorted({lag for k in range(wide.bit_length()) if (lag := 2**k - 1) < wide} | {wide})


def _after(before: Table, steps: Clean, clean: Sequence[int], goal: Goal) -> Iterator[tuple[int, Table]]:
    number = goal.value(before)
    about = number if 0 < number < inf else goal.known
    nodes = np.unique(np.concatenate([goal.nodes(about, FINE), goal.nodes(about / _LEAST, FINE)]))
    course = steps.course(resample(before, nodes))
    for i, more in enumerate(clean):
        if more == 0:
            yield i, before
        elif more > 0:
            last = course[min(more // steps.unit, len(course) - 1)]
            yield i, Table(nodes, last, last).hull()
