"""Shuffled batches under any modulus: shifts that do not look at the order, only their start does.

Let g(z) = z + min(weight z^order, cap) bound every update without the sample that differs, and g(z) + s every update
with it. Shifts with A_T = 0, g(A_t) = A_{t+1} + a_t hide A_tau from tau on, and an order costs sum a_t^2 + sum over its
participations of (s^2 + 2 s a_t). The start may look at the order: right after the participation of any epoch, from the
diameter, or at 0 from 0. With Q_t the cost of starting right after a participation at t - 1, a run that has not started
costs W_k = pool over p of min(Q_{k l + p + 1}, W_{k+1}), `pool` being the greatest or log mean exp (kappa x) / kappa.
Or each participation is hidden by itself, in what is left of its own epoch.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*). All lengths are in units of the noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, log

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import PowerDrift

LONGEST = 4096
"""Windows considered; a longer one could only lower the bound."""

_EPS = float(np.finfo(float).eps)
_UP = 1 + 1e-11
_SHOTS = 257
_ROWS = 64
_ROUNDS = 2


@dataclass(frozen=True)
class Epochs:
    """A shuffled run: ``steps`` updates, ``batches`` an epoch, sensitivity s and diameter in units of the noise."""

    steps: int
    batches: int
    s: float
    diameter: float

    def composition(self, kappa: float | None) -> float:
        """Cost of hiding each participation by itself; the last epoch may end before it."""
        whole, rest = divmod(self.steps, self.batches)
        one = self.s**2
        if not rest:
            return whole * one * _UP
        shares = np.array([1 - rest / self.batches, rest / self.batches])
        return (whole * one + float(pool(np.array([[0.0], [one]]), kappa, shares)[0])) * _UP


@dataclass(frozen=True)
class PooledOrders:
    """Choices of a bound that pools all orders, for its certificate: its cost, rounded up, and the cells of a table.

    ``kappa`` is alpha (alpha - 1) / 2 for the mean over orders, None for the worst order.
    """

    kappa: float | None
    cost: float
    cells: int


def pool(values: Array, kappa: float | None, weights: Array | None = None) -> Array:
    """The greatest of the rows, shape (k, ...), or log mean exp (kappa x) / kappa of them; rounded up.

    The rows are costs of k cases, at least 0; ``weights`` their probabilities, None for equal ones.
    """
    top = values.max(axis=0)
    if kappa is None:
        return np.asarray(top)
    count = len(values)
    chance = np.full(count, 1 / count) if weights is None else weights
    with np.errstate(invalid="ignore"):
        below = np.where(np.isfinite(values), kappa * (values - top), -inf)
    column = chance.reshape(-1, *([1] * (values.ndim - 1)))
    # Of 1 - q and q, q = 1 - mean of exp: the one that is not close to 0 is what floats know well.
    q = -np.sum(column * np.expm1(below), axis=0)
    far = np.sum(column * np.exp(below), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(q < 0.5, np.log1p(-np.minimum(q, 0.75)), np.log(far))
        slack = 8 * (count + 64) * _EPS * np.minimum(q, 1.0)
        mean = top + (part + slack) / kappa
    return np.asarray(np.where(np.isfinite(top), np.minimum(mean + 4e-16 * top, top), top))


def oblivious_cost(drift: PowerDrift, epochs: Epochs, kappa: float | None, enough: float = inf) -> tuple[float, int]:
    """The least cost found, rounded up, and the earliest start that it uses; costs above ``enough`` are of no use."""
    composed = epochs.composition(kappa)
    if not isfinite(epochs.diameter):
        return composed, 0
    waiting, start, _ = not_begun(epochs, kappa, windows_of(drift, epochs, kappa, min(composed, enough)))
    return (waiting, start) if waiting < composed else (composed, 0)


def not_begun(epochs: Epochs, kappa: float | None, windows: "Windows") -> tuple[float, int, list[float]]:
    """The pooled cost of a run that has not begun, rounded up, its earliest start, and last prices of its windows."""
    waiting, start, used = inf, epochs.steps, list[float]()
    for k in range((epochs.steps - 1) // epochs.batches, -1, -1):
        first = k * epochs.batches
        if epochs.steps - first > LONGEST + epochs.batches:
            break
        steps = epochs.steps - first
        these = slice(max(steps - epochs.batches, 0), steps)
        after = windows.free[these]
        # Participations before the windows looked at start later; in a cut epoch the sample may not be met at all.
        cases = np.array([min(steps, epochs.batches) - len(after), max(epochs.batches - steps, 0)])
        options = np.concatenate([np.minimum(after, waiting), [waiting, windows.never]])[:, None]
        chances = np.concatenate([np.ones(len(after)), cases]) / epochs.batches
        met = chances > 0
        pooled = float(pool(options[met], kappa, chances[met])[0])
        whole = min(steps, len(windows.oblivious) - 1)
        now = min(pooled, windows.oblivious[whole], waiting)
        if now < waiting:
            used += windows.free_price[these][after < waiting].tolist()
            used += [windows.price[whole], windows.never_price]
            waiting, start = float(now), first
        elif now > 0 and float(after.min(initial=inf)) >= waiting:
            break
    return waiting * _UP, start, [one for one in used if one > 0]


def next_shift(xi: Array, drift: PowerDrift, A: Array) -> Array:
    """The shift of the step before, as the best path has it; where it would be longer than any, just very long."""
    with np.errstate(over="ignore"):
        return np.minimum(xi * drift.slope(A), 1e150)


@dataclass(eq=False)
class Windows:
    """The costs of windows of w = 0, 1, ... steps from the diameter, and the last price of the best shot of each.

    ``oblivious`` where the start does not look at the order, ``free`` right after a participation, so that the next one
    is in the epoch after; ``never`` of a whole last epoch that is cut before its participation.
    """

    oblivious: Array
    free: Array
    price: Array
    free_price: Array
    never: float = inf
    never_price: float = 0.0


def windows_of(
    drift: PowerDrift, epochs: Epochs, kappa: float | None, enough: float, prices: Array | None = None
) -> Windows:
    """The least found over shots; over those of the last prices alone where they are given."""
    horizon = min(epochs.steps, LONGEST)
    found = Windows(*np.full((2, horizon + 1), inf), *np.zeros((2, horizon + 1)))
    ahead = float(drift.value(np.array([epochs.diameter]))[0]) + epochs.s
    low, high = log(ahead) - 14.0, log(ahead) + 1.0
    for _ in range(_ROUNDS if prices is None else 1):
        shots = _shots(drift, epochs, low, high) if prices is None else Shots(drift, epochs, prices)
        at = np.full(len(shots.prices), inf)
        for w, hidden, paid, total in _priced(shots, kappa, horizon):
            cost, without = np.where(hidden, total, inf), np.where(hidden, paid, inf)
            at = np.minimum(at, cost.min(axis=0))
            inside = ((epochs.steps - w) % epochs.batches)[:, None] > 0
            _improve(found.oblivious, found.price, w, cost, shots.prices)
            _improve(found.free, found.free_price, w, np.where(inside, without, cost), shots.prices)
            cut = np.where((w == epochs.steps % epochs.batches)[:, None], without, inf).min(axis=0)
            if cut.min() < found.never:
                found.never, found.never_price = float(cut.min()), float(shots.prices[cut.argmin()])
            if float(paid[-1].min()) >= min(enough, float(found.oblivious.min())):
                break  # longer windows cost more than one that is known
        centre, width = low + int(at.argmin()) * (high - low) / (_SHOTS - 1), (high - low) * 8 / _SHOTS
        low, high = centre - width, centre + width
    return found


def _improve(least: Array, price: Array, w: NDArray[np.int64], cost: Array, prices: Array) -> None:
    """Put costs of windows of w steps, and the prices of their shots, where they are less than those known."""
    here, best = cost.min(axis=1), prices[cost.argmin(axis=1)]
    price[w] = np.where(here < least[w], best, price[w])
    least[w] = np.minimum(least[w], here)


class Shots:
    """Shots backwards from A_T = 0, one for each last price: their shifts, and whether w = 1, 2, ... steps hide D."""

    def __init__(self, drift: PowerDrift, epochs: Epochs, last_price: Array) -> None:
        self.drift, self.epochs, self.prices = drift, epochs, last_price
        self.distances: list[Array] = []
        self._xi, self._A, self._lost = last_price, np.zeros_like(last_price), np.zeros_like(last_price)
        self._shifts: list[Array] = []
        self._hidden: list[NDArray[np.bool_]] = []

    def rows(self, first: int, last: int) -> tuple[Array, NDArray[np.bool_]]:
        """Shifts and what is hidden after the steps first + 1..last from the end, shapes (last - first, shots)."""
        for _ in range(len(self._shifts), last):
            a = np.maximum(self._xi - self.epochs.s / self.epochs.batches, 0.0)
            # h brings distances no further apart, so rounding errors only add up
            self._lost = self._lost + 4 * _EPS * (self._A + a)
            self._A = self.drift.inverse(self._A + a)
            self._shifts.append(a)
            self.distances.append(self._A)
            self._hidden.append(self.epochs.diameter + self._lost <= self._A * (1 - 4 * _EPS))
            self._xi = next_shift(self._xi, self.drift, self._A)
        return np.array(self._shifts[first:last]), np.array(self._hidden[first:last])


@lru_cache(maxsize=4)
def _shots(drift: PowerDrift, epochs: Epochs, low: float, high: float) -> Shots:
    """Last prices over a range of logarithms. They do not depend on kappa: those of one order serve the next."""
    return Shots(drift, epochs, np.exp(np.linspace(low, high, _SHOTS)))


def _priced(
    shots: Shots, kappa: float | None, horizon: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], Array, Array]]:
    """Rows of w, whether w steps hide D, and the cost without and with a participation in the epoch that is open."""
    epochs, s, batches = shots.epochs, shots.epochs.s, shots.epochs.batches
    cut = epochs.steps % batches
    before, first = np.zeros(len(shots.prices)), 0
    # Two cases of the open epoch: the sample is among the steps passed so far, or not.
    met = np.full((1, len(before)), -inf)
    while first < horizon:
        last = min(first + _ROWS, first + ((epochs.steps - first) % batches or batches), horizon)
        w = np.arange(first + 1, last + 1)
        a, hidden = shots.rows(first, last)
        paid = before + np.cumsum(a**2, axis=0)
        participation = s * (s + 2 * a)
        if kappa is None:
            met = np.maximum.accumulate(np.concatenate([met[-1:], participation]))[1:]
            total = paid + met
        else:
            met = np.logaddexp.accumulate(np.concatenate([met[-1:], kappa * participation - log(batches)]))[1:]
            never = (epochs.steps - w) % batches + np.where(w <= cut, batches - cut, 0)
            with np.errstate(divide="ignore"):
                mean = np.maximum(np.logaddexp(met, np.log(never / batches)[:, None]), 0.0)
            # Each of the additions above is off by an ulp of its result, which is between -log l and the greatest.
            slack = 8 * _EPS * (batches + 8) * (log(batches) + 1 + np.abs(met))
            total = paid + (mean + slack) / kappa
        yield w, hidden, paid, total
        before, first = paid[-1], last
        if (epochs.steps - last) % batches == 0:
            before, met = total[-1], np.full((1, len(before)), -inf)


def each_by_itself(drift: PowerDrift, epochs: Epochs, kappa: float) -> float:
    """The mean over orders, rounded up, where each participation is hidden in what is left of its own epoch, from 0."""
    rest, batches, cost = epochs.steps % epochs.batches, epochs.batches, by_itself(drift, epochs)[0]

    def mean(steps: int) -> float:
        """Over the participations of an epoch of so many steps; 0 where the epoch is cut before."""
        chances = np.ones(min(steps, len(cost)))
        chances[-1] += steps - len(chances)
        return float(
            pool(np.append(cost[: len(chances)], 0.0)[:, None], kappa, np.append(chances, batches - steps) / batches)[0]
        )

    return ((epochs.steps // batches) * mean(batches) + (mean(rest) if rest else 0.0)) * _UP


@lru_cache(maxsize=4)
def by_itself(drift: PowerDrift, epochs: Epochs) -> tuple[Array, NDArray[np.int64], Array]:
    """The least found over shots of sum a_t^2 + (s - A)_+^2, A what k = 0, 1, ... steps after a participation hide.

    Beside it how many steps these are, and the last price of the shot.
    """
    cost = np.full(min(epochs.batches, LONGEST), epochs.s**2)
    lengths, prices = np.zeros(len(cost), dtype=np.int64), np.zeros(len(cost))
    first = xi = np.geomspace(1e-6, 1.0, _SHOTS) * epochs.s
    A, paid, lost = np.zeros_like(xi), np.zeros_like(xi), np.zeros_like(xi)
    for k in range(1, len(cost)):
        paid, lost = paid + xi**2, lost + 4 * _EPS * (A + xi)
        A = drift.inverse(A + xi)
        each = paid + np.maximum(epochs.s - A + lost, 0.0) ** 2
        if float(each.min()) < cost[k]:
            cost[k:], lengths[k:], prices[k:] = float(each.min()), k, first[each.argmin()]
        xi = next_shift(xi, drift, A)
        if float(paid.min()) > float(cost[k]):
            break
    return cost, lengths, prices
