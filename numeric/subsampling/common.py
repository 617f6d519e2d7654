"""One bound for random batches, and what every scheme of random batches has in common."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import nextafter

import numpy as np

from lastiterate.numeric.accounting.dominating import Composed, SampledStep
from lastiterate.numeric.accounting.rdp import composed_rdp
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, lower, upper
from lastiterate.numeric.run import NoisySGD

__all__ = ["CLOSE", "Sampled", "composition", "moved", "never_failing", "rate", "same_data"]

CLOSE = 1.01
"""Windows are priced with certainty where their estimate is at most so many times what is known."""
_MOST_KINDS = 256


@dataclass(frozen=True)
class Sampled:
    """A rigorous bound at one order.

    Attributes:
        epsilon: of (order, epsilon)-RDP, rounded up; of either law from the other.
        route: "composition", "window of shifts" or "worst batches".
        window: (tau, T), the steps that are paid for.
        share: beta, the share of the noise variance that hides the change of the data, on average over the window; 0
            for worst batches.
        composed: what dominates the last iterate, outside an event of chance ``composed.failure``; epsilon holds
            without any such event.
    """

    epsilon: float
    route: str
    window: tuple[int, int]
    share: float
    composed: Composed

    def within(self, order: float) -> float:
        """Epsilon at an order outside the event in which ``composed`` may fail, rounded up."""
        return composed_rdp(replace(self.composed, failure=0.0), order)


def never_failing(composed: Composed, order: float, route: str, window: tuple[int, int], share: float) -> Sampled:
    """The bound of a composition without a chance of failure."""
    return Sampled(composed_rdp(composed, order), route, window, share, composed)


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


def composition(run: NoisySGD, order: float) -> Sampled:
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
    return never_failing(Composed(0.0, tuple(parts)), order, "composition", (0, run.steps), 1.0)
