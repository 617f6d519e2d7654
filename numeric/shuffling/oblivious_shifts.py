"""Shuffled batches under any modulus: shifts that do not look at the order, only their start does.

Let g(z) = z + min(weight z^order, cap) bound every update without the sample that differs, and g(z) + s every update
with it. Shifts with A_T = 0, g(A_t) = A_{t+1} + a_t hide A_tau from tau on, and an order costs sum a_t^2 + sum over its
participations of (s^2 + 2 s a_t). The start may look at the order: right after the participation of any epoch, from the
diameter, or at 0 from 0. With Q_t the cost of starting right after a participation at t - 1, a run that has not started
costs W_k = pool over p of min(Q_{k l + p + 1}, W_{k+1}), `pool` being the greatest or log mean exp (kappa x) / kappa.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*). All lengths are in units of the noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, log

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array

LONGEST = 4096
"""Windows considered; a longer one could only lower the bound."""

_EPS = float(np.finfo(float).eps)
_UP = 1 + 1e-11
_SHOTS = 257
_ROWS = 64
_ROUNDS = 2


@dataclass(frozen=True)
class PowerDrift:
    """g(z) = z + min(weight z^order, cap), 0 < order <= 1, distances in units of the noise."""

    weight: float
    order: float
    cap: float = inf

    def value(self, x: Array) -> Array:
        """g(x), elementwise."""
        return np.asarray(x + np.minimum(self.weight * x**self.order, self.cap))

    def inverse(self, y: Array) -> Array:
        """h(y), rounded down: g(h(y)) <= y."""
        if self.weight == inf:
            x = np.zeros_like(y)
        elif self.order == 1 or self.weight == 0:
            x = y / (1 + self.weight * (self.order == 1))
        else:  # Newton's method on a concave function, from below
            with np.errstate(over="ignore"):  # then y / 2 is the smaller
                x = np.minimum(y / 2, (y / (2 * self.weight)) ** (1 / self.order))
                x = np.maximum(x, y - self.weight * y**self.order)
            for _ in range(60):
                step = (y - x - self.weight * x**self.order) / (1 + self._steepness(x))
                x = x + np.where(x > 0, step, 0.0)
                if np.all(step <= 1e-15 * x):
                    break
        x = x * max(1 - 2e-14 / self.order, 0.0)
        if self.weight < inf:
            x = np.where(self.value(x) * (1 + 1e-14) <= y, x, 0.0)
        return np.asarray(np.maximum(x, (y - self.cap) * (1 - 1e-15)))

    def slope(self, x: Array) -> Array:
        """g'(x) where x > 0; 1 at 0, where a path has nothing left to hide."""
        if self.weight == inf:
            return np.ones_like(x)
        free = (x > 0) & (self.weight * x**self.order < self.cap)
        return np.where(free, 1 + self._steepness(x), 1.0)

    def _steepness(self, x: Array) -> Array:
        safe = np.where(x > 0, x, 1.0)
        with np.errstate(over="ignore"):  # as steep as it gets
            return np.asarray(self.weight * self.order * safe ** (self.order - 1))


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


