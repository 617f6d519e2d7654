"""What dominates a last iterate: one Gaussian release composed with independent sampled Gaussian ones.

Every bound for random batches has this form. The shifts of a window cost one Gaussian of mu^2 = sum a_t^2 /
((1 - beta_t) sigma_t^2), the change of the data in step t of the window one sampled Gaussian with the share beta_t of
the noise. The last iterates of two runs on adjacent data sets are then dominated by the composition, whichever of the
two laws is the numerator. How that turns into a number at one order or at one delta is elsewhere.

Source: docs/proofs/without_replacement.md (claims ours/sampled/*); composition of trade-off functions: Dong, Roth & Su
2022, theorem 4; dominating pairs: Zhu, Dong & Wang 2022, theorem 10.
"""

from dataclasses import dataclass

__all__ = ["Composed", "SampledStep"]


@dataclass(frozen=True)
class SampledStep:
    """Equal steps whose batch may hold the sample that differs.

    Attributes:
        rate: chance q that a batch holds the sample, rounded up.
        multiplier: noise that hides the change of the data, over the greatest distance of two outcomes of the step
            (2 eta K / b for "replace", eta K / b for "add_remove"); rounded down.
        adjacency: "replace", dominated by advanced joint convexity (`divergences.replacement_step`); or "add_remove",
            dominated by the pair of S_up and S_down.
        count: number of such steps.
    """

    rate: float
    multiplier: float
    adjacency: str
    count: int


@dataclass(frozen=True)
class Composed:
    """A composition that dominates a last iterate.

    Attributes:
        cost: mu^2 of the Gaussian part, rounded up.
        steps: the sampled parts.
        failure: chance of the event outside which this holds, rounded up; it is added to delta.
    """

    cost: float
    steps: tuple[SampledStep, ...] = ()
    failure: float = 0.0
