"""Runs and bounds in the words of dp_accounting, and back.

An event says what is released in every step, so it is the view of composition: that only the last iterate is released
has no event. A bound as a privacy-loss distribution has that in it, and composes with other releases.

dp_accounting's noise_multiplier is the noise over the norm of one sample's part, also under replacement. Here it is
always the noise over the sensitivity: 2 eta K / b under replace-one adjacency, eta K / b under add/remove adjacency.

Needs dp_accounting (pip install 'lastiterate[dp-accounting]').
"""

from collections import Counter
from itertools import groupby
from math import ceil, inf, isfinite, log
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.batches import rate
from lastiterate.numeric.accounting.conversion import quick_rdp_to_dp, rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.accounting.pld import Composition, from_profile
from lastiterate.numeric.bound import Bound
from lastiterate.numeric.contraction.block import DiscretePair
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.errors import InputError, count, positive, teaches, within
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.numeric.shuffling.shuffled import View, mean_routes

if TYPE_CHECKING:
    from dp_accounting import DpEvent
    from dp_accounting.pld.pld_pmf import DensePLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_SPLIT = 1 + 1e-9
"""Covers the rounding of a loss that is split between two points of the caller's grid."""
_MOST_POINTS = 10**7
_ORDERS, _FEW = (0.5, 15.0, 13), 2
"""(order - 1) mu of the first and the last Renyi order of a mean, and how many; how many are tried at a delta."""
_LARGEST, _RATIO = 0.9, 0.25
"""The largest delta at which a profile is read off, and the logarithm of the ratio of each to the next."""
_QUOTIENT = 1e-15
"""Covers the rounding of batch size over data size and of its product with data size, relatively."""


