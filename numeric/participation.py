"""Privacy loss of a sample that is used at known steps, and of the samples in each batch of an epoch.

The steps that use a sample are fixed before training and are the same in both runs. A sample used at only
some of these steps loses no more privacy.

Source: docs/proofs/participation.md; Feldman et al. 2018 for a single pass of convex losses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, inf, isfinite
from typing import Any, ClassVar

import numpy as np

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.fixed_batches import APART
from lastiterate.numeric.contraction.uses import Used
from lastiterate.numeric.display import Displayed, TextTable, facts, printed_loss
from lastiterate.numeric.errors import InputError, count, order_or_delta, portion, teaches
from lastiterate.numeric.explain import assumed
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD, described_run, refuse_extreme
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import used_program

_LOOKED = 64
"""Maximum number of clean-step counts with a bound (others use the next smaller count), or of batches of a schedule."""


@dataclass(frozen=True, eq=False)
class _OfKnownSteps(Displayed):
    run: NoisySGD
    assumption: Assumption
    order: float | None
    delta: float | None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions behind the bound, in words."""
        fixed = "the steps that use the sample are fixed before training, whatever the data are"
        return (*assumed(self.run, self.assumption), fixed)

    def _printed(self, epsilon: float) -> str:
        return printed_loss(epsilon, self.order, self.delta)


@teaches()
@dataclass(frozen=True, eq=False)
class Participation(_OfKnownSteps):
    """Rigorous bounds for a sample used only at ``uses``: the smallest, and the bound by ``shifts`` alone."""

    uses: Sequence[int]
    epsilon: float
    shifts: float
    _kind: ClassVar = "participation"
    _named: ClassVar = "epsilon shifts order delta claim times last assumptions"

    @property
    def claim(self) -> str:
        """Key of the ledger's claim behind the bound."""
        return "ours/cyclic/theorem" if self.epsilon == self.shifts else "ours/contraction/cyclic"

    @property
    def times(self) -> int:
        """Number of steps that use the sample."""
        return len(self.uses)

    @property
    def last(self) -> int | None:
        """The last step that uses the sample, or None."""
        return self.uses[-1] if self.uses else None

    def __str__(self) -> str:
        return self._printed(self.epsilon)

    def table(self) -> TextTable:
        values = {
            "a sample loses": str(self),
            "by shifts alone": self._printed(self.shifts),
            "claim": self.claim,
        }
        used = f"{self.times} times" + (f", last in step {self.last}" if self.uses else "")
        return facts("A bound, rounded up", values | {"used": used}, self.assumptions)


@teaches()
@dataclass(frozen=True, eq=False)
class ByPosition(_OfKnownSteps):
    """Bounds for each batch of an epoch, 0 if unused: the smallest, and the bounds by ``shifts`` alone."""

    epsilons: tuple[float, ...] = field(repr=False)
    shifts: tuple[float, ...] = field(repr=False)
    _kind: ClassVar = "by_position"
    _named: ClassVar = "order delta worst median epsilons shifts assumptions"

    @property
    def worst(self) -> float:
        """The bound that holds for all samples."""
        return max(self.epsilons)

    @property
    def median(self) -> float:
        """The smallest bound that holds for half of the samples."""
        return self.quantile(0.5)

    @teaches()
    def quantile(self, p: float) -> float:
        """The smallest bound that holds for a share p in (0, 1] of the samples."""
        share = portion("p", p, "a share in (0, 1]", "0.5 is the median.")
        return sorted(self.epsilons)[min(ceil(share * len(self.epsilons)), len(self.epsilons)) - 1]

    def __str__(self) -> str:
        worst, median, best = map(self._printed, (self.worst, self.median, min(self.epsilons)))
        return f"worst {worst}, median {median}, best {best}"

    def table(self) -> TextTable:
        numbers = {"worst": self.worst, "nine of ten": self.quantile(0.9), "median": self.median}
        values = {
            name: self._printed(number) for name, number in (numbers | {"best": min(self.epsilons)}).items()
        }
        values |= {"batches of an epoch": str(len(self.epsilons))}
        return facts("Bounds by position in the epoch, rounded up", values, self.assumptions)

    def records(self) -> list[dict[str, Any]]:
        """One row for every batch of an epoch."""
        named = {"kind": "bound", "order": self.order, "delta": self.delta}
        both = enumerate(zip(self.epsilons, self.shifts, strict=True))
        return [{"batch": k, "epsilon": epsilon, "shifts": shifts} | named for k, (epsilon, shifts) in both]


