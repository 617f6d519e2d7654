"""Batches drawn without replacement, and what all schemes of random batches share.

Reveal a batch without the differing sample, drawn once for both runs, and put the sample in place of one of its
elements with probability q = b / n: that is a batch drawn without replacement. Given what is revealed, an update is
one of two maps, the same coin for two copies of one run, so that a distance z grows to at most e_t(z) with no
sensitivity in it. Split the noise: a share beta_t of the variance hides the change of the data, at the cost S of
one step between mixtures (`step_rdp`, in both directions), the rest hides shifts. For every window of
steps from a distance Delta that bounds the runs,

    epsilon(alpha) <= sum S(beta_t) + alpha / 2 sum a_t^2 / ((1 - beta_t) sigma_t^2),   z' = e_t(z) - a_t,  Delta -> 0.

Nothing is conditioned on: the third law moves from one run to the other, as for full batches. Beside it stand
composition (z = 0 throughout, beta = 1), and the worst case over batches, which is Gaussian.

Source: docs/proofs/without_replacement.md; it repairs Chien & Li 2025, Theorem 3.12, whose one-step price is the
smaller direction (claims ours/sampled/*). Price of a step: Balle, Barthe & Gaboardi 2018.

At a delta worst batches are one Gaussian, converted exactly. Composition and windows of shifts go through their
privacy-loss distribution; where floats do not reach that, through their Renyi divergence. Which window is best depends
on the order: a few orders are tried, each taken from the slope of the last, and all that they find is converted.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, log, nextafter, sqrt

import numpy as np

from lastiterate.numeric.accounting.conversion import quick_rdp_to_dp
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair, SampledStep
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import Shares, SplitWindow
from lastiterate.numeric.subsampling.noise_split_affine import straight_windows
from lastiterate.numeric.subsampling.noise_split_general import curved_windows

__all__ = [
    "CLOSE",
    "composition",
    "converted",
    "moved",
    "rate",
    "same_data",
    "split_windows",
    "window_of_shifts",
    "without_replacement_routes",
    "worst_batches",
]

CLOSE = 1.01
"""Windows are priced with certainty where their estimate is at most so many times what is known."""
_MOST_KINDS = 256
_FIRST_ORDER = 8.0
_ORDERS = 3
_PROMISING = 1.5
"""Routes whose Renyi conversion is so many times the best are not worth a privacy-loss distribution."""


def without_replacement_routes(
    run: NoisySGD, assumption: Assumption, order: float, delta: float | None = None, *, every: bool = True
) -> list[Candidate]:
    """Composition, the best window of shifts, and the worst case over batches.

    Args:
        run: a run with batches drawn without replacement.
        assumption: what is assumed of the losses.
        order: alpha > 1.
        delta: not used; none of these bounds may fail.
        every: whether routes that cannot be the least are wanted too.
    """
    del delta
    with precision():
        program = ShiftProgram(run, assumption)
        found = [composition(run)]
        least = found[0].rdp(order)
        shares = Shares(program, same_data(run, assumption), moved(run), rate(run), run.adjacency, order)
        found += [
            window_of_shifts(run, one)
            for one in (split_windows(shares) if every or shares.least() < least else [])
            if every or one.estimate < least * CLOSE
        ]
        if every or not min(one.rdp(order) for one in found) <= order / 2 * program.least():
            found.append(worst_batches(run, optimum(program)))
        return found


def rate(run: NoisySGD) -> float:
    """b / n as a float, rounded up."""
    q = run.batch / run.dataset_size
    return q if Fraction(q) >= Fraction(run.batch, run.dataset_size) else nextafter(q, 1.0)


def moved(run: NoisySGD) -> float:
    """How far apart the outcomes of one step may lie, over its step size, rounded up: 2 K / b, or K / b; a gradient."""
    samples = 2 if run.adjacency == "replace" else 1
    return upper(samples * exact(run.clip_norm) / run.batch)


def same_data(run: NoisySGD, assumption: Assumption) -> Callable[[int], Expansion]:
    """Expansion of each step for two copies of one run that meet the same batch."""
    known: dict[float, Expansion] = {}

    def at(t: int) -> Expansion:
        size = run.step_size_at(t)
        if size not in known:
            known[size] = assumption.expansion(run, t, differs=False)
        return known[size]

    return at


def split_windows(shares: Shares) -> list[SplitWindow]:
    """The best window found, or none where nothing bounds how far apart the runs are."""
    if not isfinite(float(shares.reach.max())) or not shares.reach[0] > 0:
        return []
    found = straight_windows(shares) if shares.contractions is not None else curved_windows(shares)
    return sorted(found, key=lambda one: one.estimate)[:1]


def composition(run: NoisySGD) -> Candidate:
    """All steps, each with all of its noise. Beyond 256 kinds of steps, multipliers are rounded down to so many."""
    if run.constant:
        alike = {(run.step_size_at(0), run.noise_std_at(0)): run.steps}
    else:
        alike = dict(Counter((run.step_size_at(t), run.noise_std_at(t)) for t in range(run.steps)))
    counts: Counter[float] = Counter()
    for (step_size, noise), count in alike.items():
        counts[lower(exact(noise) / (exact(step_size) * exact(moved(run))))] += count
    multipliers = np.sort(np.array(list(counts)))
    nodes = multipliers
    if len(nodes) > _MOST_KINDS:
        nodes = np.geomspace(multipliers[0], multipliers[-1], _MOST_KINDS)
        nodes[0] = multipliers[0]
    below = nodes[np.searchsorted(nodes, multipliers, side="right") - 1]
    rounded: Counter[float] = Counter()
    for multiplier, node in zip(multipliers.tolist(), below.tolist(), strict=True):
        rounded[node] += counts[multiplier]
    parts = (SampledStep(rate(run), node, run.adjacency, count) for node, count in sorted(rounded.items()))
    return Candidate("composition", run.scheme.claim, (0, run.steps), DominatingPair(0.0, tuple(parts)), share=1.0)


def window_of_shifts(run: NoisySGD, found: SplitWindow) -> Candidate:
    """The bound of the last steps, with their noise split."""
    return Candidate(
        "window of shifts", run.scheme.claim, (run.steps - found.length, run.steps), found.pair, share=found.share
    )


def worst_batches(run: NoisySGD, found: Optimum) -> Candidate:
    """The bound for batches that may all hold the sample."""
    pair = DominatingPair(upper(found.cost))
    return Candidate("worst batches", run.scheme.claim, (found.path.start, run.steps), pair, optimum=found, share=0.0)


def converted(routes: Callable[[float], list[Candidate]], delta: float) -> list[Candidate]:
    """Bounds at one delta, one of them near the least that any route gives.

    Args:
        routes: the bounds that are best near an order.
        delta: in (0, 1).
    """
    order = _FIRST_ORDER
    tried: dict[float, list[Candidate]] = {}
    while len(tried) < _ORDERS and order not in tried:
        tried[order] = routes(order)
        slope = min(one.pair.conditional.rdp(order) for one in tried[order]) / order
        order = round(min(max(1 + sqrt(-log(delta) / slope), 1.05), 400.0), 3) if slope > 0 else 400.0
    estimates: dict[DominatingPair, tuple[float, Candidate]] = {}
    renyi: list[tuple[float, Candidate]] = []
    for tried_order, found in tried.items():
        for one in found:
            at_order = replace(
                one,
                renyi=(tried_order, one.rdp(tried_order)),
                route=f"{one.route} through RDP, order {tried_order:.4g}",
            )
            renyi.append((quick_rdp_to_dp(tried_order, one.rdp(tried_order), delta), at_order))
            estimate = quick_rdp_to_dp(tried_order, one.pair.conditional.rdp(tried_order), delta - one.pair.failure)
            estimates[one.pair] = min(estimates.get(one.pair, (inf, one)), (estimate, one), key=lambda x: x[0])
    least = min(estimate for estimate, _ in estimates.values())
    return [min(renyi, key=lambda x: x[0])[1]] + [
        replace(one, renyi=None, route=f"{one.route} through {'PLD' if one.pair.steps else 'GDP'}")
        for estimate, one in estimates.values()
        if estimate <= _PROMISING * least or not one.pair.steps
    ]