@teaches()
def to_dp_event(run: NoisySGD) -> "DpEvent":
    """The composition of every step of the run, as dp_accounting describes it.

    Batches in a fixed order, and shuffled ones, meet a sample once an epoch: one Gaussian an epoch, for a schedule that
    of its dearest step. The projection, and that only the last iterate is released, have no event. Multipliers are
    rounded down, sampling probabilities up.

    >>> to_dp_event(NoisySGD(10, step_size=0.1, noise_std=0.4, clip_norm=2, dataset_size=5)).count
    10
    """
    events = _dp_accounting()
    described_run("to_dp_event", run)
    every = run.period
    if run.constant:
        kinds = Counter({_multiplier(run, 0): -(-run.steps // every)})
    else:
        noises = [_multiplier(run, t) for t in range(run.steps)]
        kinds = Counter(min(noises[t : t + every]) for t in range(0, run.steps, every))
    parts = [events.SelfComposedDpEvent(_step(run, noise), times) for noise, times in sorted(kinds.items())]
    return parts[0] if len(parts) == 1 else events.ComposedDpEvent(parts)


@teaches()
def from_dp_event(
    event: "DpEvent", *, step_size: float, clip_norm: float, dataset_size: int, diameter: float = inf
) -> NoisySGD:
    """The run that an event describes, its noise rounded down; what events do not hold is given beside it.

    The event is a Gaussian, sampled or not, composed with itself or with others of its kind; a plain one is a step on
    the full batch.

    Raises:
        InputError: the event is of another kind, mixes kinds, or does not fit ``dataset_size``.

    >>> run = NoisySGD(10, step_size=0.1, noise_std=0.4, clip_norm=2, dataset_size=5)
    >>> back = from_dp_event(to_dp_event(run), step_size=0.1, clip_norm=2, dataset_size=5)
    >>> back.steps, round(back.noise_std, 12)
    (10, 0.4)
    """
    events = _dp_accounting()
    n = count("dataset_size", dataset_size)
    found = list(_flat(events, event, 1))
    if not found:
        raise InputError("event needs at least one Gaussian step, got an event without any; describe the training.")
    kinds = {one[:2] for one in found}
    if len(kinds) > 1:
        raise InputError(
            f"event needs one kind of sampling, got {len(kinds)} kinds, such as {sorted(map(str, kinds))[0]}; "
            "account for the parts by themselves and compose their PLDs (to_pld)."
        )
    sampling, drawn = kinds.pop()
    batch = _batch(sampling, drawn, n)
    eta, clip = positive("step_size", step_size), positive("clip_norm", clip_norm)
    with precision():
        unit = exact(eta) * exact(clip) / batch * (2 if SCHEMES[sampling].adjacency == "replace" else 1)
        noises = [
            (lower(exact(positive("noise_multiplier", noise)) * unit), sum(one[3] for one in group))
            for noise, group in groupby(found, key=lambda one: one[2])
        ]
    same = len({noise for noise, _ in noises}) == 1
    return NoisySGD(
        steps=sum(times for _, times in noises),
        step_size=eta,
        noise_std=noises[0][0] if same else tuple(noise for noise, times in noises for _ in range(times)),
        clip_norm=clip,
        dataset_size=n,
        batch_size=batch,
        sampling=sampling,
        diameter=diameter,
    )


@teaches()
def to_pld(bound: Bound, *, discretization: float = 1e-4, tail_mass: float = 1e-12) -> "PrivacyLossDistribution":
    """The privacy-loss distribution of a bound, which composes with other releases.

    Args:
        bound: a rigorous bound.
        discretization: grid of the losses; those that are composed need the same.
        tail_mass: about the mass that may move to an infinite loss; far below any delta of interest.

    Returns:
        A pessimistic `PrivacyLossDistribution`. It is an upper bound; what dp_accounting does with it afterwards is
        not rounded outwards. By contraction it is closest at the delta or the order of ``bound``; a mean over orders of
        shuffled batches has the least profile that follows from the worst order and from a dozen Renyi orders.

    Raises:
        InputError: not a rigorous bound, or the losses are out of reach of the grid.
    """
    _dp_accounting()
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    step = positive("discretization", discretization)
    tail_mass = within("tail_mass", tail_mass, "a number in (0, 1)", lambda x: 0 < x < 1, "1e-12 is customary.")
    if not isinstance(bound, Bound):
        raise InputError(f"to_pld needs a Bound, got bound={type(bound).__name__}; an estimate is not an upper bound.")
    pair = bound.candidate.pair
    if isinstance(bound.candidate, TableCandidate):
        table = bound.candidate.table
        orders = (table,) if table.symmetric else (table, table.reversed)
        return PrivacyLossDistribution(*(_pmf(*_of_table(one, tail_mass), step) for one in orders))
    if bound.candidate.renyi is not None and bound.run.scheme.permuted:
        return PrivacyLossDistribution(_pmf(*_of_mean(bound, tail_mass), step))
    return PrivacyLossDistribution(*(_pmf(*_of_pair(pair, side, tail_mass), step) for side in pair.sides))


_Law = tuple[NDArray[np.float64], NDArray[np.float64], float]
"""Losses, their masses, and the mass of an infinite loss."""


def _of_pair(pair: DominatingPair, side: str, tail_mass: float) -> _Law:
    found = pair.releases(side)
    if not found:
        return np.zeros(1), np.ones(1), pair.failure
    law = Composition.of(found, tail_mass, tilt=0.0)
    if law is None:
        raise InputError(f"to_pld needs a finite bound, got cost={pair.cost:g}; add noise.")
    return law.losses, law.masses(), pair.failure + law.lost + law.error


def _of_table(table: Table, tail_mass: float) -> _Law:
    """The measures behind a table, under the numerator; the rarest of the great losses are infinite."""
    found = DiscretePair.of(table)
    beyond = np.cumsum(found.p[::-1])[::-1]
    losses, kept = np.log(found.ratio) + 1e-13, (found.p > 0) & (beyond > tail_mass)
    infinite = found.only_p + float(np.sum(found.p[beyond <= tail_mass])) * (1 + 1e-9)
    return np.maximum(losses[kept], -losses[kept][-1]), found.p[kept], infinite


def _of_mean(bound: Bound, tail_mass: float) -> _Law:
    """The law of the least profile that the worst order and the mean over orders at several Renyi orders allow."""
    worst = bound.candidate.pair
    orders = 1 + np.geomspace(*_ORDERS) / worst.mu
    found, view = [bound.candidate], View(bound.run, bound.assumption)
    for order in orders.tolist():
        found += mean_routes(view, order, worst, every=False)
    means = [one.renyi for one in found if one.renyi is not None]
    points: dict[float, float] = {}
    for delta in np.geomspace(_LARGEST, tail_mass, ceil(log(_LARGEST / tail_mass) / _RATIO) + 1).tolist():
        likely = sorted((quick_rdp_to_dp(order, epsilon, delta), order, epsilon) for order, epsilon in means)[:_FEW]
        points[min([worst.dp(delta), *(rdp_to_dp(*one[1:], delta) for one in likely)])] = delta
    return from_profile(list(points.items()))


def _pmf(losses: NDArray[np.float64], masses: NDArray[np.float64], infinite: float, step: float) -> "DensePLDPmf":
    from dp_accounting.pld.pld_pmf import DensePLDPmf

    left = np.floor(losses / step)
    first, last = int(left[0]), int(left[-1]) + 1
    if last - first > _MOST_POINTS:
        raise InputError(
            f"discretization needs to fit losses of up to {losses[-1]:.3g}, got discretization={step:g}; take more."
        )
    # A loss moves to its two neighbours on the grid as in `privacy_loss`; at the very least all of it moves up.
    up = np.clip(-np.expm1(left * step - losses) / -np.expm1(-step), 0.0, 1.0)
    place = left.astype(np.int64) - first
    probabilities = np.bincount(place, masses * (1 - up), minlength=last - first + 1)
    probabilities += np.bincount(place + 1, masses * up, minlength=last - first + 1)
    return DensePLDPmf(step, first, probabilities * _SPLIT, min(infinite * _SPLIT, 1.0), True)


def _dp_accounting() -> ModuleType:
    try:
        import dp_accounting
    except ImportError:
        raise InputError(
            "Events and PLDs need dp_accounting, got none installed; pip install 'lastiterate[dp-accounting]'."
        ) from None
    found: ModuleType = dp_accounting
    return found


def _multiplier(run: NoisySGD, t: int) -> float:
    """Noise over the greatest distance of two outcomes of step t, rounded down."""
    with precision():
        moved = exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch
        return lower(exact(run.noise_std_at(t)) / (moved if run.adjacency == "add_remove" else 2 * moved))


def _step(run: NoisySGD, noise: float) -> "DpEvent":
    events = _dp_accounting()
    gaussian = events.GaussianDpEvent(noise)
    scheme = SCHEMES[run.sampling]
    if not scheme.random:
        return gaussian
    if scheme.fixed_size:
        return events.SampledWithoutReplacementDpEvent(run.dataset_size, run.batch, gaussian)
    return events.PoissonSampledDpEvent(rate(run), gaussian)


_Flat = tuple[str, Any, float, int]
"""Sampling, its rate or sizes, noise multiplier, number of steps."""


def _flat(events: ModuleType, event: Any, times: int) -> list[_Flat]:
    """The Gaussian steps of an event, in order."""
    if isinstance(event, events.NoOpDpEvent):
        return []
    if isinstance(event, events.SelfComposedDpEvent):
        return _flat(events, event.event, times * count("count", event.count))
    if isinstance(event, events.ComposedDpEvent):
        return times * [one for part in event.events for one in _flat(events, part, 1)]
    if isinstance(event, events.GaussianDpEvent):
        return [("full", None, event.noise_multiplier, times)]
    sampled = isinstance(event, events.PoissonSampledDpEvent | events.SampledWithoutReplacementDpEvent)
    if sampled and isinstance(event.event, events.GaussianDpEvent):
        if isinstance(event, events.PoissonSampledDpEvent):
            return [("poisson", event.sampling_probability, event.event.noise_multiplier, times)]
        sizes = (event.source_dataset_size, event.sample_size)
        return [("without_replacement", sizes, event.event.noise_multiplier, times)]
    name = f"{type(event).__name__}({type(event.event).__name__})" if sampled else type(event).__name__
    raise InputError(
        f"event needs Gaussian steps, plain, Poisson sampled or sampled without replacement, got event={name}; "
        "account for it with dp_accounting and compose PLDs (to_pld)."
    )


def _batch(sampling: str, drawn: Any, n: int) -> int:
    """The size of a batch, from the rate or the sizes of the event."""
    if not SCHEMES[sampling].random:
        return n
    if SCHEMES[sampling].fixed_size:
        if drawn[0] != n:
            raise InputError(f"dataset_size needs to be that of the event, got dataset_size={n} and {drawn[0]} there.")
        return count("sample_size", drawn[1])
    batch = round(drawn * n) if isfinite(drawn) else 0
    if not 1 <= batch <= n or abs(batch - drawn * n) > _QUOTIENT * batch:
        raise InputError(
            f"Poisson batches need an expected size that is a whole number, got sampling_probability={drawn:g} of "
            f"dataset_size={n}; change one of them."
        )
    return batch
