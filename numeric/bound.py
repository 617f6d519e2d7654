"""Rigorous bounds for described runs, the smallest of all known ones, and estimates from measured constants."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.fixed_batches import APART, contract_fixed, contract_shuffled
from lastiterate.numeric.contraction.momentum import contract_momentum, momentum_routes
from lastiterate.numeric.contraction.random_batches import contract_random
from lastiterate.numeric.display import Displayed, TextTable, facts, printed_loss
from lastiterate.numeric.errors import InputError, chance, order_or_delta, renyi_order, teaches, within
from lastiterate.numeric.explain import UNTRIED, assumed, question, remarks
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Measured,
    Minimum,
    Modulus,
    described_assumption,
)
from lastiterate.numeric.rounding import exact, precision, printed_up, upper
from lastiterate.numeric.run import NoisySGD, described_run, refuse_extreme
from lastiterate.numeric.shift_program.positions import fixed_routes
from lastiterate.numeric.shuffling.shuffled import shuffled_routes
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.windows import composition_route
from lastiterate.numeric.subsampling.without_replacement import convert_routes, without_replacement_routes

_STEEP = 8.0
"""Clipping alone is also tried if the modulus at the diameter exceeds 2 clip_norm by this factor."""
_HIGHEST = 1e9
"""Renyi order above which random batches are bounded by composition only."""


@dataclass(frozen=True)
class PrivacyLoss(Displayed):
    """A bound on the privacy loss of the last iterate; ``tried`` says how the assumption was tested."""

    run: NoisySGD
    assumption: Assumption
    order: float | None
    delta: float | None
    candidate: Candidate = field(repr=False, compare=False)
    tried: str = field(default=UNTRIED, repr=False, compare=False, kw_only=True)
    _caption: ClassVar[str] = "A bound, rounded up"
    _named: ClassVar = "epsilon window assumptions order delta mu cost route claim position share"

    @property
    def epsilon(self) -> float:
        """Renyi epsilon at ``order``, or the epsilon of (epsilon, delta)-DP at ``delta``; rounded up."""
        if self.order is None and self.delta is None:
            raise InputError(
                "epsilon needs an order or a delta, got order=None, delta=None; pass one of them, or use rdp() or dp()."
            )
        return self.candidate.value(self.order, self.delta)

    @teaches()
    def rdp(self, order: float) -> float:
        """Epsilon of (order, epsilon)-RDP, rounded up, for a real order > 1."""
        order = renyi_order(order)
        return self._best(order=order).rdp(order)

    @teaches()
    def dp(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP, rounded up, for delta in (0, 1)."""
        delta = chance("delta", delta, -inf)
        return self._best(delta=delta).dp(delta)

    def profile(self) -> "PrivacyProfile":
        """Function from epsilon to the smallest known delta."""
        return PrivacyProfile(self)

    def _best(self, *, order: float | None = None, delta: float | None = None) -> Candidate:
        """Best candidate at an order or delta; for fixed batches without a domain, always the known one."""
        asked = delta == self.delta if delta is not None else self.delta is None and order == self.order
        if asked or (self.run.scheme.fixed and not isfinite(self.run.diameter)):
            return self.candidate
        return least_candidate(self.run, self.assumption, order, delta)

    @property
    def mu(self) -> float | None:
        """Smallest known mu for which the last iterate is mu-GDP, rounded up; None if unknown."""
        return self.candidate.pair.mu if self.candidate.pair.gaussian else None

    @property
    def cost(self) -> float | None:
        """mu^2: the sum of (shift / noise)^2 over a path of the shift program; None if `mu` is None."""
        return self.candidate.pair.cost if self.candidate.pair.gaussian else None

    @property
    def route(self) -> str:
        """Method that gave the bound."""
        return self.candidate.route

    @property
    def claim(self) -> str:
        """Key of the ledger's claim behind the bound."""
        return self.candidate.claim

    @property
    def window(self) -> tuple[int, int]:
        """(tau, T): the bound charges the steps tau to T - 1."""
        return self.candidate.window

    @property
    def position(self) -> int | None:
        """Batch of an epoch, counted from 0, in which a differing sample costs most; for shuffled batches, the last."""
        return self.candidate.position

    @property
    def share(self) -> float | None:
        """Mean share of the noise variance that hides the change of data in random batches, or None."""
        return self.candidate.share

    @property
    def shifts(self) -> NDArray[np.float64]:
        """Shifts of the steps in `window`, as lengths; raises `InputError` if they are not unique."""
        if self.candidate.optimum is None:
            raise InputError(
                "Shifts need batches in a known order, no momentum, and one path for a whole group, got "
                f"sampling={self.run.sampling!r}, momentum={self.run.momentum:g}, group={self.run.group}; bound a "
                "cyclic run of one sample to get its shifts."
            )
        return self.candidate.optimum.path.shifts

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions behind the bound, in words."""
        return assumed(self.run, self.assumption, self.tried)

    def __str__(self) -> str:
        mu = "" if self.mu is None else f"mu-GDP with mu = {printed_up(self.mu)}"
        asked = self.order is not None or self.delta is not None
        loss = printed_loss(self.epsilon, self.order, self.delta) if asked else ""
        return ", ".join(part for part in (mu, loss) if part)

    def as_dict(self) -> dict[str, object]:
        asked = self.order is not None or self.delta is not None
        values = {name: getattr(self, name) for name in self._named.split() if asked or name != "epsilon"}
        lists = {"window": list(self.window), "assumptions": list(self.assumptions)}
        return {"kind": type(self).__name__.lower(), "epsilon": None} | values | lists

    def table(self) -> TextTable:
        start, stop = self.window
        values = {"the last iterate is": PrivacyLoss.__str__(self), "by": self.route, "claim": self.claim}
        values |= {"steps charged": f"{start} to {stop}"} | remarks(self.run, self.delta)
        return facts(self._caption, values, self.assumptions)


@dataclass(frozen=True)
class PrivacyProfile:
    """Upper bound on the hockey-stick divergence between last iterates at e^epsilon, in both directions."""

    of: PrivacyLoss

    def __call__(self, epsilon: float) -> float:
        """Delta, rounded up, at any real epsilon."""
        epsilon = within(
            "epsilon", epsilon, "a finite number", isfinite, "give a large finite one.", toward=-inf
        )
        if epsilon < 0:  # P(S) - t Q(S) = 1 - t + t (Q(S^c) - P(S^c) / t)
            with precision():
                t = exact(epsilon).exp()
                return min(upper(1 - t + t * exact(self(-epsilon))), 1.0)
        known = self.of.candidate
        delta = min(known.delta(epsilon), known.pair.delta(epsilon))
        if self.of.delta is not None and epsilon >= self.of.epsilon:
            delta = min(delta, self.of.delta)
        if not 0 < delta < 1 or (self.of.run.scheme.fixed and not isfinite(self.of.run.diameter)):
            return delta
        better = least_candidate(self.of.run, self.of.assumption, None, delta)
        return min(delta, better.delta(epsilon), better.pair.delta(epsilon))


@teaches()
@dataclass(frozen=True)
class Bound(PrivacyLoss):
    """A rigorous upper bound under the listed assumptions; its numbers are rounded up.

    The bound holds in both directions between the two laws and for every position of the sample. If a delta
    is given, ``order`` is the order of the Renyi bound from which epsilon was converted, or None.
    """

    def __str__(self) -> str:
        """The numbers, rounded up to six digits, followed by a question if the noise is implausible."""
        asked = question(self.run)
        return super().__str__() + (f" ({asked}?)" if asked else "")

    @teaches()
    def certificate(self, *, weaker: bool = False) -> dict[str, Any]:
        """Certificate with which anyone can check the bound (docs/certificates.md).

        Raises:
            InputError: the checker cannot verify the bound; ``weaker`` certifies the smallest verifiable
                bound.
        """
        from lastiterate.numeric.certificates.description import UncertifiedError
        from lastiterate.numeric.certificates.proof import certificate, least_certified

        asked = self.run, self.candidate.within or self.assumption, self.order, self.delta
        try:
            return certificate(*asked, self.candidate)
        except UncertifiedError as error:
            order = self.order if self.delta is None else None
            others = candidates(*asked[:2], order, self.delta, every=True)
            if order is None and self.order is not None:  # the converted order
                others += candidates(*asked[:2], self.order, None, every=True)
            found = least_certified(*asked, others)
            if found is None:
                raise
            if weaker:
                return found[0]
            number, route = found[1].value(order, self.delta), found[1].route
            number = number if self.delta is not None or order is not None else found[1].pair.mu
            raise InputError(
                f"{error} A larger bound, {number:.6g} by {route}, has a certificate: call certificate(weaker=True)."
            ) from error


@teaches(epsilon="bound finds epsilon: give order or delta, or calibrate the run to an epsilon.")
def bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound:
    """Find the smallest known bound on the privacy loss of a run's last iterate.

    Args:
        run: the run.
        assumption: assumption on the losses within the domain.
        order: Renyi order of `Bound.epsilon`, above 1.
        delta: delta in (0, 1) of (epsilon, delta)-DP with the epsilon `Bound.epsilon`. Give at most one of
            order and delta. If both are None, the bound has the smallest mu; random batches need one of them.

    Raises:
        InputError: the assumption does not fit the run or rests on a measurement (see `estimate`), or an
            argument is invalid or missing.

    Source: docs/proofs/shift_program.md; chien_li/theorem_3_1/direct/*, chien_li/theorem_3_7/sharper, ours/*.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> round(bound(run, Smooth(1), order=2).epsilon, 4)
    0.0142
    """
    return Bound(run, assumption, *_solved(run, assumption, order, delta))


def bound_by_shifts(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound:
    """Find the smallest bound by shifts or composition."""
    return Bound(run, assumption, *_solved(run, assumption, order, delta, by_shifts))


def _solved(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    routes: Callable[..., list[Candidate]] | None = None,
) -> tuple[float | None, float | None, Candidate]:
    described_run("bound", run, groups=True, momentum=True)
    described_assumption(assumption)
    refuse_extreme("bound", run, assumption)
    if run.group > 1 and run.scheme.random and run.scheme.fixed_size:
        raise InputError(
            f"Batches without replacement need group=1, got group={run.group}; use other batches, or bound one sample "
            "and convert: epsilon times group, and delta times group * exp((group - 1) * epsilon)."
        )
    if order is not None or delta is not None:
        order, delta = order_or_delta("bound", order, delta)
    if run.scheme.random and order is delta is None:
        raise InputError(
            "Random batches need an order or a delta, got order=None, delta=None; pass one of them."
        )
    found = least_candidate(run, assumption, order, delta, routes)
    return (found.renyi[0] if found.renyi is not None else order), delta, found


@teaches()
@dataclass(frozen=True)
class Estimate(PrivacyLoss):
    """A bound computed from *measured* constants, valid only if the measurement is correct."""

    conditional_on: str = ""
    _caption: ClassVar[str] = "An estimate, not a bound"

    def __str__(self) -> str:
        return f"an estimate, not a bound: {super().__str__()}, conditional on {self.conditional_on}"

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"conditional_on": self.conditional_on}

    def table(self) -> TextTable:
        found = super().table()
        return replace(found, notes=(f"conditional on {self.conditional_on}", *found.notes))


@teaches()
def estimate(
    run: NoisySGD, measured: Measured, *, order: float | None = None, delta: float | None = None
) -> Estimate:
    """Compute the bound that holds if the measured constants are correct; arguments as in `bound`."""
    if not isinstance(measured, Measured):
        raise InputError(
            f"estimate needs a Measured assumption, got measured={type(measured).__name__}; for an assumption that is "
            "proved or assumed, call bound(run, assumption, ...)."
        )
    found = _solved(run, measured.assumption, order, delta)
    return Estimate(run, measured.assumption, *found, conditional_on=measured.conditional_on, tried="")


def candidates(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool = False
) -> list[Candidate]:
    """Known bounds for a run; with ``every``, also bounds that cannot be the smallest."""
    if run.steps == run.group == 1 and run.scheme.permuted and not order is delta is None:
        drawn = replace(run, sampling="without_replacement")  # one shuffled batch is such a batch
        others = by_shifts(run, assumption, order, delta, every=True) if every else []
        return [*candidates(drawn, assumption, order, delta, every=every), *others]
    if not run.scheme.random:
        found = by_shifts(run, assumption, order, delta, every=every)
        return [*found, *contracted(run, assumption, order, delta, found)]
    if order is not None and order > _HIGHEST:
        return [composition_route(run)]
    better = contracted(run, assumption, order, delta, [composition_route(run)])
    most = min((one.value(order, delta) for one in better), default=inf)
    return better + by_shifts(run, assumption, order, delta, every=every, most=most)


def containing(run: NoisySGD, assumption: Assumption) -> list[Assumption]:
    """Larger classes of losses for which the routes may give a smaller bound."""
    if isinstance(assumption, Minimum) and run.scheme.permuted:
        return [wider for part in assumption.parts for wider in (part, *containing(run, part))]
    if not isinstance(assumption, Modulus) or isinstance(assumption, Clipped) or not isfinite(run.diameter):
        return []
    cap = 2 * run.clip_norm * (1 if run.scheme.permuted else _STEEP)
    with np.errstate(over="ignore"):
        steep = not run.scheme.random and float(assumption.value(np.array(run.diameter))) > cap
    return [Clipped()] if steep else []


def least_candidate(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    routes: Callable[..., list[Candidate]] | None = None,
) -> Candidate:
    """Candidate with the smallest epsilon, or with the smallest mu if order and delta are None."""
    routes = routes or candidates
    found = routes(run, assumption, order, delta)
    for wider in containing(run, assumption):
        found = [*found, *(replace(one, within=wider) for one in routes(run, wider, order, delta))]
    return found[0] if len(found) == 1 else min(found, key=lambda one: one.value(order, delta))


def by_shifts(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    *,
    every: bool = False,
    most: float = inf,
) -> list[Candidate]:
    """Bounds by shifts and by composition; for random batches, bounds above ``most`` may be omitted."""
    if run.scheme.random and order is not None and order > _HIGHEST:
        return [composition_route(run)]
    routes = _routes(run)[0]
    if not run.scheme.random:
        return routes(run, assumption, order, delta, every=every)
    if delta is None:
        return routes(run, assumption, order, every=every, most=most if most < inf else None)
    return convert_routes(run, partial(routes, run, assumption, delta=delta, every=False), delta, most)


def contracted(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, found: list[Candidate]
) -> list[Candidate]:
    """Candidates by contraction on a bounded domain; ``found`` lists candidates by other routes."""
    wide = not run.scheme.random and run.diameter > APART * run.noise_std_at(run.steps - 1)
    if (order is None and delta is None) or wide or not isfinite(run.diameter):
        return []
    other = min(found, key=lambda one: one.value(order, delta))
    goal = Goal(order, delta, other.value(order, delta), cache(other.rdp))
    try:
        return _routes(run)[1](run, assumption, goal, other)
    except ArithmeticError:  # a table lost too many digits, so use the other routes
        return []


_Routes = tuple[Callable[..., list[Candidate]], Callable[..., list[Candidate]]]
_ROUTES: Mapping[str, _Routes] = {
    "full": (fixed_routes, contract_fixed),
    "cyclic": (fixed_routes, contract_fixed),
    "shuffled": (shuffled_routes, contract_shuffled),
    "without_replacement": (without_replacement_routes, contract_random),
    "poisson": (poisson_routes, contract_random),
    "momentum": (momentum_routes, contract_momentum),
}
"""Routes of each scheme: by shifts and composition, and by contraction."""


def _routes(run: NoisySGD) -> _Routes:
    return _ROUTES["momentum" if run.momentum else run.scheme.name]
