"""Epsilon of a composition through privacy-loss distributions, as a rigorous upper bound.

The losses of each release are put on a lattice (`privacy_loss`), convolved as often as it is made, and read off at
delta, with every rounding accounted for (`tilted`). A composition that adds or removes a sample is priced in both
directions; one that replaces a sample has one profile for both.

Source: Zhu, Dong & Wang 2022, theorem 10 (pairs that dominate compose); claims ours/pld/*.
"""

from collections.abc import Sequence
from math import ceil, inf

from lastiterate.numeric.accounting.dominating import Composed, SampledStep
from lastiterate.numeric.accounting.gdp import gdp_epsilon
from lastiterate.numeric.accounting.pld_fft import Composition
from lastiterate.numeric.accounting.pld_lattice import Release
from lastiterate.numeric.rounding import exact, lower, precision, upper

__all__ = ["composed_epsilon", "releases", "sides"]

_MOST_KINDS = 12


def composed_epsilon(composed: Composed, delta: float) -> float:
    """Epsilon of (epsilon, delta)-DP of a composition, rounded up; of either law from the other.

    Args:
        composed: what dominates a last iterate.
        delta: in (0, 1).

    Returns:
        A rigorous upper bound, usually within 0.3% of the least; inf where delta is at most the chance of failure.

    >>> round(composed_epsilon(Composed(0.0, (SampledStep(0.01, 1.0, "add_remove", 1000),)), 1e-5), 2)
    1.83
    """
    with precision():
        left = lower(exact(delta) - exact(composed.failure))
    if not left > 0:
        return inf
    return max(_one_side(composed, side, left) for side in sides(composed))


def sides(composed: Composed) -> tuple[str, ...]:
    """The directions that have profiles of their own: "remove" and "add", or "replace" for both at once."""
    adding = any(step.adjacency == "add_remove" and step.rate < 1 for step in composed.steps)
    return ("remove", "add") if adding else ("replace",)


def releases(composed: Composed, side: str) -> list[Release]:
    """The composition seen from one side: every mixture, and all that is Gaussian in one release.

    Args:
        composed: what dominates a last iterate.
        side: "remove" or "add", the direction of steps that add or remove a sample; the others have no direction.
    """
    found: list[Release] = []
    with precision():
        cost = exact(composed.cost)
        for step in _few(composed.steps):
            gap = 1 / exact(step.multiplier)
            if step.rate >= 1:
                cost += step.count * gap**2
            else:
                found.append(Release(step.rate, gap, "replace" if step.adjacency == "replace" else side, step.count))
        if upper(cost) > 0:
            found.append(Release(1.0, exact(upper(cost.sqrt())), "remove", 1))
    return found


def _few(steps: Sequence[SampledStep]) -> list[SampledStep]:
    """At most a dozen kinds of steps; a schedule is cut into runs, each priced by its highest rate and least noise."""
    counts: dict[SampledStep, int] = {}
    for step in steps:
        kind = SampledStep(step.rate, step.multiplier, step.adjacency, 1)
        counts[kind] = counts.get(kind, 0) + step.count
    merged: list[SampledStep] = []
    for adjacency in sorted({kind.adjacency for kind in counts}):
        kinds = sorted((k for k in counts if k.adjacency == adjacency), key=lambda k: (k.multiplier, k.rate))
        size = ceil(len(kinds) / _MOST_KINDS)
        for first in range(0, len(kinds), size):
            group = kinds[first : first + size]
            rate, noise = max(k.rate for k in group), min(k.multiplier for k in group)
            merged.append(SampledStep(rate, noise, adjacency, sum(counts[k] for k in group)))
    return merged


def _one_side(composed: Composed, side: str, delta: float) -> float:
    found = releases(composed, side)
    if not found:
        return 0.0
    if len(found) == 1 and found[0].rate == 1:
        return gdp_epsilon(upper(found[0].gap), delta)
    composition = Composition.of(found, delta)
    return inf if composition is None else composition.epsilon(delta)
