"""Poisson batches and strong convexity: blocks of steps contract, although a single batch may be empty.

Over a block of w steps distances contract at least by (1 - eta m S / (b w))^w, S the sum of the sizes, which is
Binomial(w (n - 1), q) and hardly ever much below its mean. So outside an event of small chance each block contracts by
a known factor C, all of it at its last step, which only raises the distances. At the beginning of a block the runs are
within min(D, w s / (1 - C)); k blocks after a start from D, within w s / (1 - C) + C^k D.

Source: docs/proofs/poisson.md (claims ours/poisson/blocks, ours/poisson/mixture).
"""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite, log

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import StronglyConvex
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.subsampling.noise_split import Shares

_LEAST = 1e-30
"""Contractions are rounded up to this, so that several blocks in a row stay within the range of floats."""
_CLOSE = 1e12
"""What is left of the diameter is so many times less than what a block adds."""


@dataclass(frozen=True)
class Block:
    """Steps that together contract.

    Attributes:
        steps: w.
        contraction: C, rounded up.
        reach: distance that bounds the runs where a block begins, rounded up; a length.
        before: number of blocks before a window on which that rests; 0 where the domain alone bounds the runs.
        chance: of a block that is not like this, rounded up.
        sizes: the least sum of the sizes of a block, and the largest batch in it, without the sample that differs.
    """

    steps: int
    contraction: float
    reach: float
    before: int
    chance: float
    sizes: tuple[int, int]

    def covered(self, length: int, run: int) -> int:
        """Blocks that a window of ``length`` steps at the end of a run of so many steps rests on."""
        return min(self.before + length // self.steps, -(-run // self.steps))


def block(run: NoisySGD, assumption: StronglyConvex, steps: int, sizes: tuple[int, int], chance: float) -> Block | None:
    """The block of so many steps; None where a batch may be too large, or nothing contracts for certain.

    Args:
        run: with Poisson batches and one step size.
        assumption: what is assumed of the losses.
        steps: w.
        sizes: the least sum of the sizes of a block, and the largest batch in it, without the sample that differs.
        chance: that a block is not like this, rounded up.
    """
    low, largest = sizes
    eta, b = exact(run.step_size_at(0)), run.batch
    if not eta * largest / b * (exact(assumption.L) + exact(assumption.m)) <= 2 or low == 0:
        return None
    contraction = (1 - eta * exact(assumption.m) * low / (b * steps)) ** steps
    if not 0 <= contraction < 1:
        return None
    contraction = contraction.max(exact(_LEAST))
    tracked = steps * eta * exact(run.clip_norm) / b / (1 - contraction)
    reach, before = run.diameter, 0
    if upper(tracked) < reach:
        blocks = -(-run.steps // steps)
        reach, before = upper(tracked), blocks
        if isfinite(run.diameter):
            few = int(log(_CLOSE * run.diameter / float(tracked)) / -log(float(contraction))) + 1
            rest = upper(tracked + contraction**few * exact(run.diameter))
            if few < blocks and rest < run.diameter:
                reach, before = rest, few
    return Block(steps, upper(contraction), reach, before, chance, sizes)


@dataclass(frozen=True, eq=False)
class BlockShares(Shares):
    """Windows of whole blocks. ``block`` says what a block does; the fields before it are those of `Shares`."""

    block: Block

    @property
    def period(self) -> int:
        return self.block.steps

    @cached_property
    def reach(self) -> Array:
        return np.full(self.horizon, self.block.reach)

    @cached_property
    def contractions(self) -> Array:
        return np.where(np.arange(self.horizon) % self.block.steps == 0, self.block.contraction, 1.0)
