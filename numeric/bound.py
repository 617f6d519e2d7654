"""A rigorous privacy bound for a described run, and the estimate that a measured constant gives."""

from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.accounting.composed import Composed
from lastiterate.numeric.accounting.dp import sampled_dp
from lastiterate.numeric.accounting.gaussian import gdp_epsilon
from lastiterate.numeric.assumptions import Assumption
from lastiterate.numeric.balls import exact, precision, printed_up, upper
from lastiterate.numeric.batches.sampled import sampled_loss
from lastiterate.numeric.batches.shuffled import mean_dp, mean_loss, worst_order
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, real
from lastiterate.numeric.shift_program.optimum import Optimum, worst_position

__all__ = ["Bound", "Estimate", "Measured", "RenyiBound", "bound", "estimate", "gaussian_bound", "rdp_epsilon"]


RANDOM_CLAIMS: Final = {"without_replacement": "ours/sampled/step", "poisson": "ours/poisson/step"}
"""Schemes whose bound is of Renyi type, and the claim behind it."""
_RANDOM = tuple(RANDOM_CLAIMS)


@dataclass(frozen=True)
class Measured:
    """An assumption whose constants were measured, not proved.

    Attributes:
        assumption: the assumption with the measured constants in it.
        conditional_on: what a number made from it is conditional on, in one sentence.
    """

    assumption: Assumption
    conditional_on: str


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
        return upper(exact(_order(order)) * exact(cost) / 2)


def gaussian_bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound:
    """As `bound`, for a run whose batches are fixed in advance, or for every order of shuffled ones.

    Raises:
        InputError: as `bound`, or the batches are random.
    """
    order, delta = _target(assumption, order, delta)
    if run.sampling in _RANDOM:
        raise InputError(
            f"A Gaussian bound needs batches that are fixed in advance, got sampling={run.sampling!r}; "
            "use sampling='full' or 'cyclic', or call bound."
        )
    return Bound(*_solve(run, assumption, order, delta))


def bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound | RenyiBound:
    """Bound the privacy loss of the last iterate of a run.

    Args:
        run: the run.
        assumption: what is assumed of the losses on the domain.
        order: alpha > 1 for `Bound.epsilon` in the sense of Renyi.
        delta: in (0, 1) for `Bound.epsilon` in the sense of (epsilon, delta)-DP. At most one of the two.

    Returns:
        A rigorous upper bound: a `Bound` where the batches are fixed in advance, a `RenyiBound` where they are random.
        Of shuffled batches the `Bound` holds for every order; the mean over orders, a `RenyiBound`, where it is less.

    Raises:
        InputError: the assumption does not fit the run, an argument is out of range (random batches need an order
            or a delta), or the assumption rests on a measurement (see `estimate`).

    Source: DESIGN section 2; claims chien_li/theorem_3_1/direct/* and chien_li/theorem_3_7/sharper.

    >>> from lastiterate.numeric.assumptions import Smooth
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> round(bound(run, Smooth(1), order=2).epsilon, 4)
    0.4992
    """
    if isinstance(assumption, Measured):
        raise InputError(
            "bound needs an assumption that is proved or assumed, got assumption=Measured(...); "
            "a measured constant gives an estimate: call estimate(run, measured, ...)."
        )
    if run.sampling == "shuffled" and run.batches > 1:
        return _shuffled(run, assumption, order, delta)
    if run.sampling not in _RANDOM:
        return gaussian_bound(run, assumption, order=order, delta=delta)
    order, delta = _target(assumption, order, delta)
    if run.batch == run.dataset_size and run.sampling == "without_replacement":
        return replace(bound(replace(run, sampling="full"), assumption, order=order, delta=delta), run=run)
    if order is not None:
        found = sampled_loss(run, assumption, order)
        epsilon, route = found.epsilon, found.route
    elif delta is not None:
        converted = sampled_dp(run, assumption, delta)
        epsilon, order, route, found = converted.epsilon, converted.order, converted.route, converted.found
    else:
        raise InputError("Random batches need an order or a delta, got order=None, delta=None; pass one of them.")
    claim = RANDOM_CLAIMS[run.sampling]
    stated = _stated(run, assumption)
    return RenyiBound(run, epsilon, order, delta, route, found.window, found.share, claim, stated, found.composed)


