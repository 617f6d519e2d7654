"""Privacy by position: what the samples of each batch of an epoch lose, the worst and the median among them.

Source: docs/proofs/participation.md; Feldman et al. 2018 for a single pass of convex losses.
"""

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import InputError, portion
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.participation import Asked, said, stated
from lastiterate.numeric.run import NoisySGD

_LOOKED = 64
"""Numbers of clean steps after the last use that are looked at; a user with more has the number of the next fewer.
Where steps differ it is the number of batches."""


@teaches()
@dataclass(frozen=True, eq=False)
class ByPosition(Displayed):
    """Bounds for the samples of every batch of an epoch, each a `Participation`; a batch has equally many samples.

    Attributes:
        run: the run, with batches in a fixed order.
        assumption: of its losses.
        order: alpha of the Renyi numbers, or None.
        delta: of the (epsilon, delta) numbers, or None.
        epsilons: for each batch, in the order of an epoch; 0 for one that is never met.
        shifts: likewise, by shifts alone.
    """

    run: NoisySGD
    assumption: Assumption
    order: float | None
    delta: float | None
    epsilons: tuple[float, ...] = field(repr=False)
    shifts: tuple[float, ...] = field(repr=False)

    @property
    def worst(self) -> float:
        """The bound for everyone."""
        return max(self.epsilons)

    @property
    def median(self) -> float:
        """The least number that holds for half of the samples."""
        return self.quantile(0.5)

    @teaches()
    def quantile(self, p: float) -> float:
        """The least number that holds for a share p of the samples, p in (0, 1]."""
        share = portion("p", p, "a share in (0, 1]", "0.5 is the median.")
        return sorted(self.epsilons)[min(ceil(share * len(self.epsilons)), len(self.epsilons)) - 1]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions that the numbers rest on, in words."""
        return stated(self.run, self.assumption)

    def __str__(self) -> str:
        """The worst, the median and the least, each rounded up to six digits."""
        worst, median, best = (said(x, self.order, self.delta) for x in (self.worst, self.median, min(self.epsilons)))
        return f"worst {worst}, median {median}, best {best}"

    def as_dict(self) -> dict[str, object]:
        """The numbers and what they rest on, ready for JSON."""
        names = ("order", "delta", "worst", "median")
        known: dict[str, object] = {name: getattr(self, name) for name in names}
        lists = {name: list(getattr(self, name)) for name in ("epsilons", "shifts", "assumptions")}
        return {"kind": "by_position"} | known | lists

    def table(self) -> TextTable:
        """The worst number, that of nine samples of ten, the median and the best."""
        shares = {"worst": 1.0, "nine of ten": 0.9, "median": 0.5}
        values = {name: said(self.quantile(p), self.order, self.delta) for name, p in shares.items()}
        values |= {"best": said(min(self.epsilons), self.order, self.delta)}
        values |= {"batches of an epoch": str(len(self.epsilons))}
        return facts("Bounds by position in the epoch, rounded up", values, self.assumptions)

    def records(self) -> list[dict[str, Any]]:
        """A row for every batch of an epoch."""
        named = {"kind": "bound", "order": self.order, "delta": self.delta}
        both = enumerate(zip(self.epsilons, self.shifts, strict=True))
        return [{"batch": k, "epsilon": epsilon, "shifts": shifts} | named for k, (epsilon, shifts) in both]


@teaches()
def by_position(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> ByPosition:
    """Bound what the last iterate tells of the samples of each batch of an epoch.

    Args:
        run: cyclic batches; a single epoch is a single pass.
        assumption: what is assumed of the losses on the domain.
        order: alpha > 1 for numbers in the sense of Renyi.
        delta: in (0, 1) for numbers in the sense of (epsilon, delta). Exactly one of the two.

    Raises:
        InputError: as `participation`, or steps differ and an epoch has too many batches.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(100, 0.1, 0.1, clip_norm=1, dataset_size=100, batch_size=1, sampling="cyclic", diameter=1)
    >>> found = by_position(run, Convex(1.0), delta=1e-5)
    >>> found.median < found.worst / 10
    True
    """
    asked = Asked(run, assumption, order, delta)
    found = [(0.0, 0.0)] * run.period
    met = min(run.period, run.steps)
    if not run.constant:
        if met > _LOOKED:
            raise InputError(
                f"by_position needs at most {_LOOKED} batches where step size or noise changes, got {met}; ask "
                "participation for some of them."
            )
        for place in range(met):
            uses = range(place, run.steps, run.period)
            found[place] = asked.numbers(uses, [run.steps - 1 - uses[-1]])[0]
    else:
        rest = (run.steps - 1) % run.period + 1  # batches that are met once more than others
        for first, last in ((0, rest), (rest, met)):
            if first < last:
                found[first:last] = _alike(asked, first, last)
    epsilons, shifts = zip(*found, strict=True)
    return ByPosition(run, assumption, asked.order, asked.delta, epsilons, shifts)


def _alike(asked: Asked, first: int, last: int) -> list[tuple[float, float]]:
    """The numbers of batches that are met equally often: clean steps after the last use tell them apart."""
    run, met = asked.run, last - first
    uses = range(last - 1, run.steps, run.period)
    fewest = run.steps - 1 - uses[-1]
    kept = range(met) if met <= _LOOKED else np.unique(np.geomspace(1, met, _LOOKED).astype(int) - 1).tolist()
    numbers = dict(zip(kept, asked.numbers(uses, [fewest + more for more in kept]), strict=True))
    found = list[tuple[float, float]]()
    for more in range(met):
        found.append(numbers[more] if more in numbers else found[-1])
    return found[::-1]
