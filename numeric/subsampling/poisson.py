"""Poisson batches: every sample in every batch with chance q = b / n, the sum of gradients divided by b.

Setting      W <- Proj[W - eta/b sum_{i in B} clip(g_i) + N(0, sigma^2)]; two data sets, one of which has a sample i*
             more, and n counts it (add or remove). Reveal R, the batch without i*: it is drawn alike in both runs and
             depends on nothing else. The coin of i* stays hidden.
One step     Given R, one run takes psi or psi - eta/b g_i* with chances 1 - q and q, the other takes psi. The two
             outcomes are at most eta K / b apart: S_up at that shift in one order, S_down <= S_up in the other.
Distance     The third law moves along the run *without* i*, as the denominator or as the numerator. Two copies of it
             have the batch R, never i*, so a distance grows to at most e_k(z), k = |R|: z + h min(omega(z), 2 K) with h
             = eta k / b, and not eta. For smooth convex losses max(1, h L - 1) z, strongly convex max(1 - h m, h L - 1)
             z: a batch may be empty, or larger than b.
Sizes        k is Binomial(n - 1, q). Either the expansion is taken over every size, 0 to n - 1; or over [low, high]
             outside an event of chance p (`binomial_tails`). Sizes are revealed first, they are alike in both runs, so
             that with G the bound inside the event's complement and F one for every size,
             epsilon <= log((1 - p) e^((alpha-1) G) + p e^((alpha-1) F)) / (alpha - 1).
             Nothing is assumed of the sizes: the chance of the rest is in the number. F may be large, and so the range
             wide; a range in between, of bound G' and chance p', brings the last term to p e^(.. G') + p' e^(.. F).
Length       The event concerns the steps of the window alone where it starts from the diameter; where distances shrink,
             also those after which nearly nothing of the diameter is left. Neither depends on how long the run is.

Source: docs/proofs/poisson.md (claims ours/poisson/*). The papers take the Lipschitz constant of a batch of size b for
every size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite, log

from flint import arb

from lastiterate.numeric.accounting.conversion import mixed_rdp, quick_rdp_to_dp
from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.losses.assumptions import Assumption, StronglyConvex
from lastiterate.numeric.losses.expansion import Expansion, Plus
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, best_window, optimum
from lastiterate.numeric.shift_program.paths import GeometricPath
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.binomial_tails import least_range
from lastiterate.numeric.subsampling.noise_split import Shares
from lastiterate.numeric.subsampling.poisson_blocks import BlockShares, block
from lastiterate.numeric.subsampling.without_replacement import (
    CLOSE,
    composition,
    moved,
    rate,
    same_data,
    split_windows,
    window_of_shifts,
    worst_batches,
)

__all__ = ["poisson_routes"]

_BLOCKS = (16, 64, 256)
"""Steps in a block, for strongly convex losses."""
_DEPTHS = (4.0, 12.0, 24.0)
"""Natural logarithms: how much less likely an event is than what would make it count."""
_FEW, _SHORTEST = 64, 4096
"""Blocks, and steps, that a window is taken to have until it is known."""
_LEVELS = 3
"""Ranges of sizes in a chain, each of which counts on the bound of the one before."""


@dataclass(frozen=True)
class _Sized(Assumption):
    """An assumption, for runs whose batches without i* have between ``low`` and ``high`` samples."""

    inner: Assumption
    low: int
    high: int

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        shared = self.inner.over_sizes(run, t, self.low, self.high)
        if not differs:
            return shared
        return Plus(shared, exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch)

    @property
    def expansive(self) -> bool:
        return self.inner.expansive

    @property
    def statement(self) -> str:
        return self.inner.statement


def poisson_routes(
    run: NoisySGD, assumption: Assumption, order: float, delta: float | None = None, *, every: bool = True
) -> list[Candidate]:
    """Composition, windows of shifts, and the worst case over coins, each valid for every size of the batches.

    Args:
        run: a run with Poisson batches.
        assumption: what is assumed of the losses.
        order: alpha > 1.
        delta: the delta for which compositions that may fail are wanted; by default they serve the order.
        every: whether routes that cannot be the least are wanted too.
    """
    with precision():
        for t in (0,) if run.constant else range(run.steps):
            assumption.expansion(run, t, differs=True)  # an assumption that does not fit the run is refused here
        found = [composition(run)]
        surely = found[0].rdp(order)
        others = run.dataset_size - 1
        sizes = (0, others) if rate(run) < 1 else (others, others)
        found += _for_sizes(run, assumption, order, sizes, 0.0, [(0.0, surely)], every=every)
        beyond = [(0.0, min(one.rdp(order) for one in found))]
        for low, high, tail in _ranges(run, assumption, order, beyond, delta, found, every=every):
            some = _for_sizes(run, assumption, order, (low, high), tail, beyond, every=every)
            found += some
            if some and delta is None:
                inside = min(some, key=lambda one: one.rdp(order)).pair
                if inside.conditional.rdp(order) < beyond[0][1]:
                    beyond.insert(0, (inside.failure, inside.conditional.rdp(order)))
        if isinstance(assumption, StronglyConvex) and not isinstance(run.step_size, tuple) and rate(run) < 1:
            found += _in_blocks(run, assumption, order, beyond, delta, every=every)
    return _least_of_each(found, order, delta)


def _least_of_each(found: list[Candidate], order: float, delta: float | None) -> list[Candidate]:
    """The best bound of every route; where a delta is meant, one that may fail is kept beside one that never does.

    What may fail serves a delta only if its chance of failure, which is taken off that delta, is less.
    """

    def spent(one: Candidate) -> float:
        return (
            one.rdp(order)
            if delta is None
            else quick_rdp_to_dp(order, one.pair.conditional.rdp(order), delta - one.pair.failure)
        )

    best: dict[tuple[str, bool], Candidate] = {}
    for one in found:
        if delta is not None and one.pair.failure >= delta:
            continue
        key = (one.route, delta is not None and one.pair.failure > 0)
        if key not in best or spent(one) < spent(best[key]):
            best[key] = one
    return list(best.values())


_Beyond = list[tuple[float, float]]
"""Chances of failure and bounds that hold otherwise, of ever wider ranges of sizes; the last one never fails."""


def _ranges(
    run: NoisySGD,
    assumption: Assumption,
    order: float,
    beyond: _Beyond,
    delta: float | None,
    found: list[Candidate],
    *,
    every: bool,
) -> Iterator[tuple[int, int, float]]:
    """Ranges of sizes that a step leaves with a small chance, and that chance, rounded up."""
    others, q = run.dataset_size - 1, Fraction(run.batch, run.dataset_size)
    if not others or q == 1:
        return
    seen, most = {(0, others)}, None if every else _growth(run, assumption, 0, others)
    for depth in (*([_DEPTHS[1]] * _LEVELS if delta is None else []), *_DEPTHS):
        steps = min((one.window[1] - one.window[0] for one in found[1:]), default=run.steps)
        log_chance = _log_chance(order, beyond, delta) - depth - log(steps)
        low, high, tail = least_range(others, q, log_chance, both=not assumption.expansive)
        if (low, high) not in seen and (most is None or _growth(run, assumption, low, high) != most):
            seen.add((low, high))
            yield low, high, tail


def _growth(run: NoisySGD, assumption: Assumption, low: int, high: int) -> float | None:
    """How much a distance grows in a step over these sizes, where that is known and the same at every step."""
    line = assumption.over_sizes(run, 0, low, high).affine_on(run.diameter) if run.constant else None
    return None if line is None else upper(line[0])


def _log_chance(order: float, beyond: _Beyond, delta: float | None) -> float:
    """Natural logarithm of the chance from which on an event would count."""
    return -(order - 1) * beyond[0][1] if delta is None else log(delta)


def _for_sizes(
    run: NoisySGD,
    assumption: Assumption,
    order: float,
    sizes: tuple[int, int],
    tail: float,
    beyond: _Beyond,
    *,
    every: bool,
) -> list[Candidate]:
    """Windows and worst batches over a range of sizes, which a step leaves with chance ``tail``."""
    sized = _Sized(assumption, *sizes)
    program = _shortened(run, sized, tail)
    surely = beyond[0][1]

    def bounded(one: Candidate) -> Candidate:
        # A distance that is tracked from the beginning needs the sizes of all steps.
        covered = run.steps - one.window[0] if assumption.expansive else program.steps
        return _mixed(one, covered * exact(tail), beyond, order)

    shares = Shares(program, same_data(program.run, sized), moved(run), rate(run), run.adjacency, order)
    routes = [
        bounded(window_of_shifts(run, one))
        for one in (split_windows(shares) if every or shares.least() < surely else [])
        if every or one.estimate < surely * CLOSE
    ]
    if every or not min([surely, *(one.rdp(order) for one in routes)]) <= order / 2 * program.least():
        routes += [bounded(worst_batches(run, worst)) for worst in _worst(program, run.steps)]
    return routes


def _shortened(run: NoisySGD, sized: _Sized, tail: float) -> ShiftProgram:
    """The program of the run, or of last steps from the diameter after which c^w D is a 1e-12th of what a step adds."""
    fixed = _fixed(run)
    program = ShiftProgram(fixed, sized)
    line = program.expansion(0).affine_on(run.diameter)
    if sized.expansive or not tail or not run.constant or not isfinite(run.diameter) or line is None:
        return program
    c, s = float(line[0]), float(line[1])
    if not 0 < c < 1:
        return program
    steps = int(log(max(1e12 * run.diameter / s, 2.0)) / -log(c)) + _SHORTEST
    return program if steps >= run.steps else ShiftProgram(replace(fixed, steps=steps), sized, initial=run.diameter)


def _worst(program: ShiftProgram, steps: int) -> list[Optimum]:
    """The best window where every batch holds the sample, at the end of a run of so many steps."""
    if not program.initial:
        return [optimum(program)]
    line = program.expansion(0).affine_on(program.diameter)
    best = None if line is None else best_window(*line, program.diameter, program.steps)
    if line is None or best is None:
        return []
    first, ratio = float(best.lam / line[0]), float(1 / line[0])
    path = GeometricPath(steps - best.length, program.diameter, first, ratio, best.length)
    return [Optimum(best.cost / exact(program.noise_at(0)) ** 2, path, "closed form")]


def _fixed(run: NoisySGD) -> NoisySGD:
    """A run of full batches of size b, with the same steps."""
    return NoisySGD(
        run.steps, run.step_size, run.noise_std, run.clip_norm, dataset_size=run.batch, diameter=run.diameter
    )


def _in_blocks(
    run: NoisySGD, assumption: StronglyConvex, order: float, beyond: _Beyond, delta: float | None, *, every: bool
) -> list[Candidate]:
    """Windows of blocks that contract, see `poisson_blocks`."""
    log_chance = _log_chance(order, beyond, delta) - _DEPTHS[1]
    fixed, sized = _fixed(run), _Sized(assumption, 0, run.dataset_size - 1)
    program, shared, found = ShiftProgram(fixed, sized), same_data(fixed, sized), []
    for width in _BLOCKS:
        blocks = run.steps // width
        known = block(run, assumption, width, log_chance - log(min(blocks, _FEW)) - 1) if blocks else None
        if known is not None:  # how many blocks count follows from what one does
            counted = min(2 * known.before + _FEW, blocks)
            known = block(run, assumption, width, log_chance - log(counted) - 1)
        if known is None:
            continue
        shares = BlockShares(program, shared, moved(run), rate(run), run.adjacency, order, known)
        for one in split_windows(shares):
            if every or one.estimate < beyond[0][1] * CLOSE:
                covered = known.covered(one.length, run.steps)
                found.append(_mixed(window_of_shifts(run, one), covered * exact(known.chance), beyond, order))
    return found


def _mixed(inside: Candidate, chance: arb, beyond: _Beyond, order: float) -> Candidate:
    """A bound that may fail with this chance, and then is what holds beyond."""
    failure = min(1.0, upper(chance))
    if not failure:
        return inside
    rarer = [(fails, bound) for (fails, _), (_, bound) in pairwise(beyond)]
    epsilon = mixed_rdp(inside.pair.rdp(order), failure, beyond[0][1], order, rarer)
    return replace(inside, pair=replace(inside.pair, failure=failure), renyi=(order, epsilon))
