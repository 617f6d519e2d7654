"""A valid bound by one route. Every scheme of batches yields some, and a bound is the least of them."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.conversion import quick_rdp_to_delta, rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair

__all__ = ["Candidate"]


class Shifts(Protocol):
    """A path of the shift program."""

    @property
    def shifts(self) -> NDArray[np.float64]:
        """Shape (T - start,), lengths."""
        ...


class Solution(Protocol):
    """What is known of the shift program behind a bound."""

    @property
    def path(self) -> Shifts:
        """A feasible path."""
        ...

    @property
    def gap(self) -> float | None:
        """The share of its cost that a better path could save at most; None where that is not known."""
        ...


@dataclass(frozen=True, eq=False)
class Candidate:
    """An upper bound of the privacy loss of the last iterate, in both directions.

    Attributes:
        route: how it was found.
        claim: key of the ledger's claim behind it.
        window: (tau, T), the steps that are paid for.
        pair: dominates the last iterates, outside an event of chance ``pair.failure``.
        renyi: (order, epsilon) of an RDP bound that replaces ``pair`` where numbers are asked for, or None.
        optimum: the path of the shift program, where there is one.
        position: the batch of an epoch (from 0) in which a differing sample costs most, where batches are fixed.
        share: share of the noise variance that hides the change of the data, on average over the window, where batches
            are random.
    """

    route: str
    claim: str
    window: tuple[int, int]
    pair: DominatingPair
    renyi: tuple[float, float] | None = None
    optimum: Solution | None = None
    position: int | None = None
    share: float | None = None

    def rdp(self, order: float) -> float:
        """Epsilon of (order, epsilon)-RDP, rounded up. A Renyi divergence grows with its order.

        Raises:
            InputError: nothing is known at this order.
        """
        if self.renyi is not None and order <= self.renyi[0]:
            return self.renyi[1]
        return self.pair.rdp(order)

    def dp(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP, rounded up."""
        return self.pair.dp(delta) if self.renyi is None else rdp_to_dp(*self.renyi, delta)

    def delta(self, epsilon: float) -> float:
        """Delta of (epsilon, delta)-DP, rounded up; epsilon is at least 0."""
        return self.pair.delta(epsilon) if self.renyi is None else quick_rdp_to_delta(*self.renyi, epsilon)

    def value(self, order: float | None, delta: float | None) -> float:
        """Epsilon at the order or at the delta that is given; without either mu^2."""
        if delta is not None:
            return self.dp(delta)
        return self.pair.cost if order is None else self.rdp(order)
