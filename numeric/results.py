"""What a bound and an estimate are: numbers that say what they rest on.

A `Bound` and a `RenyiBound` are rigorous and rounded up. An `Estimate` comes from measured constants and is a type of
its own, so that it cannot pass for a bound.
"""

from dataclasses import dataclass, field, fields
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.dominating import Composed
from lastiterate.numeric.accounting.gdp import gdp_epsilon
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, precision, printed_up, upper
from lastiterate.numeric.run import NoisySGD, real
from lastiterate.numeric.shift_program.optimum import Optimum

__all__ = ["Bound", "Estimate", "RenyiBound", "rdp_epsilon", "renyi_order"]


def renyi_order(order: float) -> float:
    """The order of a Renyi divergence as a float, or an `InputError` where it is not a finite number above 1."""
    number = real("order", order, "a finite number above 1")
    if not (number > 1 and isfinite(number)):
        raise InputError(f"order needs a finite number above 1, got order={number:g}; 2 is customary.")
    return number


@dataclass(frozen=True)
class _Loss:
    """What a path of shifts says about the last iterates, of either law from the other."""

    run: NoisySGD
    cost: float
    order: float | None
    delta: float | None
    theorem: str
    position: int
    assumptions: tuple[str, ...]
    _optimum: Optimum = field(repr=False, compare=False)

    @property
    def mu(self) -> float:
        """The last iterates are mu-GDP; sqrt(cost), rounded up."""
        with precision():
            return upper(exact(self.cost).sqrt())

    @property
    def epsilon(self) -> float:
        """Renyi epsilon at ``order``, or the epsilon of (epsilon, delta)-DP at ``delta``; rounded up.

        Raises:
            InputError: neither order nor delta was given to `bound`.
        """
        if self.order is not None:
            return self.rdp(self.order)
        if self.delta is not None:
            return self.dp(self.delta)
        raise InputError(
            "epsilon needs an order or a delta, got order=None, delta=None; pass one of them, or use rdp() or dp()."
        )

    def rdp(self, order: float) -> float:
        """Epsilon of (order, epsilon)-RDP, rounded up: order / 2 times the cost, for a real order > 1."""
        return rdp_epsilon(self.cost, order)

    def dp(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP through the exact conversion of mu-GDP, rounded up."""
        return gdp_epsilon(self.mu, delta)

    @property
    def route(self) -> str:
        """How the path was found."""
        return self._optimum.route

    def __str__(self) -> str:
        """The numbers, each rounded up to six digits."""
        text = f"mu-GDP with mu = {printed_up(self.mu)}"
        if self.order is not None:
            text += f", ({self.order:g}, {printed_up(self.epsilon)})-RDP"
        if self.delta is not None:
            text += f", ({printed_up(self.epsilon)}, {self.delta:g})-DP"
        return text

    @property
    def window(self) -> tuple[int, int]:
        """(tau, T): the steps over which shifts are spent."""
        return self._optimum.path.start, self.run.steps

    @property
    def shifts(self) -> NDArray[np.float64]:
        """The shifts a_tau..a_{T-1}, shape (T - tau,), lengths; made when asked for."""
        return self._optimum.path.shifts

    def as_dict(self) -> dict[str, object]:
        """The number and what it rests on, ready for JSON; shifts left out."""
        return {
            "kind": type(self).__name__.lower(),
            "epsilon": self.epsilon if self.order is not None or self.delta is not None else None,
            "order": self.order,
            "delta": self.delta,
            "mu": self.mu,
            "cost": self.cost,
            "window": list(self.window),
            "route": self.route,
            "theorem": self.theorem,
            "position": self.position,
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True)
class Bound(_Loss):
    """A rigorous upper bound under the assumptions listed; every number in it is rounded up.

    ``cost`` is the sum of a_t^2 / sigma_t^2 over a feasible path of the shift program: the last iterates of
    two runs on data sets that differ in one sample are mu-GDP with mu^2 = cost, and (alpha, alpha cost / 2)-RDP
    for every alpha > 1, whichever of the two laws is the numerator. ``theorem`` is the key of the ledger's claim
    behind the number, ``position`` the batch of an epoch (from 0) in which a differing sample costs most; of shuffled
    batches the last, though any order may be the worst.
    """


@dataclass(frozen=True)
class RenyiBound:
    """A rigorous upper bound for random batches, which is of Renyi type and belongs to one order.

    Attributes:
        run: the run.
        epsilon: of (order, epsilon)-RDP, or of (epsilon, delta)-DP where delta is not None; rounded up, and of
            either law from the other.
        order: alpha > 1; with a delta, the order that was converted, None where it was not a Renyi bound.
        delta: in (0, 1), or None.
        route: "composition", "window of shifts", "worst batches", or that of the mean over orders; with a delta
            also through what it went: PLD, GDP or RDP.
        window: (tau, T), the steps that are paid for.
        share: share of the noise variance that hides the change of the data.
        theorem: key of the ledger's claim behind the number.
        assumptions: what it rests on.
        composed: what dominates the last iterate.
    """

    run: NoisySGD
    epsilon: float
    order: float | None
    delta: float | None
    route: str
    window: tuple[int, int]
    share: float
    theorem: str
    assumptions: tuple[str, ...]
    composed: Composed = field(repr=False)

    def __str__(self) -> str:
        """The number, rounded up to six digits."""
        if self.delta is None:
            return f"({self.order:g}, {printed_up(self.epsilon)})-RDP"
        return f"({printed_up(self.epsilon)}, {self.delta:g})-DP"

    def as_dict(self) -> dict[str, object]:
        """The number and what it rests on, ready for JSON."""
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("run", "composed")}
        return {"kind": "bound"} | kept | {"window": list(self.window), "assumptions": list(self.assumptions)}


@dataclass(frozen=True)
class Estimate(_Loss):
    """The same numbers from *measured* constants: no bound, but what would be one if the measurement were true."""

    conditional_on: str = ""

    def __str__(self) -> str:
        """The numbers, said to be an estimate, and on what they are conditional."""
        return f"an estimate, not a bound: {super().__str__()}, conditional on {self.conditional_on}"

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"conditional_on": self.conditional_on}


def rdp_epsilon(cost: float, order: float) -> float:
    """Order / 2 times the cost, rounded up: epsilon of (order, epsilon)-RDP from mu-GDP with mu^2 = cost.

    Raises:
        InputError: order is not a finite number above 1.
    """
    with precision():
        return upper(exact(renyi_order(order)) * exact(cost) / 2)