def _shuffled(run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None) -> Bound | RenyiBound:
    """Of the bound for every order and the mean over orders the smaller."""
    always = gaussian_bound(run, assumption, order=order, delta=delta)
    if order is not None:
        order = _order(order)
        found = mean_loss(run, assumption, order)
        epsilon = found.epsilon
    elif delta is not None:
        epsilon, order, found = mean_dp(run, assumption, delta)
    else:
        return always
    if always.epsilon <= epsilon:
        return always
    claim, stated = "ours/shuffled/mean", _stated(run, assumption)
    # Every order by itself is dominated by the Gaussian of the worst, and so is their mixture.
    worst = Composed(always.cost)
    return RenyiBound(run, epsilon, order, delta, found.route, found.window, 0.0, claim, stated, worst)


def estimate(run: NoisySGD, measured: Measured, *, order: float | None = None, delta: float | None = None) -> Estimate:
    """What `bound` would say if the measured constants were true; typed as an estimate.

    Args:
        run: the run.
        measured: the assumption, with what it is conditional on.
        order: alpha > 1, or None.
        delta: in (0, 1), or None.

    Raises:
        InputError: as `bound`, or ``measured`` is not a `Measured`.
    """
    if not isinstance(measured, Measured):
        raise InputError(
            f"estimate needs a Measured assumption, got measured={type(measured).__name__}; "
            "for an assumption that is proved or assumed call bound(run, assumption, ...)."
        )
    if run.sampling in _RANDOM:
        raise InputError(
            f"estimate needs batches that are fixed in advance, got sampling={run.sampling!r}; "
            "describe the run with sampling='full' or 'cyclic'."
        )
    order, delta = _target(measured.assumption, order, delta)
    return Estimate(*_solve(run, measured.assumption, order, delta), conditional_on=measured.conditional_on)


def _order(order: float) -> float:
    number = real("order", order, "a finite number above 1")
    if not (number > 1 and isfinite(number)):
        raise InputError(f"order needs a finite number above 1, got order={number:g}; 2 is customary.")
    return number


def _target(assumption: Assumption, order: float | None, delta: float | None) -> tuple[float | None, float | None]:
    """The order and the delta, checked before the work."""
    if not isinstance(assumption, Assumption):
        raise InputError(
            f"assumption needs one of lastiterate.numeric.assumptions, got assumption={assumption!r}; "
            "for example Smooth(1.0)."
        )
    if order is not None and delta is not None:
        raise InputError(f"bound needs an order or a delta, got order={order} and delta={delta}; leave one out.")
    if delta is not None:
        gdp_epsilon(0.0, delta)  # refuses a delta outside (0, 1)
    return (None if order is None else _order(order)), delta


def _solve(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None
) -> tuple[NoisySGD, float, float | None, float | None, str, int, tuple[str, ...], Optimum]:
    if run.sampling == "shuffled" and run.batches > 1:
        worst = worst_order(run, assumption)
        found = Optimum(worst.cost, worst.path, worst.route)
        stated = _stated(run, assumption)
        return run, _up(found.cost), order, delta, "ours/shuffled/worst", run.batches - 1, stated, found
    program, found = worst_position(run, assumption)
    claim = assumption.claim if run.batches == 1 else "ours/cyclic/last_step"
    return run, _up(found.cost), order, delta, claim, program.position, _stated(run, assumption), found


def _stated(run: NoisySGD, assumption: Assumption) -> tuple[str, ...]:
    """What a number for the run rests on, in words."""
    batches = {
        "full": "batches are full",
        "cyclic": f"the {run.batches} batches are fixed in advance and come in the same order in every epoch",
        "shuffled": f"the {run.batches} batches of an epoch are cut from a fresh uniform permutation, the same for "
        "both data sets",
        "without_replacement": f"each batch is {run.batch} of the {run.dataset_size} samples, drawn independently",
        "poisson": (
            f"every sample is in every batch with chance {run.batch}/{run.dataset_size}, independently, and the sum of "
            f"gradients is divided by {run.batch}; nothing is assumed of the sizes of the batches"
        ),
    }
    differ = (
        "by replacing one sample" if run.adjacency == "replace" else f"in that one of {run.dataset_size} is missing"
    )
    stated = (
        assumption.statement,
        f"per-sample gradients are clipped to norm {run.clip_norm:g}, and the data sets differ {differ}",
        batches[run.sampling],
        "isotropic Gaussian noise of the stated standard deviation; only the last iterate is released",
    )
    if isfinite(run.diameter):
        return (*stated, f"every iterate is projected to a convex domain of diameter {run.diameter:g}")
    return stated


def _up(cost: arb) -> float:
    with precision():
        return upper(cost)
