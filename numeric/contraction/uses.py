"""Contraction where a sample is used at listed steps: windows that end some steps after a use, clean windows between.

The steps after a use share the noise that hides it, as far as the window goes; how many of them there are is tried out.
After the last window the rest of the steps are clean, the same in both runs.

Source: docs/proofs/participation.md; claims ours/contraction/cyclic, ours/contraction/forgetting.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from lastiterate.numeric.contraction.chain import FINE, Goal, Prices, chained, resampled
from lastiterate.numeric.contraction.clean import Clean
from lastiterate.numeric.contraction.gaussian import gaussian
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.listed import cut, used_program
from lastiterate.numeric.shift_program.optimum import optimum

_PARTS = 2.4, 2.8
"""A window of w steps has a diameter over sqrt(w) of about so many times the noise."""
_WINDOWS = 100
"""Windows at the end of a run that are looked at."""
_LEAST = 30.0
"""Numbers so many times smaller than at the last use are resolved, too."""


@dataclass(frozen=True, eq=False)
class Used:
    """A sample and where it is used.

    Attributes:
        run: its domain is bounded, its batches have one size but for ``sizes``.
        assumption: of its losses.
        uses: rising steps, not empty.
        sizes: of the batches there; empty where all have that of the run.
    """

    run: NoisySGD
    assumption: Assumption
    uses: Sequence[int]
    sizes: tuple[int, ...] = ()
    _prices: dict[tuple[object, ...], Prices] = field(default_factory=dict, init=False, repr=False)

    def numbers(self, clean: Sequence[int], goals: Sequence[Goal]) -> list[float]:
        """The number after the last use and so many clean steps more, rounded up, for each of them.

        Args:
            clean: numbers of steps, rising, the last of them those of the run; only the last where steps differ.
            goals: for each of them, what is wanted.
        """
        most, found = clean[-1], [inf] * len(clean)
        steps = Clean(cut(self.run, 0, max(most, 1)), self.assumption, self.run.batch) if self.run.constant else None
        for lag in self._lags(most):
            for part in self._parts:
                end = self.uses[-1] + 1 + (most if steps is None else lag)
                windows = self.windows(end, lag, part)
                prices = [self.price(*window) for window in windows]
                here = next(i for i, steps in enumerate(clean) if steps >= lag)
                before = chained(prices, goals[here], from_equal=windows[0][0] <= self.uses[0])
                if steps is None or most == lag:
                    found[-1] = min(found[-1], goals[-1].value(before))
                    continue
                for i, table in _after(before, steps, [more - lag for more in clean], goals[here]):
                    found[i] = min(found[i], goals[i].value(table))
        return found

    def windows(self, end: int, lag: int, part: float) -> list[tuple[int, int]]:
        """The last windows before ``end``, (start, length) in the order of time."""
        found = list[tuple[int, int]]()
        while end > self.uses[0] and len(found) < _WINDOWS:
            wide = max(round((self.run.diameter / self.run.noise_std_at(end - 1) / part) ** 2), 1)
            latest = bisect_right(self.uses, end - (wide + 1) // 2 - lag - 1)  # uses that windows of half the width see
            first = bisect_left(self.uses, end - wide - lag - 1)
            if first < latest:
                start = self.uses[first] + lag + 1
            else:  # a long way to the window before: clean windows, all of about that width
                rest = end - (self.uses[latest - 1] + lag + 1 if latest else self.uses[0])
                start = end - round(rest / max(round(rest / wide), 1))
            start = max(start, self.uses[0])  # until then both runs are the same
            found.append((start, end - start))
            end = start
        return found[::-1]

    def price(self, start: int, length: int) -> Prices:
        """The near and the far price of a window."""
        low, high = bisect_left(self.uses, start), bisect_left(self.uses, start + length)
        inside = tuple(t - start for t in self.uses[low:high])
        sizes = self.sizes[low:high]
        key = (length, inside, sizes, None if self.run.constant else start)
        if key not in self._prices:
            part = cut(self.run, start, length)

            def price(apart: float) -> Table:
                with precision():
                    return gaussian(
                        upper(optimum(used_program(part, self.assumption, inside, apart, sizes)).cost.sqrt())
                    )

            self._prices[key] = price(0.0) if inside else None, price(part.diameter)
        return self._prices[key]

    @property
    def _parts(self) -> tuple[float, ...]:
        """The ways to cut windows: one will do where none holds more than a use."""
        wide = (self.run.diameter / self.run.noise_std_at(self.uses[-1])) ** 2 / _PARTS[0] ** 2
        return _PARTS if len(self.uses) > 1 and self.uses[-1] - self.uses[-2] <= wide else _PARTS[:1]

    def _lags(self, most: int) -> list[int]:
        """Steps after a use that share its noise: up to a few times as many as hide the domain."""
        if not self.run.constant:
            return sorted({0, min(most, 3)})
        wide = min(most, round(4 * (self.run.diameter / self.run.noise_std_at(0)) ** 2))
        return sorted({lag for k in range(wide.bit_length()) if (lag := 2**k - 1) < wide} | {wide})


def _after(before: Table, steps: Clean, clean: Sequence[int], goal: Goal) -> Iterator[tuple[int, Table]]:
    """The table after each number of clean steps that is not below 0, and its place."""
    number = goal.value(before)
    about = number if 0 < number < inf else goal.known
    nodes = np.unique(np.concatenate([goal.nodes(about, FINE), goal.nodes(about / _LEAST, FINE)]))
    course = steps.course(resampled(before, nodes))
    for i, more in enumerate(clean):
        if more == 0:
            yield i, before
        elif more > 0:
            last = course[min(more // steps.unit, len(course) - 1)]
            yield i, Table(nodes, last, last).hull()
