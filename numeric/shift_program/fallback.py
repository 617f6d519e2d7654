"""A bound in balls alone, which know no least and no greatest number, for runs beyond the reach of floats.

What needs no search:

    composition     every update that may meet the sample pays for its own sensitivity, (s_t / sigma_t)^2 each
    one last step   e(D)^2 / sigma^2, where batches have a fixed size

Little is lost: where two lengths differ by a factor of 1e30, one of the two is the optimum but for a factor near 1.
Random batches are taken to meet the sample in every step.

Source: claims chien_li/theorem_3_1/composition and chien_li/remarks_3_1/last_step.
"""

from math import isfinite

from flint import arb

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum
from lastiterate.numeric.shift_program.paths import GeometricPath

__all__ = ["plain_optimum"]


def plain_optimum(run: NoisySGD, assumption: Assumption) -> tuple[int, Optimum]:
    """The cheaper of composition and one last step, enclosed in balls; for runs that `extreme` names.

    Args:
        run: any run; random batches are taken to meet the sample in every step.
        assumption: what is assumed of the losses.

    Returns:
        The batch of an epoch in which the sample costs most, and the path.

    Raises:
        InputError: the assumption does not allow a step size.
    """
    with precision():
        for t in {run.step_size_at(t): t for t in range(1 if run.constant else run.steps)}.values():
            assumption.expansion(run, t, differs=True)
        position, cost = _composition(run)
        unit = exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch
        found = Optimum(cost, GeometricPath(0, 0.0, upper(2 * unit), 1.0, run.steps), "composition")
        if isfinite(run.diameter) and run.sampling != "poisson":
            last = run.steps - 1
            reach = assumption.expansion(run, last, differs=True).ball(exact(run.diameter))
            cost = (reach / exact(run.noise_std_at(last))) ** 2
            if cost.is_finite() and not cost >= found.cost:
                found = Optimum(cost, GeometricPath(last, run.diameter, upper(reach), 1.0, 1), "one last step")
        return position, found


def _composition(run: NoisySGD) -> tuple[int, arb]:
    """The batch that costs most, and the sum over the updates that meet it."""
    samples = 1 if run.adjacency == "add_remove" else 2

    def price(t: int) -> arb:
        moved = samples * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch
        return (moved / exact(run.noise_std_at(t))) ** 2

    every = run.period
    if run.constant:
        last = every - 1 if run.scheme.name == "shuffled" else (run.steps - 1) % every
        return last, -(-run.steps // every) * price(0)
    prices = [price(t) for t in range(run.steps)]
    if run.scheme.name == "shuffled":  # at its worst the sample is where each epoch costs most
        return every - 1, sum((max(prices[t : t + every], key=upper) for t in range(0, run.steps, every)), arb(0))
    totals = {p: sum(prices[p::every], arb(0)) for p in range(min(every, run.steps))}
    worst = max(totals, key=lambda p: upper(totals[p]))
    return worst, totals[worst]
