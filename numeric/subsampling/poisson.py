"""Poisson batches, which hold each sample with probability q = b / n; gradient sums are divided by b.

One of two data sets has an additional sample i*, which is counted in n. The batch without i* is revealed; its
size k has the law Binomial(n - 1, q). An update takes two copies of the run without i* from distance z to at
most e_k(z). The expansion covers every k, or, outside an event of probability p, every k in [low, high]. If G
bounds the divergence outside the event and F bounds it for every k, epsilon <= log((1 - p) e^((alpha-1) G) +
p e^((alpha-1) F)) / (alpha - 1). With a wider range, which has a bound G' outside an event of probability p',
the last term becomes p e^((alpha-1) G') + p' e^((alpha-1) F). For a window that starts from the diameter, the
event concerns only the steps of the window. If distances shrink, it also concerns earlier steps, until almost
nothing is left of the diameter.

Under m-strong convexity, a block of w steps contracts by C = (1 - eta m S / (b w))^w, where S ~ Binomial(w (n
- 1), q) is the sum of the batch sizes. Outside an event, C is at most a known factor, which is applied at the
last step of the block. The distance before a block is at most min(D, w s / (1 - C)), where s is the
sensitivity; after j blocks from the diameter D it is at most w s / (1 - C) + C^j D.

Source: docs/proofs/poisson.md (claims ours/poisson/*).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import ceil, isfinite, log

import numpy as np
from flint import arb

from lastiterate.numeric.accounting.batches import least_range, rate, size_ranges, tail_from
from lastiterate.numeric.accounting.conversion import mixed_rdp
from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption, Minimum, Size, Sized, StronglyConvex
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import Shares, approximate_rdp
from lastiterate.numeric.subsampling.windows import beside, composition_route, worth_pricing
from lastiterate.numeric.subsampling.without_replacement import EventMixture, least_of_each

_LEAST = 1e-30
"""Smallest contraction used, so that several blocks stay within the range of floats."""
_CLOSE = 1e12
"""Ratio of the added distance to the remaining diameter above which earlier blocks are left out."""
_BLOCKS = (16, 64, 256)
"""Numbers of steps in a block, for strongly convex losses."""
_DEPTHS, _TAKEN_OFF = (2.0, 4.0, 12.0, 24.0), (3.0, 6.0)
"""Trial amounts by which an event's log probability is below a relevant value, at an order and at a delta."""
_CHAINED, _IN_BLOCKS = (12.0, 8.0, 4.0), (8.0, 12.0)
"""Trial amounts for a chain of ranges, each of which is based on the previous bound, and for blocks."""
_LENGTHS = (2**16, 2**24)
"""Guessed lengths of the best window at a delta; the best length for every size is also tried."""
_FEW = 64
"""Guessed number of blocks in a window."""


