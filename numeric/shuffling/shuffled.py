"""Batches from a fresh permutation in every epoch: the worst order, and the mean over orders.

The n samples are permuted uniformly at the beginning of every epoch and cut into l = n / b batches. The permutations
are the same for both runs and known in the analysis; in epoch k the sample that differs is in batch p_k, uniform on
0..l-1 and independent. Given (p_1..p_E) the run is a shift program with known encounters, of cost(order).

Worst order    mu-GDP with mu^2 = max over orders of cost(order).
Mean           exp((alpha - 1) D_alpha) is jointly convex, whichever law is the numerator, so at order alpha
               epsilon = 1/(alpha - 1) log E exp((alpha - 1) alpha / 2 cost(order)), Chien & Li 2025, (62).

Both are over all orders at once by value iteration (`epoch_iteration`, affine expansions) or by shifts that do not look
at the order (`blind_shifts`, any modulus); where a later encounter is never cheaper (z' = c z with c <= 1, constant
steps) the worst order has its encounters at the ends of the epochs, and its program is solved exactly (`encounters`).
Elsewhere there is also what it would cost if the sample were in every batch, which is best where growth without it is
as fast as with it (clipping alone).

Source: docs/proofs/shuffled.md (claims ours/shuffled/*).
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from flint import arb

from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.participations import cheapest
from lastiterate.numeric.shift_program.paths import AnyOrder, Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shuffling.epoch_value_iteration import Epoch, Shuffled, iterate
from lastiterate.numeric.shuffling.oblivious_shifts import Epochs, blind_cost, each_by_itself, pool
from lastiterate.numeric.shuffling.schedule import View

__all__ = ["mean_routes", "shuffled_routes", "worst_routes"]

_HIGHEST = 1e9
"""Beyond this order only the worst order of the batches is looked at."""
_MOST_PLACES = 2048
_AHEAD = 6
_KNOWN_AHEAD = 12
_FINE = 96
_COARSE = 48


def shuffled_routes(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool
) -> list[Candidate]:
    """Bounds for the worst order of the batches, and on the mean over orders; arguments as `candidates` has them."""
    found = worst_routes(run, assumption)
    worst = min(found, key=lambda one: one.pair.cost)
    found = found if every else [worst]
    if delta is not None:
        found.append(_mean_at_delta(run, assumption, delta, worst.pair))
    elif order is not None and order <= _HIGHEST:
        found += mean_routes(run, assumption, order, worst.pair)
    return found


def worst_routes(run: NoisySGD, assumption: Assumption) -> list[Candidate]:
    """Every bound for the worst order.

    Args:
        run: a run with shuffled batches.
        assumption: what is assumed of the losses.
    """

    def always(route: str, cost: arb, path: Shifts) -> Candidate:
        found, window = Optimum(cost, path, route), (path.start, run.steps)
        pair = DominatingPair(upper(cost))
        return Candidate(route, "ours/shuffled/worst", window, pair, optimum=found, position=run.batches - 1)

    with precision():
        view = View(run, assumption)
        found = [always("composition", view.composition(), AnyOrder(0))]
        if isfinite(run.diameter):
            last = (view.into(run.steps - 1).ball(exact(run.diameter)) / exact(run.noise_std_at(run.steps - 1))) ** 2
            found.append(always("one last step", last, AnyOrder(run.steps - 1, run.diameter)))
        if view.late is not None:
            cost, path = cheapest(view.late, run.diameter)
            cost /= exact(run.noise_std_at(0)) ** 2
            return [*found, always("taut string, every encounter late", cost, path)]
        found += [always(route, exact(cost), AnyOrder(start)) for cost, start, route in _pooled(view, None, _FINE)]
        every = optimum(ShiftProgram(replace(run, sampling="without_replacement"), assumption))
        return [*found, always("in every batch", every.cost, AnyOrder(every.path.start, every.path.distance))]


def mean_routes(run: NoisySGD, assumption: Assumption, order: float, worst: DominatingPair) -> list[Candidate]:
    """Every bound on the mean over orders, at one Renyi order.

    Args:
        run: a run with shuffled batches.
        assumption: what is assumed of the losses.
        order: alpha > 1.
        worst: dominates every order by itself, and so their mixture.
    """
    return _means(View(run, assumption), order, worst, _FINE)


def _mean_at_delta(run: NoisySGD, assumption: Assumption, delta: float, worst: DominatingPair) -> Candidate:
    """The bound on the mean over orders whose conversion at one delta is the least found."""
    from scipy.optimize import minimize_scalar  # a slow import that fixed batches do not need

    view, tried = View(run, assumption), list[tuple[float, Candidate]]()

    def at(position: float, cells: int = _COARSE) -> float:
        order = 1 + 10.0**position
        found = min(_means(view, order, worst, cells), key=lambda one: one.rdp(order))
        tried.append((found.dp(delta), found))
        return tried[-1][0]

    best: Any = minimize_scalar(at, bounds=(-1.5, 2.3), method="bounded", options={"maxiter": 10, "xatol": 0.01})
    at(float(best.x), _FINE)
    return min(tried, key=lambda one: one[0])[1]


def _means(view: View, order: float, worst: DominatingPair, cells: int) -> list[Candidate]:
    """Means over orders; a table of fewer cells is faster and never below."""
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
    """(cost, first start, route) of each way to pool all orders."""
    run = view.run
    blind = view.drift()
    if blind is not None:
        drift, epochs = blind
        yield epochs.composition(kappa), 0, "composition"
        if isfinite(epochs.diameter):
            yield *blind_cost(drift, epochs, kappa), "shifts blind to the order"
        if kappa is not None:
            yield each_by_itself(drift, epochs, kappa), 0, "each encounter by itself"
    elif kappa is not None:
        yield _composed(view, kappa), 0, "composition"
    epochs_known = (view.epoch(k) for k in ((0, view.count - 1) if run.constant else range(view.count)))
    if any(epoch is None or len(epoch.weight) > _MOST_PLACES for epoch in epochs_known):
        return
    cost, first = iterate(_affine(view), kappa, cells=cells)
    yield cost, first * view.batches, "value iteration over orders"


def _composed(view: View, kappa: float) -> float:
    """Each epoch pays for its encounter, in the mean over orders."""
    run = view.run
    if run.constant:
        s = upper(view.into(0).sensitivity / exact(run.noise_std_at(0)))
        return Epochs(run.steps, view.batches, s, inf).composition(kappa)
    total = 0.0
    for k in range(view.count):
        steps = range(k * view.batches, min((k + 1) * view.batches, run.steps))
        each = [upper((view.into(t).sensitivity / exact(run.noise_std_at(t))) ** 2) for t in steps]
        costs = np.array([*each, 0.0])  # the last epoch may end before the sample is met
        chances = np.append(np.full(len(each), 1.0), view.batches - len(each)) / view.batches
        total += float(pool(costs[:, None], kappa, chances)[0])
    return total * (1 + 1e-11)


def _affine(view: View) -> Shuffled:
    """The run for `iterate`, its grid as wide as paths that pay."""
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
    # A domain so wide that its distance is never reached, or dearer to hide than every encounter, is no start.
    useful = s / (1 - growth) + s if growth < 1 and run.constant else 2 * s * sqrt(float(view.count) * run.steps)
    diameter = run.diameter if run.diameter <= useful else inf
    ahead = _AHEAD if len(some.weight) <= _KNOWN_AHEAD else 0
    return Shuffled(epoch, view.count, run.constant, diameter, diameter if isfinite(diameter) else reach, s, ahead)