@teaches()
def participation(
    run: NoisySGD,
    assumption: Assumption,
    *,
    steps: Sequence[int] | None = None,
    position: int | None = None,
    order: float | None = None,
    delta: float | None = None,
) -> Participation:
    """Bound what the last iterate reveals about a sample that is used at known steps.

    The order of the batches is fixed. The sample is used either exactly at ``steps``, increasing and counted
    from 0, or in batch ``position`` of every epoch, counted from 0. The other arguments are as in `bound`.

    Raises:
        InputError: as in `bound`, or the steps or the position do not fit the run.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=100, step_size=0.1, noise_std=0.1, clip_norm=1, dataset_size=1, diameter=1)
    >>> early, late = (participation(run, Convex(1.0), steps=[t], delta=1e-5).epsilon for t in (20, 99))
    >>> early < late / 10
    True
    """
    order, delta = _checked(run, assumption, order, delta)
    if (steps is None) == (position is None):
        raise InputError(
            f"participation needs either steps or position, got steps={steps}, position={position}; pass one of them."
        )
    if steps is not None:
        uses = _listed(run, steps)
    elif (place := count("position", position, least=0)) < run.period:
        uses = range(place, run.steps, run.period)
    else:
        raise InputError(
            f"position must be the index of a batch, 0 to {run.period - 1}, got position={position}; count from 0."
        )
    found = (0.0, 0.0)
    if uses:
        [found] = _numbers(run, assumption, (order, delta), uses, [run.steps - 1 - uses[-1]])
    return Participation(run, assumption, order, delta, uses, *found)


@teaches()
def by_position(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> ByPosition:
    """Bound what the last iterate reveals about the samples in each batch of an epoch.

    Raises:
        InputError: as in `participation`, or a schedule has too many batches in an epoch.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(100, 0.1, 0.1, clip_norm=1, dataset_size=100, batch_size=1, sampling="cyclic", diameter=1)
    >>> found = by_position(run, Convex(1.0), delta=1e-5)
    >>> found.median < found.worst / 10
    True
    """
    order, delta = _checked(run, assumption, order, delta)
    met, found = min(run.period, run.steps), [(0.0, 0.0)] * run.period
    if not run.constant and met > _LOOKED:
        raise InputError(
            f"by_position accepts at most {_LOOKED} batches if the step size or noise changes, got {met}; call "
            "participation for some of them."
        )
    rest = (run.steps - 1) % run.period + 1  # batches used once more than the others
    parts = ((0, rest), (rest, met)) if run.constant else ((place, place + 1) for place in range(met))
    for first, last in parts:
        if first < last:  # batches that differ only in the clean steps after the last use
            uses, size = range(last - 1, run.steps, run.period), last - first
            kept = (
                np.unique(np.geomspace(1, size, _LOOKED).astype(int) - 1) if size > _LOOKED else np.arange(size)
            )
            clean = (run.steps - 1 - uses[-1] + kept).tolist()
            numbers = _numbers(run, assumption, (order, delta), uses, clean)
            before = np.searchsorted(kept, np.arange(size), side="right") - 1
            found[first:last] = [numbers[k] for k in before.tolist()][::-1]
    epsilons, shifts = zip(*found, strict=True)
    return ByPosition(run, assumption, order, delta, epsilons, shifts)


def _checked(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None
) -> tuple[float | None, float | None]:
    described_run("participation", run)
    described_assumption(assumption)
    order, delta = order_or_delta("participation", order, delta)
    if not run.scheme.fixed:
        raise InputError(
            f"participation needs batches in a known order, got sampling={run.sampling!r}; call bound, since it is "
            "not known when a random batch uses a sample."
        )
    refuse_extreme("participation", run, assumption)
    return order, delta


def _numbers(
    run: NoisySGD,
    assumption: Assumption,
    target: tuple[float | None, float | None],
    uses: Sequence[int],
    clean: Sequence[int],
) -> list[tuple[float, float]]:
    """Smallest bound and bound by shifts for each number of clean steps; see `Used.numbers`."""
    order, delta = target
    pairs = []
    for more in clean:
        part = replace(run, steps=uses[-1] + 1 + more) if run.constant else run
        with precision():
            pairs.append(DominatingPair(upper(optimum(used_program(part, assumption, uses)).cost)))
    shifts = [gdp_epsilon(pair.mu, delta) if delta is not None else pair.rdp(order or 2.0) for pair in pairs]
    if not isfinite(run.diameter) or run.diameter > APART * run.noise_std_at(run.steps - 1):
        return [(one, one) for one in shifts]
    goals = [Goal(order, delta, one, pair.rdp) for one, pair in zip(shifts, pairs, strict=True)]
    try:
        found = Used(run, assumption, uses).numbers(clean, goals)
    except ArithmeticError:  # a table lost too many digits, so use shifts
        found = [inf] * len(shifts)
    best = np.minimum.accumulate(np.minimum(found, shifts)).tolist()  # more clean steps lose no more
    return list(zip(best, shifts, strict=True))


def _listed(run: NoisySGD, steps: Sequence[int]) -> Sequence[int]:
    if isinstance(steps, str | bytes) or not isinstance(steps, Iterable):
        raise InputError(
            f"steps needs a list of steps, counted from 0, got steps={steps!r}; write [0] for the first step."
        )
    uses: Sequence[int] = steps if isinstance(steps, range) and steps.step > 0 else ()
    uses = uses or tuple(count(f"steps[{i}]", t, least=0) for i, t in enumerate(steps))
    rising = isinstance(uses, range) or all(a < b for a, b in pairwise(uses))
    if not uses or not rising or not 0 <= uses[0] <= uses[-1] < run.steps:
        raise InputError(
            f"steps needs at least one step of the run, 0 to {run.steps - 1}, in increasing order, got steps={steps}; "
            "list each step once."
        )
    return uses
