"""A rigorous privacy bound for SGD with random projections, by composition of its steps.

All matrices and all projected noisy gradients together, and so the last iterate, are (alpha, epsilon)-RDP with epsilon
the sum over the steps of `random_projection.projection_rdp`; Delta is 2 / b where one sample is replaced and 1 / b
where one is there or not, p the least rank of all layers. In an epoch of fixed or shuffled batches one step holds the
sample, at worst the one with the least noise. Where clipping comes after the projection, or there is none, every step
is a Gaussian mechanism of sensitivity Delta. Of the losses nothing is assumed, and no convergence is claimed.

Source: docs/proofs/random_projection.md; claims d2p2/theorem_1/projected_step, ours/projection/*,
d2p2/algorithm_1/sensitivity_repaired.
"""

from collections import Counter
from dataclasses import dataclass, fields
from math import ceil, inf, isfinite

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import gammaln

from lastiterate.numeric.accounting.conversion import rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledStep
from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import InputError, order_or_delta
from lastiterate.numeric.random_projection.cost import HIGHEST_WHOLE_ORDER, order_limit, projection_rdp
from lastiterate.numeric.random_projection.run import RandomProjectionRun
from lastiterate.numeric.rounding import exact, lower, precision, printed_up, upper
from lastiterate.numeric.schemes import SCHEMES

_ORDERS = 200
"""Orders looked at, in floats, for one delta, and as many whole ones; the best is then computed rigorously."""
_TRIES = 3


@teaches()
@dataclass(frozen=True)
class ProjectionBound(Displayed):
    """A rigorous upper bound for a run with random projections; rounded up, of either law from the other.

    Attributes:
        run: the run.
        epsilon: of (order, epsilon)-RDP, or of (epsilon, delta)-DP where delta is not None.
        order: alpha > 1; with a delta, the order that was converted, None where it was not a Renyi bound.
        delta: in (0, 1), or None.
        route: through what the composition went.
        claim: key of the ledger's claim behind the number.
        assumptions: what it rests on.
    """

    run: RandomProjectionRun
    epsilon: float
    order: float | None
    delta: float | None
    route: str
    claim: str
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        """The number, rounded up to six digits."""
        if self.delta is None:
            return f"({self.order:g}, {printed_up(self.epsilon)})-RDP"
        return f"({printed_up(self.epsilon)}, {self.delta:g})-DP"

    def as_dict(self) -> dict[str, object]:
        """The number and what it rests on, ready for JSON."""
        told: dict[str, object] = {"kind": "bound"}
        told |= {f.name: getattr(self, f.name) for f in fields(self) if f.name != "run"}
        return told | {"assumptions": list(self.assumptions)}

    def table(self) -> TextTable:
        """The number and what it rests on."""
        values = {"all iterates are": str(self), "by": self.route, "claim": self.claim}
        return facts("A bound, rounded up", values, self.assumptions)


@teaches()
def projection_bound(
    run: RandomProjectionRun, *, order: float | None = None, delta: float | None = None
) -> ProjectionBound:
    """Bound the privacy loss of a run with random projections.

    Args:
        run: the run.
        order: alpha > 1 for (alpha, epsilon)-RDP, or
        delta: in (0, 1) for (epsilon, delta)-DP; one of the two.

    Returns:
        A rigorous upper bound.

    Raises:
        InputError: it is no such run, not exactly one of order and delta is given, one is out of range, or the order
            is one from which on the divergence is infinite: a Gaussian matrix can be of any length.

    >>> run = RandomProjectionRun.d2p2(steps=10, step_size=0.01, noise_std=3.0, ranks=[40, 8], dataset_size=50)
    >>> print(projection_bound(run, delta=1e-5))
    (0.394687, 1e-05)-DP
    """
    if not isinstance(run, RandomProjectionRun):
        raise InputError(
            f"projection_bound needs a RandomProjectionRun, got run={type(run).__name__}; of a NoisySGD call bound."
        )
    order, delta = order_or_delta("projection_bound", order, delta)
    if run.clip == "after" or not run.ranks:
        pair = _gaussian(run)
        claim, epsilon, route = "d2p2/algorithm_1/sensitivity_repaired", inf, "composition"
        if order is not None:
            epsilon = pair.rdp(order)
        if delta is not None:
            epsilon, route = pair.dp(delta), "composition through PLD"
        return ProjectionBound(run, epsilon, order, delta, route, claim, _stated(run))
    claim = "ours/projection/layers" if len(run.ranks) > 1 else "ours/projection/theorem"
    if delta is not None:
        epsilon, order = _converted(run, delta)
        return ProjectionBound(run, epsilon, order, delta, "composition through RDP", claim, _stated(run))
    assert order is not None  # noqa: S101  # one of the two, see above
    epsilon = _rdp(run, order)
    if not isfinite(epsilon):
        raise InputError(
            f"order needs to be below {_limit(run):g}, where this run's Renyi divergence becomes infinite, got "
            f"order={order:g}; ask for a delta, or clip after the projection."
        )
    return ProjectionBound(run, epsilon, order, None, "composition", claim, _stated(run))


