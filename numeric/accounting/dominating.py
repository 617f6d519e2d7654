"""Dominating pairs of last iterates: a Gaussian release composed with sampled Gaussian releases.

The shifts a_t of a window cost one Gaussian release with mu^2 = sum a_t^2 / ((1 - beta_t) sigma_t^2). If
batches are random, the change of data in step t costs one sampled Gaussian release with the share beta_t of
the noise variance sigma_t^2.

The Renyi divergence of order alpha is at most alpha cost / 2 + sum of count times S(rate, multiplier; alpha).
S is the divergence of one sampled step: `replacement_step` at distance 1 for "replace"; for "add_remove",
S_up at shift 1, which is at least S_down. For orders above 1000 or multipliers below 1/9, S is replaced by
alpha / (2 multiplier^2), the divergence without sampling.

Source: docs/proofs/without_replacement.md, poisson.md, privacy_loss.md (claims ours/sampled/*, ours/poisson/*,
ours/pld/*); Dong, Roth & Su 2022, theorem 4; Zhu, Dong & Wang 2022, theorem 10; Mironov 2017, proposition 1.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, inf
from typing import TYPE_CHECKING

from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon, quick_rdp_to_delta, rdp_to_dp
from lastiterate.numeric.accounting.pld import Composition, Release
from lastiterate.numeric.divergences import replacement_step, s_up
from lastiterate.numeric.divergences.sampled import group_step
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, lower, precision, upper

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.shift_program.optimum import Optimum

LEAST_MULTIPLIER = 1 / 9
HIGH_ORDER = 1000.0
_MOST_KINDS = 12
_ORDERS = (2.0, 8.0, 32.0)
"""Orders used for a first estimate of delta."""
_LEAST_DELTA = 1e-290


@dataclass(frozen=True)
class SampledSteps:
    """``count`` equal steps whose batch holds the differing sample with probability ``rate``, rounded up.

    ``multiplier``, rounded down, is the noise that hides the change of data, divided by the largest distance
    between two outcomes of the step. For a ``group``, each of its samples is in the batch independently.
    """

    rate: float
    multiplier: float
    adjacency: str
    count: int
    group: int = 1


@dataclass(frozen=True)
class DominatingPair:
    """A composition that dominates the last iterates of two runs on adjacent data sets, in both directions.

    ``cost`` is mu^2 of the Gaussian part, rounded up. ``failure`` is the probability, rounded up, of an event
    outside which the composition dominates; it is added to delta.
    """

    cost: float
    steps: tuple[SampledSteps, ...] = ()
    failure: float = 0.0

    @property
    def gaussian(self) -> bool:
        """Tell whether the last iterates are mu-GDP with mu^2 = ``cost``."""
        return not self.steps and not self.failure

    @property
    def mu(self) -> float:
        """sqrt(cost), rounded up."""
        with precision():
            return upper(exact(self.cost).sqrt())

    @property
    def conditional(self) -> "DominatingPair":
        """The pair outside its failure event."""
        return replace(self, failure=0.0)

    def rdp(self, order: float) -> float:
        """Epsilon of (order, epsilon)-RDP for an order above 1, rounded up, in both directions.

        Raises:
            InputError: ``failure`` is not 0.

        >>> DominatingPair(cost=0.25, steps=(SampledSteps(1.0, 2.0, "add_remove", count=3),)).rdp(2.0)
        1.0
        """
        if self.failure:
            raise InputError(
                f"A Renyi bound needs a composition with failure probability 0, got failure={self.failure:g}; combine "
                "it with a bound that holds outside the event, or ask for an (epsilon, delta) bound."
            )
        with precision():
            total = exact(order) * exact(self.cost) / 2
            for step in self.steps:
                one = step_rdp(step.rate, step.multiplier, step.adjacency, order, step.group)
                total += step.count * exact(one)
            return upper(total)

    def dp(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP, rounded up, usually within 0.3% of the smallest epsilon.

        Epsilon is infinite if delta is at most ``failure``, or if losses leave the range of floats.

        >>> round(DominatingPair(0.0, (SampledSteps(0.01, 1.0, "add_remove", 1000),)).dp(1e-5), 2)
        1.83
        """
        with precision():
            left = lower(exact(delta) - exact(self.failure))
        return max(_epsilon(self, side, left) for side in self.sides) if left > 0 else inf

    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence at e^epsilon, 0 <= epsilon < inf, rounded up, in both directions."""
        found = max(_delta(self.conditional, side, epsilon) for side in self.sides)
        with precision():
            return min(upper(exact(found) + exact(self.failure)), 1.0)

    @property
    def sides(self) -> tuple[str, ...]:
        """Directions with separate profiles: "remove" and "add", or "replace" for both at once."""
        adding = any(step.adjacency == "add_remove" and step.rate < 1 for step in self.steps)
        return ("remove", "add") if adding else ("replace",)

    def releases(self, side: str) -> list[Release]:
        """Releases for one of `sides`: every mixture, and one release for all Gaussian parts."""
        found: list[Release] = []
        with precision():
            cost = exact(self.cost)
            for step in self.few_steps():
                gap = 1 / exact(step.multiplier)
                if step.rate >= 1:
                    cost += step.count * (step.group * gap) ** 2
                else:
                    kind = "replace" if step.adjacency == "replace" else side
                    found.append(Release(step.rate, gap, kind, step.count, step.group))
            if upper(cost) > 0:
                found.append(Release(1.0, exact(upper(cost.sqrt())), "remove", 1))
        return found

    def few_steps(self) -> list[SampledSteps]:
        """At most a dozen kinds of steps, each with the highest rate and smallest multiplier of a group of kinds."""
        counts: Counter[SampledSteps] = Counter()
        for step in self.steps:
            counts[replace(step, count=1)] += step.count
        merged: list[SampledSteps] = []
        for adjacency in sorted({kind.adjacency for kind in counts}):
            kinds = sorted(
                (k for k in counts if k.adjacency == adjacency), key=lambda k: (k.multiplier, k.rate)
            )
            size = ceil(len(kinds) / _MOST_KINDS)
            for first in range(0, len(kinds), size):
                group = kinds[first : first + size]
                rate, noise = max(k.rate for k in group), min(k.multiplier for k in group)
                times = sum(counts[k] for k in group)
                merged.append(SampledSteps(rate, noise, adjacency, times, group[0].group))
        return merged


@lru_cache(maxsize=65536)
def step_rdp(rate: float, multiplier: float, adjacency: str, order: float, group: int = 1) -> float:
    """S of the module docstring for one step, rounded up; arguments as in `SampledSteps`."""
    with precision():
        whole = upper(exact(order) * group**2 / (2 * exact(multiplier) ** 2))
    if rate >= 1 or multiplier < LEAST_MULTIPLIER or order > HIGH_ORDER:
        return whole
    if group > 1:
        with precision():
            return min(upper(group_step(rate, 1 / exact(multiplier), group, order)), whole)
    divergence = replacement_step if adjacency == "replace" else s_up
    return min(divergence(rate, multiplier, alpha=order).upper, whole)


@lru_cache(maxsize=256)
def _epsilon(pair: DominatingPair, side: str, delta: float) -> float:
    found = pair.releases(side)
    if not found:
        return 0.0
    if len(found) == 1 and found[0].rate == 1:
        return gdp_epsilon(upper(found[0].gap), delta)
    composition = Composition.of(found, delta)
    return inf if composition is None else composition.epsilon(delta)


@lru_cache(maxsize=256)
def _delta(pair: DominatingPair, side: str, epsilon: float) -> float:
    found = pair.releases(side)
    if not found:
        return 0.0
    if len(found) == 1 and found[0].rate == 1:
        return gdp_delta(upper(found[0].gap), epsilon)
    best = min(quick_rdp_to_delta(order, pair.rdp(order), epsilon) for order in _ORDERS)
    # the transform is tuned to a delta, which the first estimate may miss by far
    for tilt in (
        None,
        None,
        0.0,
    ):
        law = Composition.of(found, min(max(best, _LEAST_DELTA), 0.5), tilt)
        if law is not None and (tilt == 0.0 or epsilon >= law.losses[0]):
            better = law.delta(epsilon)
            if better > best / 10:
                return min(best, better)
            best = better
    return best


@dataclass(frozen=True, eq=False)
class Candidate:
    """An upper bound on the privacy loss of the last iterate, in both directions.

    Attributes:
        window, position, share: as in `lastiterate.numeric.bound.PrivacyLoss`.
        pair: composition that dominates the last iterates outside an event of probability ``pair.failure``.
        renyi: (order, epsilon) of an RDP bound that replaces ``pair``.
        choices: other data needed by a certificate of the bound.
        within: the class of losses of the bound, if larger than the given class.
    """

    route: str
    claim: str
    window: tuple[int, int]
    pair: DominatingPair
    renyi: tuple[float, float] | None = None
    optimum: "Optimum | None" = None
    position: int | None = None
    share: float | None = None
    choices: object = field(default=None, repr=False)
    within: "Assumption | None" = field(default=None, repr=False, compare=False)

    def rdp(self, order: float) -> float:
        """Epsilon of (order, epsilon)-RDP, rounded up; ``renyi`` also bounds smaller orders."""
        if self.renyi is not None and order <= self.renyi[0]:
            return self.renyi[1]
        return self.pair.rdp(order)

    def dp(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP, rounded up."""
        return self.pair.dp(delta) if self.renyi is None else rdp_to_dp(*self.renyi, delta)

    def delta(self, epsilon: float) -> float:
        """Delta of (epsilon, delta)-DP, rounded up; epsilon is at least 0."""
        return self.pair.delta(epsilon) if self.renyi is None else quick_rdp_to_delta(*self.renyi, epsilon)

    def value(self, order: float | None, delta: float | None) -> float:
        """Epsilon at the given order or delta; mu^2 if both are None."""
        if delta is not None:
            return self.dp(delta)
        return self.pair.cost if order is None else self.rdp(order)