def pool(values: Array, kappa: float | None, weights: Array | None = None) -> Array:
    """The greatest of the rows, or log mean exp (kappa x) / kappa of them; rounded up.

    Args:
        values: shape (k, ...), costs of k cases, at least 0.
        kappa: above 0, or None for the greatest.
        weights: shape (k,), the chances of the cases; None for equal ones.
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
    """The least cost found, rounded up, and the earliest start that it uses.

    Args:
        drift: g, in units of the noise.
        epochs: the run.
        kappa: alpha (alpha - 1) / 2 for the mean over orders, None for every order.
        enough: a cost that is known; dearer windows are not looked at.
    """
    composed = epochs.composition(kappa)
    if not isfinite(epochs.diameter):
        return composed, 0
    oblivious, free, never = _starts(drift, epochs, kappa, min(composed, enough))
    waiting, start = inf, epochs.steps
    for k in range((epochs.steps - 1) // epochs.batches, -1, -1):
        first = k * epochs.batches
        if epochs.steps - first > LONGEST + epochs.batches:
            break
        steps = epochs.steps - first
        after = free[max(steps - epochs.batches, 0) : steps]
        # Participations before the windows looked at start later; in a cut epoch the sample may not be met at all.
        cases = np.array([min(steps, epochs.batches) - len(after), max(epochs.batches - steps, 0)])
        options = np.concatenate([np.minimum(after, waiting), [waiting, never]])[:, None]
        chances = np.concatenate([np.ones(len(after)), cases]) / epochs.batches
        met = chances > 0
        pooled = float(pool(options[met], kappa, chances[met])[0])
        now = min(pooled, oblivious[min(steps, len(oblivious) - 1)], waiting)
        if now < waiting:
            waiting, start = float(now), first
        elif now > 0 and float(after.min(initial=inf)) >= waiting:
            break
    waiting *= _UP
    return (waiting, start) if waiting < composed else (composed, 0)


def each_by_itself(drift: PowerDrift, epochs: Epochs, kappa: float) -> float:
    """The mean over orders, rounded up, where each participation is hidden in what is left of its own epoch, from 0.

    Arguments as `oblivious_cost`.
    """
    rest, batches, cost = epochs.steps % epochs.batches, epochs.batches, _by_itself(drift, epochs)

    def mean(steps: int) -> float:
        """Over the participations of an epoch of so many steps; 0 where the epoch is cut before."""
        chances = np.ones(min(steps, len(cost)))
        chances[-1] += steps - len(chances)
        return float(
            pool(np.append(cost[: len(chances)], 0.0)[:, None], kappa, np.append(chances, batches - steps) / batches)[0]
        )

    return ((epochs.steps // batches) * mean(batches) + (mean(rest) if rest else 0.0)) * _UP


@lru_cache(maxsize=4)
def _by_itself(drift: PowerDrift, epochs: Epochs) -> Array:
    """The least found over shots of sum a_t^2 + (s - A)_+^2, A what k = 0, 1, ... steps after a participation hide."""
    cost = np.full(min(epochs.batches, LONGEST), epochs.s**2)
    xi = np.geomspace(1e-6, 1.0, _SHOTS) * epochs.s
    A, paid, lost = np.zeros_like(xi), np.zeros_like(xi), np.zeros_like(xi)
    for k in range(1, len(cost)):
        paid, lost = paid + xi**2, lost + 4 * _EPS * (A + xi)
        A = drift.inverse(A + xi)
        cost[k:] = min(float(cost[k - 1]), float((paid + np.maximum(epochs.s - A + lost, 0.0) ** 2).min()))
        xi = _next(xi, drift, A)
        if float(paid.min()) > float(cost[k]):
            break
    return cost


def _next(xi: Array, drift: PowerDrift, A: Array) -> Array:
    """The shift of the step before, as the best path has it; where it would be longer than any, just very long."""
    with np.errstate(over="ignore"):
        return np.minimum(xi * drift.slope(A), 1e150)


def _starts(drift: PowerDrift, epochs: Epochs, kappa: float | None, enough: float) -> tuple[Array, Array, float]:
    """The costs of windows of w = 0, 1, ... steps from the diameter.

    First where the start does not look at the order; then right after a participation, so that the next one is in the
    epoch after; and that of a whole last epoch that is cut before its participation.
    """
    horizon = min(epochs.steps, LONGEST)
    oblivious, free, never = np.full(horizon + 1, inf), np.full(horizon + 1, inf), inf
    ahead = float(drift.value(np.array([epochs.diameter]))[0]) + epochs.s
    low, high = log(ahead) - 14.0, log(ahead) + 1.0
    for _ in range(_ROUNDS):
        at = np.full(_SHOTS, inf)
        for w, hidden, paid, total in _priced(_shots(drift, epochs, low, high), kappa, horizon):
            cost, without = np.where(hidden, total, inf), np.where(hidden, paid, inf).min(axis=1)
            at, least = np.minimum(at, cost.min(axis=0)), cost.min(axis=1)
            oblivious[w] = np.minimum(oblivious[w], least)
            free[w] = np.minimum(free[w], np.where((epochs.steps - w) % epochs.batches, without, least))
            never = min(never, float(np.where(w == epochs.steps % epochs.batches, without, inf).min()))
            if float(paid[-1].min()) >= min(enough, float(oblivious.min())):
                break  # longer windows cost more than one that is known
        centre, width = low + int(at.argmin()) * (high - low) / (_SHOTS - 1), (high - low) * 8 / _SHOTS
        low, high = centre - width, centre + width
    return oblivious, free, never


class _Shots:
    """Shots backwards from A_T = 0, one for each last price: their shifts, and whether w = 1, 2, ... steps hide D."""

    def __init__(self, drift: PowerDrift, epochs: Epochs, last_price: Array) -> None:
        self.drift, self.epochs = drift, epochs
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
            self._hidden.append(self.epochs.diameter + self._lost <= self._A * (1 - 4 * _EPS))
            self._xi = _next(self._xi, self.drift, self._A)
        return np.array(self._shifts[first:last]), np.array(self._hidden[first:last])


@lru_cache(maxsize=4)
def _shots(drift: PowerDrift, epochs: Epochs, low: float, high: float) -> _Shots:
    """Last prices over a range of logarithms. They do not depend on kappa: those of one order serve the next."""
    return _Shots(drift, epochs, np.exp(np.linspace(low, high, _SHOTS)))


def _priced(
    shots: _Shots, kappa: float | None, horizon: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], Array, Array]]:
    """Rows of w, whether w steps hide D, and the cost without and with a participation in the epoch that is open."""
    epochs, s, batches = shots.epochs, shots.epochs.s, shots.epochs.batches
    cut = epochs.steps % batches
    before, first = np.zeros(_SHOTS), 0
    # Two cases of the open epoch: the sample is among the steps passed so far, or not.
    met = np.full((1, _SHOTS), -inf)
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
            before, met = total[-1], np.full((1, _SHOTS), -inf)
