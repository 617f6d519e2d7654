"""Bounds for batches from a fresh permutation in every epoch: for the worst order and the mean over orders.

The permutations are the same for both runs and known in the analysis. An order states which batch of each
epoch holds the differing sample; given the order, the run is a shift program with the cost cost(order). The
last iterates are mu-GDP with mu^2 the maximum of cost(order), and their Renyi divergence at order alpha is at
most the mean 1/(alpha - 1) log E exp((alpha - 1) alpha / 2 cost(order)).

For affine expansions, value iteration (`epoch_value_iteration`) covers all orders at once in both cases. For
the mean under any modulus, each participation is hidden on its own in the rest of its epoch
(`each_by_itself`). If a later participation is never cheaper, the worst order has its participations at the
ends of the epochs (`taut_string.cheapest`). Otherwise, the cost with the sample in every batch is also tried.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*); Chien & Li 2025, (62), for the mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np
from flint import arb

from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Holder
from lastiterate.numeric.losses.expansion import PowerDrift, UpdateExpansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.positions import for_group, meets_in_one_batch
from lastiterate.numeric.shift_program.program import Path, ShiftProgram
from lastiterate.numeric.shift_program.taut_string import Participations, cheapest
from lastiterate.numeric.shuffling.epoch_value_iteration import (
    Epoch,
    Shuffled,
    iterate,
    merge_epoch,
    merge_equal_epoch,
    pool,
)

_HIGHEST = 1e9
"""Renyi order above which only the worst order of the batches is used."""
_MOST_PLACES = 2048
_AHEAD = 6
_KNOWN_AHEAD = 12
_FINE = 96
_COARSE = 48
_TOLD_APART = 24
_RATIO = 0.08
_GROWN = 0.1
_HUGE = 1e140
"""Largest growth of a distance in a merged epoch, so that squares stay in the range of floats."""
_LONGEST, _SHOTS = 4096, 257
"""Maximum number of steps that hide a preceding participation, and number of paths tried."""
_EPS, _UP = float(np.finfo(float).eps), 1 + 1e-11


@dataclass(frozen=True)
class Epochs:
    """A run of ``steps`` updates, ``batches`` per epoch, with sensitivity ``s`` in units of the noise."""

    steps: int
    batches: int
    s: float

    def composition(self, kappa: float | None) -> float:
        """Pooled cost of hiding each participation in its own step; the last epoch may have none."""
        whole, rest = divmod(self.steps, self.batches)
        one = self.s**2
        if not rest:
            return whole * one * _UP
        shares = np.array([1 - rest / self.batches, rest / self.batches])
        return (whole * one + float(pool(np.array([[0.0], [one]]), kappa, shares)[0])) * _UP


class View:
    """Expansions of a run with and without the sample, and the run's epochs."""

    def __init__(self, run: NoisySGD, assumption: Assumption) -> None:
        if not run.scheme.permuted:
            raise InputError(f"A View needs shuffled batches, got sampling={run.sampling!r}; call bound.")
        self.run, self.assumption = run, assumption
        self.batches, self.count = run.batches, -(-run.steps // run.batches)
        self._epochs: dict[int, Epoch | None] = {}
        self.into(0)  # raises if the assumption does not fit the run

    def into(self, t: int) -> UpdateExpansion:
        """Expansion of step t if its batch holds the sample."""
        return self.assumption.expansion(self.run, t, differs=self.run.group)

    def free(self, t: int) -> UpdateExpansion:
        """Expansion of step t if its batch does not hold the sample."""
        return self.assumption.expansion(self.run, t, differs=False)

    def steps(self, k: int) -> range:
        """Steps of the k-th epoch."""
        return range(k * self.batches, min((k + 1) * self.batches, self.run.steps))

    def alone(self, t: int) -> arb:
        """Cost of hiding the sample in the step t that uses it."""
        return (self.into(t).sensitivity / exact(self.run.noise_std_at(t))) ** 2

    def composition(self) -> arb:
        """Sum over epochs of the largest cost of hiding the sample in one step."""
        if self.run.constant:
            return self.count * self.alone(0)
        return sum((exact(max(upper(self.alone(t)) for t in self.steps(k))) for k in range(self.count)), arb(0))

    def lines(self, t: int) -> tuple[tuple[arb, arb], tuple[arb, arb]] | None:
        """Lines (c, 0) above e without the sample and (d, s) above e with the sample, if both exist."""
        free, into = self.free(t).affine_on(0.0), self.into(t).affine_on(0.0)
        return (free, into) if free is not None and into is not None and free[1] == 0 else None

    @property
    def late(self) -> Participations | None:
        """Program of the order with the latest participations; None if another order may cost more."""
        lines = self.lines(0) if self.run.constant else None
        if lines is None or not (c := lines[0][0].max(lines[1][0])) <= 1:
            return None
        gap = self.run.steps % self.batches or self.batches
        s, noise = lines[1][1], self.run.noise_std_at(0)
        return Participations(c, c, s, noise, self.run.steps, self.count, 1, gap, self.batches)

    def drift(self) -> tuple[PowerDrift, Epochs] | None:
        """A bound on every update without the sample, if steps are constant and the losses expansive."""
        run = self.run
        if not run.constant or not self.assumption.expansive(replace(run, weight_decay=0.0)):
            return None
        eta, sigma = exact(run.step_size_at(0)), exact(run.noise_std_at(0))
        cap = upper(2 * eta * exact(run.clip_norm) / sigma)
        drift = PowerDrift(inf, 1.0, cap)
        if isinstance(self.assumption, Holder) and self.assumption.L > 0:
            lam = self.assumption.lam
            drift = PowerDrift(upper(eta * exact(self.assumption.L) * sigma ** (exact(lam) - 1)), lam, cap)
        elif (line := self.free(0).affine_on(0.0)) is not None and line[0] <= 1:  # above e
            drift = PowerDrift(0.0, 1.0)
        return drift, Epochs(run.steps, self.batches, upper(self.into(0).sensitivity / sigma))

    def epoch(self, k: int) -> Epoch | None:
        """The k-th epoch with free steps merged; None if a step has no `lines` or growth is huge."""
        known = min(k, self.count - 1) if not self.run.constant or k == self.count - 1 else 0
        if known not in self._epochs:
            self._epochs[known] = self._merged(known)
        return self._epochs[known]

    def _merged(self, k: int) -> Epoch | None:
        steps, rows = self.steps(k), []
        for t in steps if not self.run.constant else steps[:1]:
            lines = self.lines(t)
            if lines is None:
                return None
            (free, _), (into, step) = lines
            rows.append((upper(free), upper(into), upper(step), self.run.noise_std_at(t)))
        with np.errstate(over="ignore"):
            if self.run.constant:
                c, d, s, noise = rows[0]
                if len(steps) * log(max(c, 1.0)) > log(_HUGE):
                    return None
                places = _places(c, len(steps)) if d <= c else range(len(steps))
                found = merge_equal_epoch(c, d, s, noise, len(steps), self.batches, places)
            else:
                free_growth, growth, sensitivity, noises = np.array(rows).T
                found = merge_epoch(free_growth, growth, sensitivity, noises, self.batches)
        greatest = max(found.whole, float(found.head.max()), float(found.tail.max()))
        return found if greatest <= _HUGE and isfinite(found.whole_noise) else None


def _places(c: float, steps: int) -> list[int]:
    widest = _GROWN / log(max(c, 1 + 1e-12))
    back, places = 0.0, []
    while back < steps:
        places.append(steps - 1 - int(back))
        back += max(1.0, min(back * _RATIO, widest)) if back >= _TOLD_APART else 1.0
    return sorted(set(places))


def shuffled_routes(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool
) -> list[Candidate]:
    """Bounds for the worst order of the batches and the mean over orders."""
    if run.group > 1:  # the mean over orders is not known for samples in several batches
        together = meets_in_one_batch(run, assumption)
        found = worst_routes(run if together else replace(run, group=1), assumption)
        return found if together else [for_group(one, run) for one in found]
    found = worst_routes(run, assumption)
    worst = min(found, key=lambda one: one.pair.cost)
    found = found if every else [worst]
    if delta is not None:
        found.append(_mean_at_delta(run, assumption, delta, worst.pair))
    elif order is not None and order <= _HIGHEST:
        found += mean_routes(View(run, assumption), order, worst.pair)
    return found


def worst_routes(run: NoisySGD, assumption: Assumption) -> list[Candidate]:
    """Every bound for the worst order of the batches."""

    def always(route: str, cost: arb, start: int, path: Path | None = None) -> Candidate:
        found = None if path is None else Optimum(cost, path, route)  # else each order has its own shifts
        window, pair = (start, run.steps), DominatingPair(upper(cost))
        return Candidate(route, "ours/shuffled/worst", window, pair, optimum=found, position=run.batches - 1)

    with precision():
        view = View(run, assumption)
        found = [always("composition", view.composition(), 0)]
        if isfinite(run.diameter):
            last = (
                view.into(run.steps - 1).ball(exact(run.diameter)) / exact(run.noise_std_at(run.steps - 1))
            ) ** 2
            found.append(always("one last step", last, run.steps - 1))
        if view.late is not None:
            cost, path = cheapest(view.late, run.diameter)
            cost /= exact(run.noise_std_at(0)) ** 2
            return [*found, always("taut string, every participation late", cost, path.start, path)]
        for least, start, route in _pooled(view, None, _FINE):
            found.append(always(route, exact(least), start))
        every = optimum(ShiftProgram(replace(run, sampling="without_replacement"), assumption))
        return [*found, always("in every batch", every.cost, every.path.start)]


def _mean_at_delta(run: NoisySGD, assumption: Assumption, delta: float, worst: DominatingPair) -> Candidate:
    from scipy.optimize import minimize_scalar  # a slow import that fixed batches do not need

    view, tried = View(run, assumption), list[tuple[float, Candidate]]()

    def at(position: float, cells: int = _COARSE) -> float:
        order = 1 + 10.0**position
        found = min(mean_routes(view, order, worst, cells), key=lambda one: one.rdp(order))
        tried.append((found.dp(delta), found))
        return tried[-1][0]

    best: Any = minimize_scalar(
        at, bounds=(-1.5, 2.3), method="bounded", options={"maxiter": 10, "xatol": 0.01}
    )
    at(float(best.x), _FINE)
    return min(tried, key=lambda one: one[0])[1]


def mean_routes(view: View, order: float, worst: DominatingPair, cells: int = _FINE) -> list[Candidate]:
    """Every bound for the mean over orders at a Renyi order; ``worst`` dominates each single order."""
    with precision():
        kappa = upper(exact(order) * (exact(order) - 1) / 2)
        return [
            Candidate(
                route,
                "ours/shuffled/mean",
                (start, view.run.steps),
                worst,
                renyi=(order, upper(exact(order) * exact(cost) / 2)),
            )
            for cost, start, route in _pooled(view, kappa, cells)
        ]


def _pooled(view: View, kappa: float | None, cells: int) -> Iterator[tuple[float, int, str]]:
    """Triples (cost, earliest start, route), one for each way to pool all orders."""
    known = view.drift()
    if kappa is not None:
        yield _composed(view, kappa), 0, "composition"
        if known is not None:
            yield each_by_itself(*known, kappa), 0, "each participation by itself"
    epochs_known = (view.epoch(k) for k in ((0, view.count - 1) if view.run.constant else range(view.count)))
    if any(epoch is None or len(epoch.weight) > _MOST_PLACES for epoch in epochs_known):
        return
    cost, first = iterate(affine_run(view), kappa, cells=cells)
    yield cost, first * view.batches, "value iteration over orders"


def _composed(view: View, kappa: float) -> float:
    run = view.run
    if run.constant:
        s = upper(view.into(0).sensitivity / exact(run.noise_std_at(0)))
        return Epochs(run.steps, view.batches, s).composition(kappa)
    total = 0.0
    for k in range(view.count):
        each = [upper(view.alone(t)) for t in view.steps(k)]
        costs = np.array([*each, 0.0])  # the last epoch may end before the sample is used
        chances = np.append(np.full(len(each), 1.0), view.batches - len(each)) / view.batches
        total += float(pool(costs[:, None], kappa, chances)[0])
    return total * _UP


def affine_run(view: View) -> Shuffled:
    """The run for `iterate`, with a grid that covers all relevant paths."""
    run = view.run

    def epoch(k: int) -> Epoch:
        found = view.epoch(k)
        if found is None:
            raise AssertionError("every epoch is affine")
        return found

    some = epoch(0)
    eta = max(run.step_size) if isinstance(run.step_size, tuple) else run.step_size
    s = 2 * eta * run.clip_norm / run.batch
    growth = float(some.whole)
    reach = s * (min(view.count, 1 / (1 - growth)) + 4 if growth < 1 else 8 * min(growth, 4.0))
    # A diameter that is never reached, or costs more to hide than all participations, is not a useful start.
    useful = (
        s / (1 - growth) + s if growth < 1 and run.constant else 2 * s * sqrt(float(view.count) * run.steps)
    )
    diameter = run.diameter if run.diameter <= useful else inf
    ahead = _AHEAD if len(some.weight) <= _KNOWN_AHEAD else 0
    return Shuffled(
        epoch, view.count, run.constant, diameter, diameter if isfinite(diameter) else reach, s, ahead
    )


def each_by_itself(drift: PowerDrift, epochs: Epochs, kappa: float) -> float:
    """Pooled cost, rounded up, of hiding each participation on its own in the rest of its epoch."""
    rest, batches, cost = epochs.steps % epochs.batches, epochs.batches, by_itself(drift, epochs)

    def mean(steps: int) -> float:
        chances = np.ones(min(steps, len(cost)))
        chances[-1] += steps - len(chances)
        return float(
            pool(
                np.append(cost[: len(chances)], 0.0)[:, None],
                kappa,
                np.append(chances, batches - steps) / batches,
            )[0]
        )

    return ((epochs.steps // batches) * mean(batches) + (mean(rest) if rest else 0.0)) * _UP


@lru_cache(maxsize=4)
def by_itself(drift: PowerDrift, epochs: Epochs) -> Array:
    """Least sum of a_t^2 + (s - A)_+^2 over shots, for k = 0, 1, ... steps whose shifts a_t hide A."""
    cost = np.full(min(epochs.batches, _LONGEST), epochs.s**2)
    xi = np.geomspace(1e-6, 1.0, _SHOTS) * epochs.s
    A, paid, lost = np.zeros_like(xi), np.zeros_like(xi), np.zeros_like(xi)
    for k in range(1, len(cost)):
        paid, lost = paid + xi**2, lost + 4 * _EPS * (A + xi)
        A = drift.inverse(A + xi)
        each = paid + np.maximum(epochs.s - A + lost, 0.0) ** 2
        cost[k:] = min(float(each.min()), float(cost[k]))
        xi = next_shift(xi, drift, A)
        if float(paid.min()) > float(cost[k]):
            break
    return cost


def next_shift(xi: Array, drift: PowerDrift, A: Array) -> Array:
    """Shift of the preceding step on the best path, capped."""
    with np.errstate(over="ignore"):
        return np.minimum(xi * drift.slope(A), 1e150)
