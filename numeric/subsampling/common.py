"""Bounds and quantities that all schemes of random batches share."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import isfinite, nextafter

import numpy as np

from lastiterate.numeric.accounting.candidate import Candidate
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledStep
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, lower, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum
from lastiterate.numeric.subsampling.noise_split import Shares, SplitWindow
from lastiterate.numeric.subsampling.noise_split_affine import straight_windows
from lastiterate.numeric.subsampling.noise_split_general import curved_windows

__all__ = ["CLOSE", "composition", "moved", "rate", "same_data", "split_windows", "window_of_shifts", "worst_batches"]

CLOSE = 1.01
"""Windows are priced with certainty where their estimate is at most so many times what is known."""
_MOST_KINDS = 256


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