def _dear_steps(run: RandomProjectionRun) -> Counter[float]:
    """The noise of every step that may hold the sample that differs, and how often it comes."""
    noises = [run.noise_std_at(t) for t in range(run.steps)]
    if SCHEMES[run.sampling].random:
        return Counter(noises)
    return Counter(min(noises[start : start + run.batches]) for start in range(0, run.steps, run.batches))


def _rate(run: RandomProjectionRun) -> float:
    if not SCHEMES[run.sampling].random:
        return 1.0
    with precision():
        return min(upper(arb(run.batch) / run.dataset_size), 1.0)


def _moves(run: RandomProjectionRun) -> int:
    """By how many clipped gradients the sum of a batch can differ."""
    return 1 if run.adjacency == "add_remove" else 2


def _sensitivity(run: RandomProjectionRun) -> float:
    with precision():
        return upper(arb(_moves(run)) / run.batch)


def _gaussian(run: RandomProjectionRun) -> DominatingPair:
    """The pair that dominates the run where gradients are clipped after their projection."""
    steps, rate = _dear_steps(run), _rate(run)
    with precision():
        if rate < 1:
            scale = exact(float(run.batch)) / _moves(run)
            sampled = (SampledStep(rate, lower(exact(s) * scale), run.adjacency, k) for s, k in steps.items())
            return DominatingPair(0.0, tuple(sampled))
        cost = sum((k * (arb(_moves(run)) / (run.batch * exact(s))) ** 2 for s, k in steps.items()), arb(0))
        return DominatingPair(upper(cost))


def _rdp(run: RandomProjectionRun, order: float) -> float:
    """The sum of the steps' divergences, rounded up."""
    delta, rate = _sensitivity(run), _rate(run)
    total = arb(0)
    with precision():
        for noise, times in _dear_steps(run).items():
            step = projection_rdp(
                order,
                sensitivity=delta,
                noise_std=noise,
                dimension=min(run.ranks),
                entry_std=run.entry_std,
                rate=rate,
                adjacency=run.adjacency,
            )
            total += times * exact(step)
        return upper(total)


def _limit(run: RandomProjectionRun) -> float:
    return order_limit(
        sensitivity=_sensitivity(run),
        noise_std=min(_dear_steps(run)),
        dimension=min(run.ranks),
        entry_std=run.entry_std,
    )


def _converted(run: RandomProjectionRun, delta: float) -> tuple[float, float]:
    """The least epsilon found for the delta, and its order: floats look, balls compute."""
    limit = _limit(run)
    excess = min(limit - 1, 1e5) * np.geomspace(1e-6, 1, _ORDERS, endpoint=False)
    whole = np.unique(np.geomspace(2, HIGHEST_WHOLE_ORDER, _ORDERS // 4).round())
    orders = np.concatenate([1 + excess, whole[whole < limit]])
    orders = orders[orders > 1]
    guess = np.array([_guess(run, order) for order in orders])
    guess += np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    for order in map(float, orders[np.argsort(guess)[:_TRIES]]):  # the first, unless it rounds past the limit
        epsilon = rdp_to_dp(order, _rdp(run, order), delta)
        if isfinite(epsilon):
            return epsilon, order
    raise InputError(
        f"A finite epsilon needs more noise, got noise_std={min(_dear_steps(run)):g} for batches of {run.batch} "
        f"and ranks of at least {min(run.ranks)}; raise it, or clip after the projection."
    )


def _guess(run: RandomProjectionRun, order: float) -> float:
    """About what `_rdp` gives, in floats."""
    steps, rate, p = _dear_steps(run), _rate(run), min(run.ranks)
    noises, times = np.array(list(steps)), np.array(list(steps.values()), dtype=float)
    ratio = (_sensitivity(run) * run.entry_std / noises) ** 2 / p

    def log_moment(load: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            left = load * ratio[:, None]
            return np.where(left < 1, -p / 2 * np.log1p(-left), inf)

    moment = log_moment(np.array([order * (order - 1)]))[:, 0]
    if rate < 1 and run.adjacency == "add_remove" and order <= HIGHEST_WHOLE_ORDER:
        top = ceil(order)
        j = np.arange(top + 1.0)
        terms = gammaln(top + 1) - gammaln(j + 1) - gammaln(top - j + 1)
        terms = terms + j * np.log(rate) + (top - j) * np.log1p(-rate) + log_moment(j * (j - 1))
        sums = np.logaddexp.reduce(terms, axis=1) / (top - 1)
    elif rate < 1:
        sums = np.logaddexp(np.log1p(-rate), np.log(rate) + moment) / (order - 1)
    else:
        sums = moment / (order - 1)
    return float(times @ sums)


def _stated(run: RandomProjectionRun) -> tuple[str, ...]:
    """The assumptions of a number for the run, in words."""
    differ = "by replacing one sample" if run.adjacency == "replace" else "in that one sample is there or not"
    first = {
        "": "gradients are not projected",
        "before": "the sum of the clipped gradients is projected by matrices with independent Gaussian entries, fresh "
        "in every step and drawn independently of the data",
        "after": "per-sample gradients are clipped after their projection",
    }
    return (
        "per-sample gradients are clipped automatically to norm 1; nothing is assumed of the losses",
        first[run.clip if run.ranks else ""],
        f"batches are drawn as sampling={run.sampling!r} says, and the data sets differ {differ}",
        "isotropic Gaussian noise is added to the mean, projected if it is; every step may be released",
    )
