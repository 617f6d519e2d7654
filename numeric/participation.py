"""Participation: what a sample loses that is used at known steps.

The steps at which a sample is used are fixed before training and are the same in both runs. A sample that is used at
fewer of the listed steps loses no more: what holds of a step with it holds of one without it.

Source: docs/proofs/participation.md; Feldman et al. 2018 for a single pass of convex losses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.accounting.gdp import gdp_epsilon
from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.fixed_batches import APART
from lastiterate.numeric.contraction.uses import Used
from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import InputError, count, order_or_delta
from lastiterate.numeric.explain import assumed
from lastiterate.numeric.losses.assumptions import Assumption, Measured, described_assumption
from lastiterate.numeric.rounding import precision, printed_up, upper
from lastiterate.numeric.run import NoisySGD, described_run, refuse_extreme
from lastiterate.numeric.shift_program.listed import cut, used_program
from lastiterate.numeric.shift_program.optimum import optimum

_SHIFTS, _CONTRACTION = "ours/cyclic/theorem", "ours/contraction/cyclic"


@teaches()
@dataclass(frozen=True, eq=False)
class Participation(Displayed):
    """A rigorous bound for a sample that is used at listed steps and at no others; numbers are rounded up.

    Attributes:
        run: the run.
        assumption: of its losses.
        uses: the steps at which the sample is used, from 0, rising; of `at_most` the worst of all choices.
        order: alpha of the Renyi number, or None.
        delta: of the (epsilon, delta) number, or None.
        epsilon: the number, whichever of the two laws is the numerator.
        shifts: the number by shifts alone.
        batch_sizes: of the batches at these steps; empty where all have that of the run.
    """

    run: NoisySGD
    assumption: Assumption
    uses: Sequence[int]
    order: float | None
    delta: float | None
    epsilon: float
    shifts: float
    batch_sizes: tuple[int, ...] = ()

    @property
    def claim(self) -> str:
        """Key of the ledger's claim behind the number; docs/proofs/participation.md reads it for a list of steps."""
        return _SHIFTS if self.epsilon == self.shifts else _CONTRACTION

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions that the number rests on, in words."""
        least, most = min(self.batch_sizes, default=0), max(self.batch_sizes, default=0)
        sizes = f"the batches that use the sample have the sizes given, {least} to {most}, in this order"
        return (*stated(self.run, self.assumption), *([sizes] if self.batch_sizes else []))

    def __str__(self) -> str:
        """The number, rounded up to six digits."""
        return said(self.epsilon, self.order, self.delta)

    def as_dict(self) -> dict[str, object]:
        """The number and what it rests on, ready for JSON."""
        names = ("epsilon", "shifts", "order", "delta", "claim")
        known: dict[str, object] = {name: getattr(self, name) for name in names}
        last = self.uses[-1] if self.uses else None
        told = {"times": len(self.uses), "last": last, "assumptions": list(self.assumptions)}
        return {"kind": "participation"} | known | told

    def table(self) -> TextTable:
        """The number, that by shifts alone, and what they rest on."""
        shifts = said(self.shifts, self.order, self.delta)
        values = {"a sample loses": str(self), "by shifts alone": shifts, "claim": self.claim}
        used = f"{len(self.uses)} times" + (f", last in step {self.uses[-1]}" if self.uses else "")
        return facts("A bound, rounded up", values | {"used": used}, self.assumptions)


@teaches()
def participation(
    run: NoisySGD,
    assumption: Assumption,
    *,
    steps: Sequence[int] | None = None,
    batch_sizes: Sequence[int] | None = None,
    position: int | None = None,
    at_most: int | None = None,
    order: float | None = None,
    delta: float | None = None,
) -> Participation:
    """Bound what the last iterate tells of a sample that is used at known steps.

    Args:
        run: its batches have a fixed order; those of the steps that are not listed hold other samples.
        assumption: what is assumed of the losses on the domain.
        steps: where the sample is used, from 0, rising.
        batch_sizes: with ``steps`` the size of the batch at each of them; by default that of the run.
        position: in place of a list the batch of an epoch that holds the sample, from 0.
        at_most: in place of a list how often the sample is used at most, at steps that are not known, alike in both
            runs and fixed before training.
        order: alpha > 1 for a number in the sense of Renyi.
        delta: in (0, 1) for one in the sense of (epsilon, delta). Exactly one of the two.

    Raises:
        InputError: as `bound`, or the steps are not those of the run, or the worst placement is not known.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=100, step_size=0.1, noise_std=0.1, clip_norm=1, dataset_size=1, diameter=1)
    >>> early, late = (participation(run, Convex(1.0), steps=[t], delta=1e-5).epsilon for t in (20, 99))
    >>> early < late / 10
    True
    """
    asked = Asked(run, assumption, order, delta)
    if [steps, position, at_most].count(None) != 2:
        raise InputError(
            f"participation needs one of steps, position and at_most, got steps={steps}, position={position}, "
            f"at_most={at_most}; pass exactly one."
        )
    if steps is not None:
        uses = _listed(run, steps)
        asked = asked.sized(uses, batch_sizes)
    elif batch_sizes is not None:
        raise InputError(f"batch_sizes needs the list of steps, got batch_sizes={batch_sizes}; pass steps as well.")
    elif position is not None:
        if (position := count("position", position, least=0)) >= run.period:
            raise InputError(
                f"position needs a batch of the epoch, 0 to {run.period - 1}, got position={position}; count from 0."
            )
        uses = range(position, run.steps, run.period)
    else:
        uses = asked.latest(count("at_most", at_most))
    epsilon, shifts = asked.numbers(uses, [run.steps - 1 - uses[-1]])[0] if uses else (0.0, 0.0)
    return Participation(run, assumption, uses, asked.order, asked.delta, epsilon, shifts, asked.sizes)


@dataclass(frozen=True, eq=False)
class Asked:
    """A run, and the number that is wanted."""

    run: NoisySGD
    assumption: Assumption
    order: float | None
    delta: float | None
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        run = described_run("participation", self.run)
        described_assumption(self.assumption)
        if isinstance(self.assumption, Measured):
            raise InputError(
                "participation needs an assumption that is proved or assumed, got assumption=Measured(...); state one."
            )
        order, delta = order_or_delta("participation", self.order, self.delta)
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "delta", delta)
        if not run.scheme.fixed:
            raise InputError(
                f"participation needs batches in a known order, got sampling={run.sampling!r}; where they are drawn "
                "at random nobody knows who is used when: call bound."
            )
        refuse_extreme("participation", run, self.assumption)

    def sized(self, uses: Sequence[int], sizes: Sequence[int] | None) -> "Asked":
        """The same where the batches that use the sample have sizes of their own; it moves an iterate by 2 eta K / b.

        Batches without the sample may have any size: that of two data sets is the same there.
        """
        if sizes is None:
            return self
        if isinstance(sizes, str | bytes) or not isinstance(sizes, Sequence) or len(sizes) != len(uses):
            raise InputError(
                f"batch_sizes needs one size for each of the {len(uses)} steps listed, got batch_sizes={sizes!r}; "
                "list them in the order of the steps."
            )
        counted = tuple(count(f"batch_sizes[{i}]", size) for i, size in enumerate(sizes))
        return replace(self, sizes=counted)

    def numbers(self, uses: Sequence[int], clean: Sequence[int]) -> list[tuple[float, float]]:
        """The number and that by shifts, for each number of clean steps after the last use; see `Used.numbers`."""
        pairs = list[DominatingPair]()
        for more in clean:
            run = replace(self.run, steps=uses[-1] + 1 + more) if self.run.constant else self.run
            with precision():
                pairs.append(
                    DominatingPair(upper(optimum(used_program(run, self.assumption, uses, sizes=self.sizes)).cost))
                )
        shifts = [
            gdp_epsilon(pair.mu, self.delta) if self.delta is not None else pair.rdp(self.order or 2.0)
            for pair in pairs
        ]
        if not isfinite(self.run.diameter) or self.run.diameter > APART * self.run.noise_std_at(self.run.steps - 1):
            return [(one, one) for one in shifts]
        goals = [Goal(self.order, self.delta, one, pair.rdp) for one, pair in zip(shifts, pairs, strict=True)]
        try:
            found = Used(self.run, self.assumption, uses, self.sizes).numbers(clean, goals)
        except ArithmeticError:  # a table lost too many digits: shifts stand
            found = [inf] * len(shifts)
        best = np.minimum.accumulate(np.minimum(found, shifts)).tolist()  # what more clean steps follow is no worse
        return list(zip(best, shifts, strict=True))

    def latest(self, times: int) -> Sequence[int]:
        """The last steps, where they are the worst for a sample that is used at most so often.

        Raises:
            InputError: they are not known to be.
        """
        clean = used_program(cut(self.run, 0, 2), self.assumption, (0,)).expansion(1) if self.run.steps > 1 else None
        with precision():
            line = None if clean is None else clean.affine_on(self.run.diameter)
        if clean is not None and not (self.run.constant and line is not None and line[0] <= 1):
            raise InputError(
                "at_most needs constant step size and noise, and losses of which no step without the sample brings "
                f"points farther apart (convex ones), got assumption={self.assumption!r}; list the steps."
            )
        return range(max(self.run.steps - times, 0), self.run.steps)


def _listed(run: NoisySGD, steps: Sequence[int]) -> Sequence[int]:
    if isinstance(steps, str | bytes) or not isinstance(steps, Iterable):
        raise InputError(f"steps needs a list of steps, counted from 0, got steps={steps!r}; write [0] for the first.")
    if isinstance(steps, range) and steps.step > 0:
        uses: Sequence[int] = steps
    else:
        uses = tuple(count(f"steps[{i}]", t, least=0) for i, t in enumerate(steps))
    rising = isinstance(uses, range) or all(a < b for a, b in pairwise(uses))
    if not uses or not rising or not 0 <= uses[0] <= uses[-1] < run.steps:
        raise InputError(
            f"steps needs rising steps of the run, from 0 to {run.steps - 1}, at least one, got steps={steps}; list "
            "each step once."
        )
    return uses


def stated(run: NoisySGD, assumption: Assumption) -> tuple[str, ...]:
    """The assumptions of such numbers, in words."""
    return (*assumed(run, assumption), "the steps that use the sample are fixed before training, whatever the data are")


def said(number: float, order: float | None, delta: float | None) -> str:
    """A number as it is printed."""
    told = printed_up(number)
    return f"({told}, {delta:g})-DP" if order is None else f"({order:g}, {told})-RDP"
