"""Forgetting: how well noisy steps on the remaining data hide that a sample was used.

A model is trained with a sample, which is then deleted; clean steps on the remaining data follow. The law of
the last iterate is compared with the laws named in `Forgetting`, in both directions. Without the sample, a
full or cyclic batch is averaged over its other samples, as if the sample were replaced by a sample with their
mean gradient. For shuffled batches and batches without replacement, the sample is replaced by another sample;
for Poisson batches, it is left out.

Source: docs/proofs/contraction.md, docs/proofs/reflection.md (claim ours/contraction/forgetting).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import inf, isfinite, log, nextafter
from typing import ClassVar

import numpy as np

from lastiterate.numeric.accounting.batches import least_range
from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.contraction.chain import Goal, TableCandidate, resample
from lastiterate.numeric.contraction.table import Table, gaussian_table, spread_nodes, unknown
from lastiterate.numeric.contraction.uses import Clean
from lastiterate.numeric.display import Displayed, TextTable, facts, printed_loss
from lastiterate.numeric.errors import InputError, count, order_or_delta, positive, teaches
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD, described_run, refuse_extreme

_MOST_STEPS = 10**9
"""Maximum number of clean steps."""

_Deleted = tuple[Bound, Table, Callable[[float], float], NoisySGD, float | None]
"""Bound at the deletion, its profile and its Renyi bounds, a clean step, and the start without a domain."""

_COARSE, _FINE, _READ, _RARELY = 60, 240, 12, 7.0
"""Nodes of the first and last table, points of a profile, and -log of the share of delta for large batches."""


@teaches()
@dataclass(frozen=True, eq=False)
class Forgetting(Displayed):
    """Bounds on what is left of a deleted sample after clean steps, rounded up.

    Attributes:
        trained: bound for the run up to the deletion.
        clean: the clean steps as a run.
        epsilon: compared with a run without the sample, trained in the same way and with the same clean
            steps.
        retrained: compared with any model in the domain that is obtained from the remaining data alone, with
            the same clean steps at the end.
        shifts: bound by shifts of the clean steps alone, valid for both comparisons.
        claim: the ledger's claim for blocks of steps; for reflected noise see docs/proofs/reflection.md.
    """

    trained: Bound
    clean: NoisySGD
    order: float | None
    delta: float | None
    epsilon: float
    retrained: float
    shifts: float
    claim: str = field(default="ours/contraction/forgetting", init=False)
    _kind: ClassVar = "forgetting"
    _named: ClassVar = "clean_steps epsilon retrained before shifts order delta claim assumptions"

    @property
    def clean_steps(self) -> int:
        """Number of clean steps."""
        return self.clean.steps

    @property
    def before(self) -> float:
        """Epsilon at the deletion."""
        return self.trained.epsilon

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions behind the numbers, in words."""
        eta, noise = self.clean.step_size_at(0), self.clean.noise_std_at(0)
        then = f"then {self.clean_steps} steps without the sample follow, the same in both runs, with step size {eta:g}"
        return (*self.trained.assumptions, f"{then} and noise of standard deviation {noise:g}")

    def __str__(self) -> str:
        return printed_loss(self.epsilon, self.order, self.delta)

    def table(self) -> TextTable:
        numbers = {
            "at the deletion": self.before,
            "against the run that never saw the sample": self.epsilon,
            "against any model retrained with at least as many such steps": self.retrained,
            "by shifts of the clean steps only": self.shifts,
        }
        values = {"clean steps": str(self.clean_steps)} | {name: printed_up(x) for name, x in numbers.items()}
        at = f"delta = {self.delta:g}" if self.order is None else f"order {self.order:g}"
        values["claim"] = f"{self.claim} for blocks of steps, docs/proofs/reflection.md for reflected noise"
        return facts(f"What is left of a deleted sample: epsilon at {at}, rounded up", values, self.assumptions)


@teaches()
def forgetting(
    run: NoisySGD,
    assumption: Assumption,
    clean_steps: int,
    *,
    order: float | None = None,
    delta: float | None = None,
    step_size: float | None = None,
    noise_std: float | None = None,
    start: float | None = None,
) -> Forgetting:
    """Bound what the last iterate reveals about a deleted sample after clean steps on the rest of the data.

    ``step_size`` and ``noise_std`` are those of the clean steps and default to those of the run's last step.
    Without a domain, the models at the deletion must be projected onto a convex set of diameter ``start``, such
    as a ball of half this radius, and only shifts hide this distance. Other arguments are as in `bound`.

    Raises:
        InputError: as in `bound`, or neither or both of the run's diameter and ``start`` are given.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=500, step_size=0.1, noise_std=1, clip_norm=1, dataset_size=20, diameter=2)
    >>> found = forgetting(run, Convex(1.0), 8, delta=1e-5)
    >>> found.epsilon < found.retrained < found.shifts
    True
    """
    steps = count("clean_steps", clean_steps)
    return _after(_deleted(run, assumption, order, delta, step_size, noise_std, start), assumption, steps)


