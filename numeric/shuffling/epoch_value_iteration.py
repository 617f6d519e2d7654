"""Risk-sensitive value iteration over the epochs of shuffled batches, for affine expansions.

The order of an epoch is revealed when the epoch begins. U_k(z) is the least cost of hiding the distance z
from epoch k on. A path starts at time 0 from 0, or from the diameter at the beginning of an epoch or right
after a participation. The costs x of all orders are pooled by log mean exp(kappa x) / kappa or by their
maximum. Steps without the sample merge: they multiply z by C, the product of their factors c, and hide a
distance A at cost A^2 / S. For an order p with the participation d x + s, C and S before it, and C' and S'
from it on,

    G_p(x) = min_y (C' (d x + s) - y)_+^2 / S' + U_{k+1}(y),   V_p(z) = min_x (C z - x)_+^2 / S + G_p(x).

U_k is convex and nondecreasing, so chords lie above it, and no grid or float error lowers a value. With
constant steps, U_{k-1} <= U_k + rho everywhere implies this inequality for all earlier epochs.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*). Lengths are in units of the noise if it is constant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, geometric_sum, lower, precision, upper

_EPS = float(np.finfo(float).eps)
_UP = 1 + 32 * _EPS
_ROWS = 512
_SETTLED = 1e-5
_SHORT, _LONGEST = 64, 1000
_CERTAIN = np.ones(1)


def pool(values: Array, kappa: float | None, weights: Array | None = None) -> Array:
    """Maximum of the rows x, or weighted log mean exp(kappa x) / kappa given ``kappa``, rounded up."""
    top = values.max(axis=0)
    if kappa is None:
        return np.asarray(top)
    count = len(values)
    chance = np.full(count, 1 / count) if weights is None else weights
    with np.errstate(invalid="ignore"):
        below = np.where(np.isfinite(values), kappa * (values - top), -inf)
    column = chance.reshape(-1, *([1] * (values.ndim - 1)))
    # With q = 1 - mean of exp, the logarithm uses q or 1 - q, whichever is accurate in floats.
    q = -np.sum(column * np.expm1(below), axis=0)
    far = np.sum(column * np.exp(below), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(q < 0.5, np.log1p(-np.minimum(q, 0.75)), np.log(far))
        slack = 8 * (count + 64) * _EPS * np.minimum(q, 1.0)
        mean = top + (part + slack) / kappa
    return np.asarray(np.where(np.isfinite(top), np.minimum(mean + 4e-16 * top, top), top))


@dataclass(frozen=True, eq=False)
class Epoch:
    """The P orders of one epoch, each with its free steps merged; growth rounded up, noise rounded down.

    Attributes:
        weight: (P,), probabilities of the orders, which sum to 1 with ``never``.
        head, head_noise: (P,), C and S of the steps before the participation; S = 0 without such steps.
        into, step: (P,), d and s of the participation.
        tail, tail_noise: (P,), C and S of the steps from the participation on (C without its own d).
        free_noise: (P,), S of the steps after the participation.
        never: probability that the epoch is cut before the participation.
        whole, whole_noise: C and S of all steps of the epoch.
    """

    weight: Array
    head: Array
    head_noise: Array
    into: Array
    step: Array
    tail: Array
    tail_noise: Array
    free_noise: Array
    never: float
    whole: float
    whole_noise: float

    @property
    def chances(self) -> Array:
        """Probabilities of the orders and, if the epoch may be cut, of no participation."""
        return np.append(self.weight, self.never) if self.never > 0 else self.weight


def merge_epoch(c: Array, d: Array, s: Array, noise: Array, batches: int) -> Epoch:
    """Epoch of n <= ``batches`` steps; its orders, one per step that may use the sample, are equally likely.

    Arrays of shape (n,): growth c without and d with the sample and sensitivity s, rounded up; noise, rounded
    down.
    """
    n = len(c)
    grow, shrink = 1 + 4 * (n + 4) * _EPS, 1 - 8 * (n + 4) * _EPS
    head, head_noise = np.ones(n + 1), np.zeros(n + 1)
    tail, tail_noise = np.ones(n + 1), np.zeros(n + 1)
    for t in range(n):
        head[t + 1] = head[t] * c[t]
        head_noise[t + 1] = head_noise[t] * c[t] ** 2 + noise[t] ** 2
    for t in reversed(range(n)):
        tail[t] = tail[t + 1] * c[t]
        tail_noise[t] = tail_noise[t + 1] + (noise[t] * tail[t + 1]) ** 2
    return Epoch(
        np.full(n, 1 / batches),
        head[:-1] * grow,
        head_noise[:-1] * shrink,
        d,
        s * grow,
        tail[1:] * grow,
        tail_noise[:-1] * shrink,
        tail_noise[1:] * shrink,
        (batches - n) / batches,
        float(head[n]) * grow,
        float(tail_noise[0]) * shrink,
    )


def merge_equal_epoch(
    c: float, d: float, s: float, noise: float, steps: int, batches: int, places: Sequence[int] | None = None
) -> Epoch:
    """`merge_epoch` for equal steps: k steps have growth c^k and noise 1 + .. + c^(2k - 2).

    ``places`` are the distinguished participations, increasing up to the last step. Other participations
    count as the next place, with a sensitivity that grows in between if c > 1; this never lowers the cost if
    d <= c (ours/shuffled/late).
    """
    at = list(range(steps)) if places is None else list(places)
    group = [here - before for before, here in pairwise([-1, *at])]
    with precision():
        growth, variance = exact(c), exact(noise) ** 2

        def spread(count: int) -> float:
            if c == 0 or count == 0:
                return lower(variance) if count else 0.0
            return lower(variance * geometric_sum(growth**2, count) / growth**2)

        def rows(value: Callable[[int], float], counts: list[int]) -> Array:
            return np.array([value(count) for count in counts])

        def grown(count: int) -> float:
            return upper(growth**count)

        after = [steps - 1 - t for t in at]
        return Epoch(
            np.array([count / batches for count in group]),
            rows(grown, at),
            rows(spread, at),
            np.full(len(at), d),
            rows(lambda count: upper(exact(s) * growth.max(exact(1)) ** (count - 1)), group),
            rows(grown, after),
            rows(spread, [count + 1 for count in after]),
            rows(spread, after),
            (batches - steps) / batches,
            grown(steps),
            spread(steps),
        )


@dataclass(frozen=True, eq=False)
class Shuffled:
    """A shuffled run with affine expansions.

    Attributes:
        epoch: function that returns epoch k, from 0, of ``count`` epochs; the last epoch may be cut.
        same: whether all epochs but the last are the same.
        reach: largest distance of the grid, below which paths stay.
        scale: distance over which costs change most, of the order of the sensitivity.
        ahead: number of last epochs in which the next order is revealed with the current one.
    """

    epoch: Callable[[int], Epoch]
    count: int
    same: bool
    diameter: float
    reach: float
    scale: float
    ahead: int


def iterate(run: Shuffled, kappa: float | None, *, cells: int = 96) -> tuple[float, int]:
    """The pooled cost, rounded up, and the first epoch in which a path may start.

    ``kappa`` is alpha (alpha - 1) / 2 for the mean over orders at Renyi order alpha, None for the worst
    order; ``cells`` is half the number of nodes.
    """
    nodes = grid(run, cells)
    # The best window from the diameter spans about D / s epochs; epochs before it are all the same.
    longest = _SHORT + int(min(4 * run.diameter / run.scale, _LONGEST)) if isfinite(run.diameter) else _SHORT
    value: Array | None = None  # (Q, N), for each order of the next epoch that is known in advance
    waiting, start, best = np.array([inf]), run.count, inf
    after = _CERTAIN
    for k in range(run.count - 1, -1, -1):
        epoch = run.epoch(k)
        costs, options = [], []
        for one, wait in zip([None] if value is None else list(value), waiting.tolist(), strict=True):
            costs.append(_costs(epoch, nodes, one))
            options.append(np.minimum(_starts(epoch, costs[-1], one, nodes, run.diameter, first=k == 0), wait))
        before, value, waiting = value, _each(kappa, after, costs), _each(kappa, after, options)
        after = epoch.chances
        if k <= run.count - run.ahead or k == 0:
            value, waiting = _pooled(value, kappa, after)[None], _pooled(waiting, kappa, after)[None]
            after = _CERTAIN
        found = float(_pooled(waiting, kappa, after))
        if found < best:
            best, start = found, k
        least = float(value[:, 0].min())
        if best <= least:
            break  # an earlier start costs more, even from 0
        if run.same and k < run.count - run.ahead - 2 and before is not None and k > 0:
            rises = value[0] - before[0]
            rho = max(float(rises.max()), 0.0) + 4 * _EPS * float(value.max())
            whole = (float(value[0, 0]) + k * rho) * _UP
            if (rho - float(rises.min())) * k <= _SETTLED * whole or run.count - k > longest:
                return (whole, 0) if whole < best else (best, start)
    return best, start


def grid(run: Shuffled, cells: int) -> Array:
    """Increasing distances from 0 at which costs are computed."""
    top = min(run.reach, run.diameter)
    nodes = np.unique(
        np.concatenate([np.linspace(0, min(4 * run.scale, top), cells), np.linspace(0, top, cells)])
    )
    return np.asarray(nodes[np.concatenate([[True], np.diff(nodes) > 1e-9 * top])])


def _each(kappa: float | None, chances: Array, parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else _pooled(np.stack(parts), kappa, chances)


def _pooled(costs: Array, kappa: float | None, chances: Array) -> Array:
    return np.asarray(pool(costs, kappa, chances) * _UP)


def _costs(epoch: Epoch, nodes: Array, after: Array | None) -> Array:
    """V_p at the nodes, shape (P, N), with one more row if the epoch may be cut."""
    count = len(epoch.weight)
    found = np.empty((count + (epoch.never > 0), len(nodes)))
    for begin in range(0, count, _ROWS):
        rows = slice(begin, begin + _ROWS)
        grown = epoch.tail[rows, None] * (epoch.into[rows, None] * nodes + epoch.step[rows, None]) * _UP
        inner = _hide(grown, epoch.tail_noise[rows], nodes, after)
        moved = epoch.head_noise[rows] > 0
        outer = inner.copy()
        if moved.any():
            u, S = epoch.head[rows, None][moved] * nodes * _UP, epoch.head_noise[rows][moved]
            outer[moved] = _hide(u, S, nodes, inner[moved])
        found[begin : begin + len(outer)] = outer
    if epoch.never > 0:
        found[-1] = _hide((epoch.whole * nodes * _UP)[None], np.array([epoch.whole_noise]), nodes, after)[0]
    return found


def _hide(u: Array, S: Array, nodes: Array, after: Array | None) -> Array:
    """min over y of (u - y)_+^2 / S + after(y) for rows of increasing u, rounded up; y = 0 without ``after``."""
    if after is None:
        return np.asarray(u**2 / S[:, None] * _UP)
    values = np.broadcast_to(after, (len(u), len(nodes)))
    slope = np.maximum(np.diff(values, axis=1) / np.diff(nodes), 0.0)
    # The best y is piecewise linear in u. It stays at a node for u from y + S m_- / 2 to y + S m_+ / 2, with the
    # slopes m on both sides, then moves to the next node with slope 1, and stays at the last node.
    half = S[:, None] / 2
    ends = np.maximum.accumulate(nodes[1:] + half * slope, axis=1)
    at = np.array([row.searchsorted(x) for row, x in zip(ends, u, strict=True)])
    rise = np.take_along_axis(np.append(slope, np.zeros((len(u), 1)), axis=1), at, axis=1)
    y = np.clip(u - half * rise, nodes[at], np.append(nodes, nodes[-1])[at + 1])
    there = np.take_along_axis(values, at, axis=1) + rise * (y - nodes[at])
    return np.asarray((np.maximum(u - y, 0.0) ** 2 / S[:, None] * _UP + there) * _UP)


def _starts(
    epoch: Epoch, costs: Array, after: Array | None, nodes: Array, diameter: float, *, first: bool
) -> Array:
    """For each order, the least cost of starting in this epoch, inf if impossible; shape (P,) or (P + 1,)."""
    if first:
        found = costs[:, 0].copy()
    elif isfinite(diameter) and diameter <= nodes[-1]:
        found = costs[:, -1].copy()
    else:
        found = np.full(len(costs), inf)
    count = len(epoch.weight)
    rest = epoch.free_noise > 0
    if isfinite(diameter) and rest.any():
        u = (epoch.tail[rest] * diameter * _UP)[:, None]
        late = np.full(count, inf)
        late[rest] = _hide(u, epoch.free_noise[rest], nodes, after)[:, 0]
        found[:count] = np.minimum(found[:count], late)
    return found
