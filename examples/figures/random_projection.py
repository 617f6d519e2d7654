"""SGD with random projections of gradients: description, cost of a step, and bound by composition.

A step clips automatically, projects layer by layer, adds noise *after* the projection, and maps back:

    W <- W - step_size A (A^T g / sqrt(p) + N(0, noise_std^2 I)),   g = 1/b sum over the batch of g_i / (|g_i| + gamma)

for a batch of b samples with gradients g_i, and for every layer a fresh A with independent N(0, sigma_A^2)
entries, independent of the data.

Let Delta be the distance between two gradients, s = noise_std, R = Delta^2 sigma_A^2 / (p s^2), M(w) = (1 - w
R)^(-p/2) if w R < 1. Then (alpha - 1) times the Renyi divergence between two pairs (A, output) is at most

    log M(alpha (alpha - 1))                                     if the differing sample is in the batch;
    log(1 - q + q M(alpha (alpha - 1)))                          if this has probability q and is revealed;
    log sum_j C(alpha, j) (1 - q)^(alpha - j) q^j M(j (j - 1))   if this has probability q and is hidden, for
                                                                 an integer alpha and add-remove adjacency.

Divergences add up over the steps. Delta is 2/b under replace-one and 1/b under add-remove adjacency, and p is
the smallest projected dimension of all layers. In an epoch of fixed or shuffled batches, one step uses the
sample: at worst, the step with the least noise. With clipping after the projection, or without a projection,
a step is a Gaussian mechanism of sensitivity Delta.

Source: D2P2-SGD, algorithms 1 to 3. Its algorithm 1 discards the last update; here, all updates are kept.
docs/proofs/random_projection.md proves the cost, which replaces the paper's refuted Theorem 1; claims
d2p2/theorem_1/projected_step, ours/projection/*, d2p2/algorithm_1/sensitivity_repaired.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any, ClassVar, Final

import numpy as np
from flint import arb
from scipy.special import gammaln

from lastiterate.numeric.accounting.conversion import rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.display import Displayed, TextTable, facts, printed_loss
from lastiterate.numeric.errors import (
    InputError,
    count,
    order_or_delta,
    portion,
    positive,
    renyi_order,
    teaches,
    within,
)
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD, Schedule, StepSchedule
from lastiterate.numeric.schemes import SCHEMES

_AS_A_RUN: Final = ("steps", "step_size", "noise_std", "dataset_size", "batch_size", "sampling", "adjacency")
_HIGHEST_WHOLE_ORDER = 128
"""Largest order for which the binomial sum is worth its time."""
_ORDERS, _TRIES = 200, 3
"""Number of orders tried in floats (plus a quarter as many integers), and number of the best computed rigorously."""


@teaches()
@dataclass(frozen=True)
class RandomProjectionRun(StepSchedule):
    """SGD with automatic clipping and noise after a random projection: D2P2-SGD, DP2-SGD and D2P-SGD.

    Attributes:
        steps: number of updates K.
        step_size: alpha of the paper, a length; one number or one per step; irrelevant to privacy.
        noise_std: sigma_epsilon,k, standard deviation of the noise per coordinate of the projected mean
            gradient, in units of the clip norm 1; one number (DP2-SGD) or one per step (`d2p2`).
        ranks: p, the projected dimension of each trained tensor, in order; () for no projection (D2P-SGD).
        dataset_size, batch_size, sampling, adjacency: as in `lastiterate.numeric.run.NoisySGD`.
        entry_std: sigma_A, standard deviation of the entries of A, dimensionless.
        stability: gamma of automatic clipping, a gradient norm.
        clip: "before" the projection, as in the paper; or "after" it: each projected gradient r becomes r /
            (|r| + gamma), for any A, as in ordinary DP-SGD.

    Raises:
        InputError: a value is out of range.

    >>> RandomProjectionRun.d2p2(steps=4, step_size=0.01, noise_std=3.0, ranks=[5], dataset_size=10).noise_std[3]
    1.5
    """

    steps: int
    step_size: Schedule
    noise_std: Schedule
    ranks: tuple[int, ...]
    dataset_size: int
    batch_size: int | None = None
    sampling: str = "full"
    entry_std: float = 1.0
    stability: float = 0.01
    clip: str = "before"
    adjacency: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        checked = NoisySGD(clip_norm=1.0, **{name: getattr(self, name) for name in _AS_A_RUN})
        for name in _AS_A_RUN:
            put(self, name, getattr(checked, name))
        if isinstance(self.ranks, str) or not isinstance(self.ranks, Sequence):
            raise InputError(
                f"ranks needs one whole number for each trained tensor, got ranks={self.ranks!r}; give for example "
                "three tenths of each size, rounded up."
            )
        put(self, "ranks", tuple(count(f"ranks[{i}]", rank) for i, rank in enumerate(self.ranks)))
        put(self, "entry_std", positive("entry_std", self.entry_std))
        put(self, "stability", positive("stability", self.stability))
        if self.clip not in ("before", "after"):
            raise InputError(
                f"clip needs 'before' or 'after' the projection, got clip={self.clip!r}; choose one."
            )

    @classmethod
    def d2p2(cls, *, steps: int, noise_std: float, **rest: Any) -> "RandomProjectionRun":
        """Describe D2P2-SGD, with noise ``noise_std`` / sqrt(k) in step k = 1, 2, ..."""
        first = positive("noise_std", noise_std)
        decaying = tuple(first / k**0.5 for k in range(1, count("steps", steps) + 1))
        return cls(steps=steps, noise_std=decaying, **rest)

    def _dear_steps(self) -> Counter[float]:
        """Count the steps that may use the differing sample, by noise level."""
        noises = [self.noise_std_at(t) for t in range(self.steps)]
        every = 1 if SCHEMES[self.sampling].random else self.batches
        return Counter(min(noises[start : start + every]) for start in range(0, self.steps, every))

    def _rate(self) -> float:
        with precision():
            random = SCHEMES[self.sampling].random
            return min(upper(arb(self.batch) / self.dataset_size), 1.0) if random else 1.0

    def _moves(self) -> int:
        """Number of clipped gradients by which the sums of two batches can differ."""
        return 1 if self.adjacency == "add_remove" else 2

    def _sizes(self) -> dict[str, Any]:
        with precision():
            sensitivity = upper(arb(self._moves()) / self.batch)
        return {"sensitivity": sensitivity, "dimension": min(self.ranks), "entry_std": self.entry_std}

    def _assumptions(self) -> tuple[str, ...]:
        differ = (
            "by replacing one sample" if self.adjacency == "replace" else "by adding or removing one sample"
        )
        first = {
            "": "gradients are not projected",
            "before": "the sum of the clipped gradients is projected by matrices with independent Gaussian entries, "
            "fresh in every step and drawn independently of the data",
            "after": "per-sample gradients are clipped after their projection",
        }
        return (
            "per-sample gradients are clipped automatically to norm 1; nothing is assumed of the losses",
            first[self.clip if self.ranks else ""],
            f"batches are drawn as sampling={self.sampling!r} says, and the data sets differ {differ}",
            "isotropic Gaussian noise is added to the mean, and projected if the mean is; every step may be released",
        )


def projection_rdp(
    order: float,
    *,
    sensitivity: float,
    noise_std: float,
    dimension: int,
    entry_std: float = 1.0,
    rate: float = 1.0,
    adjacency: str = "replace",
) -> float:
    """Upper bound on the Renyi divergence of one step given A, rounded up; infinite from `order_limit` on.

    Args:
        order: alpha > 1.
        sensitivity: Delta, the largest distance between two gradients before the projection.
        noise_std: s, standard deviation of the noise per coordinate, in the unit of Delta.
        dimension: p, the smallest projected dimension of all layers.
        entry_std: sigma_A, dimensionless.
        rate: probability q that the batch holds the differing sample.
        adjacency: "add_remove" or "replace".

    Raises:
        InputError: an argument is out of range.

    >>> round(projection_rdp(2.0, sensitivity=1.0, noise_std=2.0, dimension=1), 6)
    0.346574
    """
    order, ratio = renyi_order(order), _ratio(sensitivity, noise_std, dimension, entry_std)
    rate = portion("rate", rate, "a probability in (0, 1]", "give batch_size / dataset_size.")
    with precision():
        moment = _moment(exact(order) * (exact(order) - 1), ratio, dimension)
        found = max(upper((1 + exact(rate) * (moment - 1)).log() / (exact(order) - 1)), 0.0)
        if rate < 1 and adjacency == "add_remove" and order <= _HIGHEST_WHOLE_ORDER:
            found = min(found, _hidden(ceil(order), ratio, dimension, exact(rate)))  # increases in the order
        return found


def order_limit(*, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0) -> float:
    """Order, rounded down, below which the divergence of one projected step is finite.

    Arguments are as in `projection_rdp`; for several steps, use the smallest noise.

    >>> order_limit(sensitivity=1.0, noise_std=1.0, dimension=2)
    2.0
    """
    ratio = _ratio(sensitivity, noise_std, dimension, entry_std)
    with precision():
        return inf if ratio == 0 else lower((1 + (1 + 4 / ratio).sqrt()) / 2)


def _hidden(order: int, ratio: arb, dimension: int, rate: arb) -> float:
    """Divergence by the binomial sum, if the presence of the sample is not revealed."""
    total = weight = (1 - rate) ** order
    for j in range(1, order + 1):
        weight *= rate / (1 - rate) * (order - j + 1) / j
        total += weight * _moment(arb(j * (j - 1)), ratio, dimension)
    return max(upper(total.log() / (order - 1)), 0.0)


def _moment(load: arb, ratio: arb, dimension: int) -> arb:
    left = 1 - load * ratio
    return left ** (-arb(dimension) / 2) if left > 0 else arb("inf")


def _ratio(sensitivity: float, noise_std: float, dimension: int, entry_std: float) -> arb:
    need = "a finite number that is at least 0"
    sensitivity = within("sensitivity", sensitivity, need, lambda x: 0 <= x < inf, "clip gradients.")
    dimension = count("dimension", dimension)
    with precision():
        length = (
            exact(sensitivity)
            * exact(positive("entry_std", entry_std))
            / exact(positive("noise_std", noise_std))
        )
        return length**2 / dimension


@teaches()
@dataclass(frozen=True)
class ProjectionBound(Displayed):
    """A rigorous upper bound for a run with random projections, rounded up, in both directions.

    If a delta is given, ``order`` is the order of the Renyi bound from which epsilon was converted, or None.
    """

    run: RandomProjectionRun
    epsilon: float
    order: float | None
    delta: float | None
    route: str
    claim: str
    assumptions: tuple[str, ...]
    _kind: ClassVar = "bound"
    _named: ClassVar = "epsilon order delta route claim assumptions"

    def __str__(self) -> str:
        return printed_loss(self.epsilon, self.order, self.delta)

    def table(self) -> TextTable:
        values = {"all iterates are": str(self), "by": self.route, "claim": self.claim}
        return facts("A bound, rounded up", values, self.assumptions)


@teaches()
def projection_bound(
    run: RandomProjectionRun, *, order: float | None = None, delta: float | None = None
) -> ProjectionBound:
    """Bound the privacy loss of a run with random projections, at a Renyi order > 1 or a delta in (0, 1).

    Raises:
        InputError: an argument is invalid, or the divergence is infinite at the order.

    >>> run = RandomProjectionRun.d2p2(steps=10, step_size=0.01, noise_std=3.0, ranks=[40, 8], dataset_size=50)
    >>> print(projection_bound(run, delta=1e-5))
    (0.394687, 1e-05)-DP
    """
    if not isinstance(run, RandomProjectionRun):
        raise InputError(
            f"projection_bound needs a RandomProjectionRun, got run={type(run).__name__}; for a NoisySGD, call bound."
        )
    order, delta = order_or_delta("projection_bound", order, delta)
    claim, route = "d2p2/algorithm_1/sensitivity_repaired", "composition"
    if run.clip == "after" or not run.ranks:
        pair = _gaussian_pair(run)
        epsilon = pair.dp(delta) if delta is not None else pair.rdp(order or 2.0)
        route += " through PLD" if delta is not None else ""
    else:
        claim = "ours/projection/layers" if len(run.ranks) > 1 else "ours/projection/theorem"
        if delta is not None:
            (epsilon, order), route = _converted(run, delta), "composition through RDP"
        elif not isfinite(epsilon := _composed(run, order or 2.0)):
            raise InputError(
                f"order must be below {order_limit(noise_std=min(run._dear_steps()), **run._sizes()):g}, where "
                f"this run's Renyi divergence becomes infinite, got order={order:g}; ask for a delta, or clip after "
                "the projection."
            )
    return ProjectionBound(run, epsilon, order, delta, route, claim, run._assumptions())


def _gaussian_pair(run: RandomProjectionRun) -> DominatingPair:
    steps, rate, moves = run._dear_steps(), run._rate(), run._moves()
    with precision():
        if rate < 1:
            scale = exact(float(run.batch)) / moves
            sampled = (SampledSteps(rate, lower(exact(s) * scale), run.adjacency, k) for s, k in steps.items())
            return DominatingPair(0.0, tuple(sampled))
        cost = sum((k * (arb(moves) / (run.batch * exact(s))) ** 2 for s, k in steps.items()), arb(0))
        return DominatingPair(upper(cost))


def _composed(run: RandomProjectionRun, order: float) -> float:
    step: dict[str, Any] = run._sizes() | {"rate": run._rate(), "adjacency": run.adjacency}
    with precision():
        costs = (
            k * exact(projection_rdp(order, noise_std=noise, **step)) for noise, k in run._dear_steps().items()
        )
        return upper(sum(costs, arb(0)))


def _converted(run: RandomProjectionRun, delta: float) -> tuple[float, float]:
    least = min(run._dear_steps())
    limit = order_limit(noise_std=least, **run._sizes())
    excess = min(limit - 1, 1e5) * np.geomspace(1e-6, 1, _ORDERS, endpoint=False)
    whole = np.unique(np.geomspace(2, _HIGHEST_WHOLE_ORDER, _ORDERS // 4).round())
    orders = np.concatenate([1 + excess, whole[whole < limit]])
    orders = orders[orders > 1]
    guess = np.array([_guess(run, order) for order in orders])
    guess += np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    for order in map(float, orders[np.argsort(guess)[:_TRIES]]):  # the first, unless rounding passes the limit
        epsilon = rdp_to_dp(order, _composed(run, order), delta)
        if isfinite(epsilon):
            return epsilon, order
    raise InputError(
        f"A finite epsilon needs more noise, got noise_std={least:g} for batches of {run.batch} and ranks of at least "
        f"{min(run.ranks)}; raise noise_std, or clip after the projection."
    )


def _guess(run: RandomProjectionRun, order: float) -> float:
    steps, rate, sizes, p = run._dear_steps(), run._rate(), run._sizes(), min(run.ranks)
    noises, times = np.array(list(steps)), np.array(list(steps.values()), dtype=float)
    ratio = (sizes["sensitivity"] * run.entry_std / noises) ** 2 / p

    def log_moment(load: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            left = load * ratio[:, None]
            return np.where(left < 1, -p / 2 * np.log1p(-left), inf)

    if rate < 1 and run.adjacency == "add_remove" and order <= _HIGHEST_WHOLE_ORDER:
        top = ceil(order)
        j = np.arange(top + 1.0)
        terms = gammaln(top + 1) - gammaln(j + 1) - gammaln(top - j + 1)
        terms = terms + j * np.log(rate) + (top - j) * np.log1p(-rate) + log_moment(j * (j - 1))
        return float(times @ np.logaddexp.reduce(terms, axis=1) / (top - 1))
    moment = log_moment(np.array([order * (order - 1)]))[:, 0]
    met = np.logaddexp(np.log1p(-rate), np.log(rate) + moment) if rate < 1 else moment
    return float(times @ met / (order - 1))
