"""Full batches with momentum: shifts for states of a present and a previous point, and contraction by blocks.

A step that shifts its noise by a takes states at the distances (z, y) to states at the distances (z', z), where z' is
max((1 + beta) e(z) + beta y - a, 0) for a heavy ball, with the expansion e of the step of size eta / (1 + beta) without
momentum, and max(e((1 + beta) z + beta y) - a, 0) for Nesterov's method, with the step of size eta.

Source: docs/proofs/momentum.md (claims ours/momentum/window, blocks).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import inf, isfinite, nextafter

import numpy as np
from flint import arb
from scipy.optimize import nnls

from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.contraction.chain import Goal, Prices, Repeated, TableCandidate
from lastiterate.numeric.contraction.table import gaussian_table
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD

_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of steps of the windows and blocks that are tried."""
_FARTHEST, _FAR, _FALLS = 3600.0, 25.0, 0.8
"""Far cost above which a block is not tried, and above which the next one must not be cheaper by this factor."""


@dataclass(frozen=True)
class MomentumSteps:
    """The equal steps of a run with momentum, as maps of distances."""

    run: NoisySGD
    assumption: Assumption

    @cached_property
    def _maps(self) -> tuple[UpdateExpansion, ...]:
        """Expansions of the step without momentum; for a heavy ball, at the floats on both sides of its size."""
        run = self.run
        sizes: tuple[float, ...] = (run.step_size_at(0),)
        if not run.nesterov:
            middle = float(Fraction(run.step_size_at(0)) / (1 + Fraction(run.momentum)))
            sizes = nextafter(middle, 0.0), nextafter(middle, inf)
        plain = (replace(run, step_size=size, momentum=0.0, nesterov=False) for size in sizes)
        return tuple(self.assumption.expansion(one, 0, differs=run.group) for one in plain)

    def after(self, z: arb, y: arb) -> arb:
        """Distance after a step without a shift, rounded up; it is convex in the step size."""
        beta = exact(self.run.momentum)
        if self.run.nesterov:
            return self._maps[0].ball((1 + beta) * z + beta * y).upper()
        return ((1 + beta) * reduce(arb.max, (one.ball(z) for one in self._maps)) + beta * y).upper()

    def cost(self, steps: int, start: float, *, block: bool = False) -> float:
        """mu^2 of a path from the distances (start, start) to equal points, or to equal states; rounded up."""
        with precision():
            z, y, total = exact(start), exact(start), arb(0)
            for goal in self._goals(steps, start, steps - 1 - block):
                moved = self.after(z, y)
                left = moved.min(exact(goal))
                total += (moved - left) ** 2
                z, y = left, z
            return upper(total / exact(self.run.noise_std_at(0)) ** 2)

    def _goals(self, steps: int, start: float, free: int) -> list[float]:
        """Distances after the steps, of which the first ``free`` are about the best for affine expansions."""
        goals, zero, all_of = np.zeros(steps), arb(0), exact(start)
        still, present, before = (
            float(self.after(*one)) for one in ((zero, zero), (all_of, zero), (zero, all_of))
        )
        if free > 0 and start > 0 and isfinite(present):
            moved = np.eye(steps, steps + 2) * (before - still) / start - np.eye(steps, steps + 2, 2)
            moved += np.eye(steps, steps + 2, 1) * (present - still) / start
            apart = moved[:, :2].sum(axis=1) * start + still
            goals[:free] = np.minimum(nnls(moved[:, 2 : 2 + free], -apart)[0], start)
        return goals.tolist()

    def prices(self, steps: int, *, block: bool) -> Prices:
        """The near and far costs of some steps."""
        with precision():
            costs = (self.cost(steps, start, block=block) for start in (0.0, self.run.diameter))
            one, other = (gaussian_table(upper(exact(cost).sqrt())) for cost in costs)
        return one, other


def momentum_routes(
    run: NoisySGD, assumption: Assumption, _order: float | None, _delta: float | None, *, every: bool
) -> list[Candidate]:
    """Composition and windows of last steps, or with ``every`` false the cheapest of these."""
    steps, claim = MomentumSteps(run, assumption), "ours/momentum/window"
    with precision():
        composed = DominatingPair(upper(exact(steps.cost(1, 0.0)) * run.steps))
    found = [Candidate("composition", claim, (0, run.steps), composed)]
    for length in _LENGTHS if isfinite(run.diameter) else ():
        if length <= run.steps:
            pair = DominatingPair(steps.cost(length, run.diameter))
            found.append(Candidate("window of shifts", claim, (run.steps - length, run.steps), pair))
    return found if every else [min(found, key=lambda one: one.pair.cost)]


def contract_momentum(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate by blocks and one last step, if any."""
    steps, best, width = MomentumSteps(run, assumption), None, 0
    last, lengths = steps.prices(1, block=False), [one for one in _LENGTHS[1:] if one < run.steps]
    costs = [steps.cost(length, run.diameter, block=True) for length in lengths]
    for length, far, following in zip(lengths, costs, [*costs[1:], inf], strict=False):
        if far > _FARTHEST or (far > _FAR and following < _FALLS * far):
            continue
        blocks = -(-(run.steps - 1) // length)  # the first may be shorter
        found = Repeated([steps.prices(length, block=True)], blocks, goal, rest=[last])
        if best is not None and found.about >= best.about:
            break
        best, width = found, length
    if best is None:
        return []
    table, blocks = best.settled()
    return [replace(TableCandidate.of(run, table, blocks * width + 1, other), claim="ours/momentum/blocks")]
