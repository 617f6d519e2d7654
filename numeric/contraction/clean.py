"""Clean steps, the same in both runs: what they leave of the difference of two laws on a bounded domain.

Two ways, for one order of the laws and for each ratio g >= 1 by itself. A block of steps with the far price F takes A =
E_g before to A F(1 + (g - 1) / A). And E_g <= E_1 for g >= 1, which m steps multiply by V_m(D) at most: at distance z
before a step, let the noises of two copies be reflections of each other, as long as the copies have not met. Then

    V_0 = 1,   V_(m+1)(z) = E[V_m(min(2 sigma |Y|, D)); not met],   Y > 0 of density phi(y - x) - phi(y + x),

2 x = e(z) / sigma. Blocks are chosen by dynamic programming: what they give rises with what is known before them.

Source: docs/proofs/contraction.md, docs/proofs/reflection.md (claim ours/contraction/forgetting).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import forgotten
from lastiterate.numeric.contraction.far import hidden
from lastiterate.numeric.contraction.gaussian import gaussian
from lastiterate.numeric.contraction.table import DOWN, TINY, UP, Table
from lastiterate.numeric.losses.assumptions import Assumption, Sized
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.lower.grid import TAIL
from lastiterate.numeric.rounding import exact, geometric_sum, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_ENOUGH, _PLACES, _WIDTHS = 12.0, 200, 9
"""Steps that are looked at, in units of (D / sigma)^2, at how many times at most, and how many lengths of a block."""
_LEVELS, _ACROSS, _MOST = 1024, 16.0, 4000
"""Distances at which V is known; D over the noise of what is taken as one step; most of these."""
_LONGEST = 1024
"""Steps of a path of shifts that is searched for; a longer window is priced by its end."""


@dataclass(frozen=True, eq=False)
class Clean:
    """Clean steps.

    Attributes:
        run: the run on the data without the sample; its number of steps is that of the clean ones, and they are alike.
        assumption: of its losses.
        largest: what the size of a batch does not exceed, where sizes are random.
    """

    run: NoisySGD
    assumption: Assumption
    largest: int

    def after(self, before: Table) -> Table:
        """The table after the clean steps.

        Args:
            before: of the laws before them, on the domain, in both orders.
        """
        last = self.course(before)[-1]
        return Table(before.g, last, last).hull()

    @np.errstate(over="ignore")  # a ratio beyond all floats costs what the last node does
    def course(self, before: Table) -> list[Array]:
        """The worse order at the nodes after every multiple of `unit`, up to about the last step.

        Args:
            before: as of `after`.
        """
        g, first = before.g, before.worse
        known = [first]
        for place in range(1, self._places + 1):
            found = np.minimum(known[-1], np.minimum(first[0] * self.variation[place] * UP, 1.0))
            ended = [(known[place - width], far) for width, far in self._blocks.items() if width <= place]
            best = np.argmin([_about(g, *one) for one in ended], axis=0)
            for k in np.unique(best):  # the choice is made in floats, the value is rounded up
                here = best == k
                found[here] = np.minimum(found[here], forgotten(g[here], ended[k][0][here], ended[k][1]))
            known.append(np.minimum.accumulate(found))
        return known

    def mu(self, steps: int) -> float:
        """A mu by shifts alone: the last iterates are mu-GDP after so many steps from the diameter; rounded up."""
        with precision():
            affine = self._step.affine_on(self.run.diameter)
            if affine is not None:  # e(z) = c z: shifts that are a geometric series
                width = geometric_sum(1 / affine[0] ** 2, steps).sqrt() * exact(self.run.noise_std_at(0))
                return upper(exact(self.run.diameter) / width)
            length = min(steps, _LONGEST)
            program = ShiftProgram(self._fixed(length), self._sized, length, initial=self.run.diameter)
            return upper(hidden(program).cost.sqrt())

    @cached_property
    def variation(self) -> Array:
        """V_m(D) at the times that are looked at, rounded up; 1 where it is not computed."""
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
    def _step(self) -> Expansion:
        with precision():
            return self._sized.expansion(self._fixed(1), 0, differs=False)

    @property
    def _across(self) -> float:
        return self.run.diameter / self.run.noise_std_at(0)

    @cached_property
    def unit(self) -> int:
        """Steps between the times that are looked at."""
        return -(-self._last // _PLACES)

    @property
    def _last(self) -> int:
        return int(min(self.run.steps, _ENOUGH * self._across**2 + _PLACES))

    @property
    def _places(self) -> int:
        return self._last // self.unit

    @cached_property
    def _blocks(self) -> dict[int, Table]:
        """Far prices by length, in units."""
        most = min(max(self._across**2 / self.unit, 1.0), self._places)
        widths = sorted({round(w) for w in np.geomspace(1, most, _WIDTHS)})
        return {w: gaussian(self.mu(w * self.unit)) for w in widths}

    @property
    def _sized(self) -> Assumption:
        """The assumption, of every size that a batch may have."""
        return self.assumption if self.run.scheme.fixed_size else Sized(self.assumption, 0, self.largest)

    def _fixed(self, steps: int) -> NoisySGD:
        """The steps as those of a cyclic run that meets its sample only after them."""
        size = (steps + 1) * self.run.batch
        return replace(self.run, steps=steps, sampling="cyclic", adjacency="replace", dataset_size=size,
                       batch_size=self.run.batch)  # fmt: skip


def _about(g: Array, before: Array, far: Table) -> Array:
    """About what `forgotten` gives."""
    share = np.maximum(before, TINY)
    found: Array = share * np.interp(1 + (g - 1) / share, far.g, far.ahead)
    return found


def survival(apart: Array, edges: Array, steps: int) -> Array:
    """V_0, ..., V_steps at the greatest of the levels, rounded up.

    Args:
        apart: half of the distance that each level has after the update, over the noise; rounded up.
        edges: half of each level over the noise, from 0 on without the last; rounded down.
        steps: number of steps.
    """
    beyond = np.maximum(ndtr(apart[:, None] - edges) * (1 + TAIL) - ndtr(-apart[:, None] - edges) * (1 - TAIL), 0.0)
    value, found = np.ones(len(apart)), [1.0]
    for _ in range(steps):  # V rises with the distance: its increments and the chances to be beyond an edge
        value = np.minimum(beyond @ np.diff(value, prepend=0.0) * UP + TINY, 1.0)
        value = np.maximum.accumulate(value)
        found.append(float(value[-1]))
    return np.array(found)