@dataclass(frozen=True)
class ContractingBlock:
    """``steps`` steps that together contract by ``contraction``, rounded up, except with probability ``chance``.

    ``reach``, a length, bounds the distance before a block that follows ``before`` blocks (0: only the domain
    is used). ``sizes`` are the smallest sum of batch sizes in a block and the largest batch size, without the
    differing sample.
    """

    steps: int
    contraction: float
    reach: float
    before: int
    chance: float
    sizes: tuple[int, int]

    def covered(self, length: int, run: int) -> int:
        """Number of blocks that a window of the last ``length`` of ``run`` steps needs."""
        return min(self.before + length // self.steps, -(-run // self.steps))


@dataclass(frozen=True, eq=False)
class BlockShares(Shares):
    """Windows of whole blocks."""

    block: ContractingBlock

    @property
    def period(self) -> int:
        return self.block.steps

    @cached_property
    def reach(self) -> Array:
        return np.full(self.horizon, self.block.reach)

    @cached_property
    def contractions(self) -> Array:
        return np.where(np.arange(self.horizon) % self.block.steps == 0, self.block.contraction, 1.0)


_SHORTEST = 4096
"""Minimum number of steps kept."""


def last_steps(run: NoisySGD, sized: Sized, tail: float) -> ShiftProgram:
    """Program of the run, or, if e(z) = c z + s, of its last w steps from the diameter D, with c^w D < 1e-12 s."""
    fixed = fixed_size(run)
    program = ShiftProgram(fixed, sized)
    line = program.expansion(0).affine_on(run.diameter)
    if program.expansive or not tail or not run.constant or not isfinite(run.diameter) or line is None:
        return program
    c, s = map(float, line)
    if not 0 < c < 1:
        return program
    steps = int(log(max(1e12 * run.diameter / s, 2.0)) / -log(c)) + _SHORTEST
    return (
        program
        if steps >= run.steps
        else ShiftProgram(replace(fixed, steps=steps), sized, initial=run.diameter)
    )


def fixed_size(run: NoisySGD) -> NoisySGD:
    """The run with batches of a fixed size b."""
    if isinstance(run.batch_size, tuple):
        return replace(run, sampling="without_replacement", adjacency="replace")
    return replace(run, dataset_size=run.batch, batch_size=None, sampling="full", adjacency="replace")


def poisson_routes(
    run: NoisySGD,
    assumption: Assumption,
    order: float,
    delta: float | None = None,
    *,
    every: bool = True,
    most: float | None = None,
) -> list[Candidate]:
    """Composition, windows of shifts, and the worst case over batches; arguments as in `by_shifts`."""

    def limit(known: float) -> float | None:
        return None if every else known if most is None else most

    with precision():
        for t in (0,) if run.constant else range(run.steps):
            assumption.expansion(run, t, differs=run.group)  # raises if the assumption does not fit the run
        found = [composition_route(run)]
        search = _Search(run, assumption, order, delta)
        surely = found[0].rdp(order) if delta is None else approximate_rdp(found[0].pair, order)
        others = run.dataset_size - run.group
        found += search.for_sizes(0 if rate(run) < 1 else others, others, 0.0, limit(surely))
        beyond = search.beyond
        if delta is None:
            known = min(found, key=lambda one: one.rdp(order))
            beyond.append((0.0, known.rdp(order), known))
        for leaving in search.ranges(found, every=every):
            some = search.for_sizes(*leaving, limit(beyond[0][1] if beyond else surely))
            found += some
            if some and delta is None:
                best = min(some, key=lambda one: one.rdp(order))
                if best.pair.conditional.rdp(order) < beyond[0][1]:
                    inside = best.choices.inside if isinstance(best.choices, EventMixture) else best
                    beyond.insert(0, (best.pair.failure, best.pair.conditional.rdp(order), inside))
        all_hold = assumption.parts if isinstance(assumption, Minimum) else (assumption,)
        curved = [one for one in all_hold if isinstance(one, StronglyConvex)]
        # Weight decay would add a factor to a block, which is not implemented.
        if (
            curved
            and not run.weight_decay
            and not isinstance(run.step_size, tuple)
            and len(run.batch_sizes) == 1 > rate(run)
        ):
            found += search.in_blocks(curved[0], limit(beyond[0][1] if beyond else surely))
    return least_of_each(found, order, delta)


@dataclass(frozen=True, eq=False)
class _Search:
    """Windows and worst batches of one run at one order, or for a delta.

    ``beyond`` lists failure probabilities with the bounds that hold otherwise; the last bound never fails.
    """

    run: NoisySGD
    assumption: Assumption
    order: float
    delta: float | None
    beyond: list[tuple[float, float, Candidate]] = field(default_factory=list)

    def ranges(self, found: list[Candidate], *, every: bool) -> Iterator[tuple[Size, Size, float]]:
        """Ranges of sizes, each with the probability, rounded up, that a batch size is outside."""
        run, others = self.run, self.run.dataset_size - self.run.group
        if not others or run.batch_sizes[0] == run.dataset_size:
            return
        seen: set[tuple[Size, Size]] = {(0, others)}
        most = None if every else self._growth(0, others)
        depths = (*_CHAINED, *_DEPTHS) if self.delta is None else _TAKEN_OFF
        guessed = [steps for steps in _LENGTHS if steps < run.steps] if self.delta is not None else []
        for depth, guess in [*product(depths, (0,)), *product(depths[:1], guessed)]:
            steps = guess or run.steps - max((one.window[0] for one in found[1:]), default=0)
            log_chance = self._log_chance() - depth - log(steps)
            low, high, tail = size_ranges(run, log_chance, both=not self.assumption.expansive(run))
            if (low, high) not in seen and (most is None or self._growth(low, high) != most):
                seen.add((low, high))
                yield low, high, tail

    def for_sizes(self, low: Size, high: Size, tail: float, surely: float | None) -> list[Candidate]:
        """Windows and worst batches for a range of sizes; sizes are outside with probability ``tail``."""
        program = last_steps(self.run, Sized(self.assumption, low, high), tail)

        def bounded(one: Candidate) -> Candidate:
            # A distance tracked from the beginning depends on the sizes of all steps.
            covered = self.run.steps - one.window[0] if self.assumption.expansive(self.run) else program.steps
            return self._mixed(one, covered * exact(tail))

        return beside(Shares(self.run, program, self.order), surely, bounded)

    def in_blocks(self, assumption: StronglyConvex, surely: float | None) -> list[Candidate]:
        run, found = self.run, list[Candidate]()
        program = ShiftProgram(fixed_size(run), Sized(assumption, 0, run.dataset_size - run.group))
        for width, depth in product(_BLOCKS, _IN_BLOCKS):
            blocks, log_chance = run.steps // width, self._log_chance() - depth
            known = _block(run, assumption, width, log_chance - log(min(blocks, _FEW)) - 1) if blocks else None
            if known is not None:  # this gives the number of relevant blocks
                counted = min(2 * known.before + _FEW, blocks)
                known = _block(run, assumption, width, log_chance - log(counted) - 1)
            if known is not None:
                for one in worth_pricing(BlockShares(run, program, self.order, known), surely):
                    covered = known.covered(run.steps - one.window[0], run.steps)
                    found.append(self._mixed(one, covered * exact(known.chance)))
        return found

    def _growth(self, low: Size, high: Size) -> float | None:
        if isinstance(low, tuple) or isinstance(high, tuple):
            return None
        known = self.run.constant and self.assumption.over_sizes(self.run, 0, low, high).affine_on(
            self.run.diameter
        )
        return upper(known[0]) if known else None

    def _log_chance(self) -> float:
        return log(self.delta) if self.delta is not None else -(self.order - 1) * self.beyond[0][1]

    def _mixed(self, inside: Candidate, chance: arb) -> Candidate:
        failure, beyond = min(1.0, upper(chance)), self.beyond
        if not failure:
            return inside
        if not beyond:
            return replace(inside, pair=replace(inside.pair, failure=failure))

        def mixed(first: int) -> float:
            rarer = [(fails, bound) for (fails, _, _), (_, bound, _) in pairwise(beyond[first:])]
            return mixed_rdp(inside.pair.rdp(self.order), failure, beyond[first][1], self.order, rarer)

        epsilon, first = min((mixed(first), first) for first in range(len(beyond)))
        chosen = EventMixture(inside, tuple(one for *_, one in beyond[first:]))
        return replace(
            inside, pair=replace(inside.pair, failure=failure), renyi=(self.order, epsilon), choices=chosen
        )


def _block(run: NoisySGD, assumption: StronglyConvex, steps: int, log_chance: float) -> ContractingBlock | None:
    """A block that contracts outside an event of about this log probability; None if contraction is not certain."""
    others, q, b = run.dataset_size - run.group, Fraction(run.batch, run.dataset_size), run.batch
    L, m, eta = exact(assumption.L), exact(assumption.m), exact(run.step_size_at(0))
    limit = 2 * b / (Fraction(run.step_size_at(0)) * (Fraction(assumption.L) + Fraction(assumption.m)))
    largest = min(others, ceil(limit) - 1)
    low, *_ = least_range(steps * others, q, log_chance - log(2), both=True)
    beyond, below = (
        tail_from(others, q, largest + 1),
        tail_from(steps * others, 1 - q, steps * others - low + 1),
    )
    chance = upper(steps * exact(beyond) + exact(below))
    contraction = (1 - eta * m * low / (b * steps)) ** steps
    if chance >= 1 or low == 0 or not (eta * largest / b * (L + m) <= 2 and 0 <= contraction < 1):
        return None
    contraction = contraction.max(exact(_LEAST))
    tracked = steps * run.group * eta * exact(run.clip_norm) / b / (1 - contraction)
    reach, before = run.diameter, 0
    if upper(tracked) < reach:
        blocks = -(-run.steps // steps)
        reach, before = upper(tracked), blocks
        if isfinite(run.diameter):
            few = int(log(_CLOSE * run.diameter / float(tracked)) / -log(float(contraction))) + 1
            rest = upper(tracked + contraction**few * exact(run.diameter))
            if few < blocks and rest < run.diameter:
                reach, before = rest, few
    return ContractingBlock(steps, upper(contraction), reach, before, chance, (low, largest))