@teaches()
def steps_to_forget(
    run: NoisySGD,
    assumption: Assumption,
    *,
    epsilon: float,
    order: float | None = None,
    delta: float | None = None,
    step_size: float | None = None,
    noise_std: float | None = None,
    start: float | None = None,
    retrained: bool = False,
) -> Forgetting:
    """Find a number of clean steps that meets a target that one step fewer misses.

    The target ``epsilon`` > 0 is for `Forgetting.epsilon`, or for `Forgetting.retrained` if ``retrained``;
    the other arguments are as in `forgetting`.

    Raises:
        InputError: as in `forgetting`; or the target is met at the deletion, or is not met within 10^9 steps.
    """
    epsilon = positive("epsilon", epsilon, toward=-inf)
    deleted = _deleted(run, assumption, order, delta, step_size, noise_std, start)
    if not retrained and (trained := deleted[0]).epsilon <= epsilon:
        raise InputError(
            f"steps_to_forget needs a target below {trained.epsilon:.6g}, which already holds at the deletion, got "
            f"epsilon={epsilon:g}; no clean step is needed."
        )

    @cache
    def at(steps: int) -> Forgetting:
        return _after(deleted, assumption, steps)

    def missed(steps: int) -> bool:
        return (at(steps).retrained if retrained else at(steps).epsilon) > epsilon

    low, high = 0, 1
    while missed(high):
        if high >= _MOST_STEPS:
            raise InputError(
                f"The target must be reachable in at most {_MOST_STEPS:,} clean steps, got epsilon={epsilon:g}; "
                "add noise to the clean steps."
            )
        low, high = high, min(4 * high, _MOST_STEPS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if missed(middle) else (low, middle)
    return at(high)


def _deleted(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    step_size: float | None,
    noise_std: float | None,
    start: float | None,
) -> _Deleted:
    described_run("forgetting", run)
    described_assumption(assumption)
    order, delta = order_or_delta("forgetting", order, delta)
    if isfinite(run.diameter) == (start is not None):
        raise InputError(
            f"forgetting needs either a domain of finite diameter or a start, got diameter={run.diameter:g}, "
            f"start={start}; start is the diameter of a set onto which the models are projected once, at the deletion."
        )
    start = None if start is None else positive("start", start, toward=inf)
    eta = run.step_size_at(run.steps - 1) if step_size is None else positive("step_size", step_size)
    noise = run.noise_std_at(run.steps - 1) if noise_std is None else positive("noise_std", noise_std)
    step = replace(run, steps=1, step_size=eta, noise_std=noise)  # a schedule has one number per step
    refuse_extreme("forgetting", step, assumption)
    trained = bound(run, assumption, order=order, delta=delta)
    return trained, _profile(trained), cache(trained.rdp), step, start


def _after(deleted: _Deleted, assumption: Assumption, steps: int) -> Forgetting:
    trained, profile, rdp, step, start = deleted
    delta, after = trained.delta, replace(step, steps=steps)
    order = trained.order if delta is None else None  # else the order of a converted Renyi bound
    largest, left = _largest(after, delta)
    clean = Clean(after, assumption, largest, start)
    pair = DominatingPair(clean.cost(steps))
    shifts = gdp_epsilon(pair.mu, left) if left is not None else pair.rdp(order or 2.0)
    known = min(trained.epsilon, shifts)
    if start is not None:
        return Forgetting(trained, after, order, delta, known, shifts, shifts)
    goal = Goal(order, left, known, lambda at: min(rdp(at), pair.rdp(at)))
    found = min(known, _settled(clean, goal, lambda nodes: resample(profile, nodes)))
    retrained = min(shifts, _settled(clean, Goal(order, left, shifts, pair.rdp), unknown))
    return Forgetting(trained, after, order, delta, min(found, retrained), retrained, shifts)


def _largest(run: NoisySGD, delta: float | None) -> tuple[int, float | None]:
    """Size that no clean batch exceeds outside an event common to both runs, and the remaining delta."""
    others = run.dataset_size - 1
    if run.scheme.fixed_size or delta is None or run.batch == run.dataset_size:
        return others, delta
    rate = Fraction(run.batch, run.dataset_size)
    _, largest, chance = least_range(others, rate, log(delta) - log(run.steps) - _RARELY, both=False)
    return largest, nextafter(float(Fraction(delta) - run.steps * Fraction(chance)), 0.0)


def _profile(trained: Bound) -> Table:
    candidate: Candidate = trained.candidate
    if isinstance(candidate, TableCandidate):
        return Table(candidate.table.g, worse := candidate.table.worse, worse)
    if candidate.pair.gaussian and candidate.renyi is None:
        return gaussian_table(candidate.pair.mu)
    known = trained.epsilon
    near, wide = np.linspace(0, 1.2 * known, _READ), spread_nodes(0.1 * known, 60.0 + 3 * known, 2 * _READ)
    logs = near if trained.delta is not None else wide
    values = np.minimum.accumulate([min(candidate.delta(float(x)), 1.0) for x in logs])
    return Table(np.exp(logs), values, values)


def _settled(clean: Clean, goal: Goal, start: Callable[[Array], Table]) -> float:
    number = goal.known if isfinite(goal.known) else 10.0
    for _ in range(3):
        found = goal.value(clean.after(start(goal.nodes(number, _COARSE))))
        if not number > 4 * found > 0:
            break
        number = found
    return min(found, goal.value(clean.after(start(goal.nodes(found if 0 < found < inf else number, _FINE)))))
