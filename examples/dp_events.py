"""Conversion of runs and bounds to events and privacy-loss distributions of dp_accounting.

An event describes the releases of all steps. The privacy-loss distribution of a bound describes the release
of the last iterate alone.

In dp_accounting, noise_multiplier is the noise divided by the norm of one sample's contribution, also under
replacement. Here, it is the noise divided by the sensitivity, which is twice this norm under replacement.
"""

from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.batches import rate, step_multiplier
from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.accounting.pld import Composition
from lastiterate.numeric.bound import Bound
from lastiterate.numeric.contraction.block import DiscretePair
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.errors import InputError, positive, teaches, within
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.schemes import SCHEMES

if TYPE_CHECKING:
    from dp_accounting import DpEvent
    from dp_accounting.pld.pld_pmf import DensePLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_SPLIT = 1 + 1e-9
"""Factor that covers the rounding errors of splitting a loss between two grid points."""
_MOST_POINTS = 10**7


@teaches()
def to_dp_event(run: NoisySGD) -> "DpEvent":
    """Describe the composition of all steps of the run as an event of dp_accounting.

    Fixed and shuffled batches give one Gaussian per epoch; for a schedule, the Gaussian of its most costly
    step. Multipliers are rounded down, sampling probabilities up.

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
def to_pld(
    bound: Bound, *, discretization: float = 1e-4, tail_mass: float = 1e-12
) -> "PrivacyLossDistribution":
    """Convert a bound to a privacy-loss distribution, which composes with other releases.

    Args:
        bound: a rigorous bound.
        discretization: spacing of the grid of losses; only distributions of equal spacing compose.
        tail_mass: approximate probability that may move to an infinite loss; choose it far below every delta
            of interest.

    Returns:
        A pessimistic `PrivacyLossDistribution`; later computations by dp_accounting are not rounded outwards.
            For a bound by contraction, the distribution is tightest at the delta or order of ``bound``; for
            shuffled batches, it belongs to the worst permutation.

    Raises:
        InputError: the argument is not a rigorous bound, or the grid cannot represent the losses.
    """
    _dp_accounting()
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    step = positive("discretization", discretization)
    tail_mass = within("tail_mass", tail_mass, "a number in (0, 1)", lambda x: 0 < x < 1, "1e-12 is customary.")
    if not isinstance(bound, Bound):
        raise InputError(
            f"to_pld needs a Bound, got bound={type(bound).__name__}; an Estimate is not an upper bound."
        )
    pair = bound.candidate.pair
    if isinstance(bound.candidate, TableCandidate):
        table = bound.candidate.table
        orders = (table,) if table.symmetric else (table, table.reversed)
        return PrivacyLossDistribution(*(_pmf(*_of_table(one, tail_mass), step) for one in orders))
    return PrivacyLossDistribution(*(_pmf(*_of_pair(pair, side, tail_mass), step) for side in pair.sides))


_Law = tuple[NDArray[np.float64], NDArray[np.float64], float]
"""Losses, their masses, and the mass of infinite loss."""


def _of_pair(pair: DominatingPair, side: str, tail_mass: float) -> _Law:
    found = pair.releases(side)
    if not found:
        return np.zeros(1), np.ones(1), pair.failure
    law = Composition.of(found, tail_mass, tilt=0.0)
    if law is None:
        raise InputError(f"to_pld needs a finite bound, got cost={pair.cost:g}; add noise.")
    return law.losses, law.masses(), pair.failure + law.lost + law.error


def _of_table(table: Table, tail_mass: float) -> _Law:
    found = DiscretePair.of(table)
    beyond = np.cumsum(found.p[::-1])[::-1]
    losses, kept = np.log(found.ratio) + 1e-13, (found.p > 0) & (beyond > tail_mass)
    infinite = found.only_p + float(np.sum(found.p[beyond <= tail_mass])) * (1 + 1e-9)
    return np.maximum(losses[kept], -losses[kept][-1]), found.p[kept], infinite


def _pmf(
    losses: NDArray[np.float64], masses: NDArray[np.float64], infinite: float, step: float
) -> "DensePLDPmf":
    from dp_accounting.pld.pld_pmf import DensePLDPmf

    left = np.floor(losses / step)
    first, last = int(left[0]), int(left[-1]) + 1
    if last - first > _MOST_POINTS:
        raise InputError(
            f"discretization must be large enough for losses up to {losses[-1]:.3g}, got "
            f"discretization={step:g}; increase it."
        )
    # A loss is split between its two grid neighbours as in `accounting.pld`.
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
            "Events and PLDs need dp_accounting, which is not installed; run "
            "pip install 'lastiterate[dp-accounting]'."
        ) from None
    found: ModuleType = dp_accounting
    return found


def _multiplier(run: NoisySGD, t: int) -> float:
    with precision():
        return step_multiplier(run, run.step_size_at(t), run.noise_std_at(t))


def _step(run: NoisySGD, noise: float) -> "DpEvent":
    events = _dp_accounting()
    gaussian = events.GaussianDpEvent(noise)
    scheme = SCHEMES[run.sampling]
    if not scheme.random:
        return gaussian
    if scheme.fixed_size:
        return events.SampledWithoutReplacementDpEvent(run.dataset_size, run.batch, gaussian)
    return events.PoissonSampledDpEvent(rate(run), gaussian)
