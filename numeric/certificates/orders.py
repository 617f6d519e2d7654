"""Orders of shuffled batches in certificates: distances, from which the checker computes what every order costs."""

from math import inf, isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.certificates.description import Node, dyadic, runs
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import PowerDrift
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shuffling.epoch_value_iteration import grid, iterate
from lastiterate.numeric.shuffling.oblivious_shifts import (
    Epochs,
    Orders,
    Shots,
    by_itself,
    next_shift,
    not_begun,
    pool,
    windows_of,
)
from lastiterate.numeric.shuffling.shuffled import View, affine_run

_WORK = 500_000
"""Costs that the checker may have to compute; coarser choices are made where there would be more."""
_FEWEST = 6
_UP = 1 + 1e-10
_EPOCHS = 3
"""Of equal epochs, each of which costs as much as the next, so many are enough to see it."""


def pooled_orders(run: NoisySGD, assumption: Assumption, route: str, chosen: Orders) -> tuple[Node, float]:
    """The proof of a bound that pools all orders, and its cost.

    Args:
        run: the run.
        assumption: what is assumed of the losses.
        route: of the bound.
        chosen: how it was found.
    """
    view = View(run, assumption)
    if route == "value iteration over orders":
        return _by_chords(view, chosen)
    known = view.drift()
    if route == "oblivious shifts" and known is not None and isfinite(known[1].diameter):
        return _by_windows(view, chosen, *known)
    if route == "each participation by itself" and known is not None:
        return _each_by_itself(view, chosen, *known)
    return _node(view, _first(view), [[]], chosen.cost), chosen.cost


def _node(view: View, since: int, lists: list[list[list[int]]], cost: float, ahead: int | None = None) -> Node:
    """A proof by lists of distances from the epoch ``since`` on, filled up with 0, or by nodes between chords."""
    steps = view.run.steps - since * view.batches
    rows = [[*rows, [0, 0, left]] if (left := steps - sum(row[-1] for row in rows)) else rows for rows in lists]
    many = {"chords": ahead is not None, "since": since, "ahead": ahead or 0, "distances": rows}
    return {"rule": "orders", **many, "cost": dyadic(cost)}


def _first(view: View) -> int:
    return max(view.count - _EPOCHS, 0) if view.run.constant else 0


def _by_chords(view: View, chosen: Orders) -> tuple[Node, float]:
    """The nodes of a table of costs; fewer where the checker would take long, and with every place told apart."""
    cells, found = chosen.cells, affine_run(view)
    cost, _, since = iterate(found, chosen.kappa, cells=cells)
    work = 4 * cells * (view.count - since) * view.batches
    if work > _WORK or len(found.epoch(0).weight) < len(view.steps(0)):
        cells = min(cells, max(cells * _WORK // work, _FEWEST))
        found = affine_run(View(view.run, view.assumption, every=True))
        cost, _, since = iterate(found, chosen.kappa, cells=cells)
    steps = view.run.steps - since * view.batches
    nodes = [[[*dyadic(z), steps]] for z in grid(found, cells).tolist()]
    return _node(view, since, nodes, cost, found.ahead), cost


def _by_windows(view: View, chosen: Orders, drift: PowerDrift, epochs: Epochs) -> tuple[Node, float]:
    """Distances that are left on paths that do not look at the order, step by step."""
    cost, start, hidden = oblivious_distances(drift, epochs, chosen.kappa, 2 * _WORK)
    lists = [_lengths(view, row[::-1]) for row in hidden]
    return _node(view, start // view.batches, lists, cost * _UP), cost * _UP


def _each_by_itself(view: View, chosen: Orders, drift: PowerDrift, epochs: Epochs) -> tuple[Node, float]:
    """Distances that participations leave to be hidden after them in their epochs."""
    assert chosen.kappa is not None  # noqa: S101
    since, cost, first = _first(view), 0.0, _first(view) * view.batches
    longest = max(len(hidden) for _, hidden in single_paths(drift, epochs, view.batches, _FEWEST)[1])
    most = max(_WORK // (max(longest, 20) * 20), _FEWEST)
    lists = np.zeros((1 + min(most, view.batches), view.run.steps - first))  # the first of a sample not met yet
    for k in range(since, view.count):
        here = view.steps(k)
        costs, paths = single_paths(drift, epochs, len(here), most)
        for row, (place, hidden) in zip(lists[1:], paths, strict=False):
            begin = here.start - first + place + 1
            row[begin : begin + len(hidden)] = hidden
        chances = np.append(np.ones(len(here)), view.batches - len(here)) / view.batches
        times = since + 1 if k == since else 1
        cost += times * float(pool(np.append(costs, 0.0)[:, None], chosen.kappa, chances)[0])
    return _node(view, since, [_lengths(view, row) for row in lists], cost * _UP), cost * _UP


def _lengths(view: View, distances: Array) -> list[list[int]]:
    """Rows of distances in units of the noise."""
    sigma = exact(view.run.noise_std_at(0))
    return runs([exact(one) * sigma if one > 0 else arb(0) for one in distances.tolist()])


def oblivious_distances(
    drift: PowerDrift, epochs: Epochs, kappa: float | None, work: float
) -> tuple[float, int, list[Array]]:
    """As `oblivious_cost` by few paths, and what each of them has hidden after the last w = 1, 2, ... steps.

    Args:
        drift: g, in units of the noise.
        epochs: the run, in a domain.
        kappa: as `oblivious_cost` has it.
        work: the square of the number of paths, times their steps; fewer than there are cost a little more.
    """
    _, earliest, used = not_begun(epochs, kappa, windows_of(drift, epochs, kappa, inf))
    prices, most = np.array(sorted(set(used))), max(int((work / (epochs.steps - earliest)) ** 0.5), 6)
    prices = prices[np.unique(np.linspace(0, len(prices) - 1, most).astype(int))]
    cost, start, used = not_begun(epochs, kappa, windows_of(drift, epochs, kappa, inf, prices))
    shots = Shots(drift, epochs, prices)
    shots.rows(0, epochs.steps - start)
    hidden = np.minimum(np.array(shots.distances), epochs.diameter).T
    return cost, start, [row for price, row in zip(prices.tolist(), hidden, strict=True) if price in used]


def single_paths(drift: PowerDrift, epochs: Epochs, steps: int, most: int) -> tuple[Array, list[tuple[int, Array]]]:
    """The costs of the participations of an epoch of so many steps by few paths, and the paths.

    A path is the place where it begins and what is left to hide step by step from there on; a participation between
    two places joins the path of an earlier one on its way.

    Args:
        drift: g, in units of the noise.
        epochs: the run.
        steps: of the epoch, at most ``epochs.batches``.
        most: so many paths; with fewer than there are steps the costs are a little larger.
    """
    _, lengths, prices = by_itself(drift, epochs)
    costs, paths = np.full(steps, epochs.s**2), []
    for place in np.unique(np.linspace(0, steps - 1, most).astype(int)).tolist():
        left = min(steps - 1 - place, len(lengths) - 1)
        count, A, xi, paid = int(lengths[left]), np.zeros(1), np.array([prices[left]]), 0.0
        hidden = np.zeros(count)
        for k in range(count):
            paid += float(xi[0]) ** 2
            A = drift.inverse(A + xi)
            hidden[count - 1 - k] = A[0]
            at = place + count - 1 - k
            costs[at] = min(costs[at], paid + max(epochs.s - float(A[0]), 0.0) ** 2)
            xi = next_shift(xi, drift, A)
        paths.append((place, hidden))
    return costs, paths
