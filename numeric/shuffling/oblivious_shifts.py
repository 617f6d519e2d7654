"""Shuffled batches under any modulus: shifts that do not look at the order, only their start does.

Let g(z) = z + min(weight z^order, cap) bound every update without the sample that differs, and g(z) + s every update
with it. Shifts with A_T = 0, g(A_t) = A_{t+1} + a_t hide A_tau from tau on, and an order costs sum a_t^2 + sum over its
participations of (s^2 + 2 s a_t). The start may look at the order: right after the participation of any epoch, from the
diameter, or at 0 from 0. With Q_t the cost of starting right after a participation at t - 1, a run that has not started
costs W_k = pool over p of min(Q_{k l + p + 1}, W_{k+1}), `pool` being log mean exp (kappa x) / kappa.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*). All lengths are in units of the noise.
"""

from collections.abc import Iterator
from math import inf, isfinite, log

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import PowerDrift
from lastiterate.numeric.shuffling.epoch_value_iteration import pool
from lastiterate.numeric.shuffling.shuffled import Epochs, next_shift

LONGEST = 4096
"""Windows considered; a longer one could only lower the bound."""

_EPS = float(np.finfo(float).eps)
_UP = 1 + 1e-11
_SHOTS, _ROWS, _ROUNDS = 257, 64, 2


def oblivious_cost(drift: PowerDrift, epochs: Epochs, kappa: float) -> float:
    """The least cost found, rounded up; ``kappa`` is alpha (alpha - 1) / 2."""
    composed = epochs.composition(kappa)
    if not isfinite(epochs.diameter):
        return composed
    blind, free, never = _windows(drift, epochs, kappa, composed)
    steps, batches, waiting = epochs.steps, epochs.batches, inf
    for first in range((steps - 1) // batches * batches, -1, -batches):
        left = steps - first
        if left > LONGEST + batches:
            break
        after = free[max(left - batches, 0) : left]
        # Participations before the windows looked at start later; in a cut epoch the sample may not be met at all.
        cases = np.array([min(left, batches) - len(after), max(batches - left, 0)])
        options = np.concatenate([np.minimum(after, waiting), [waiting, never]])[:, None]
        chances = np.concatenate([np.ones(len(after)), cases]) / batches
        met = chances > 0
        now = min(float(pool(options[met], kappa, chances[met])[0]), blind[min(left, len(blind) - 1)], waiting)
        if now == waiting and now > 0 and float(after.min(initial=inf)) >= waiting:
            break
        waiting = now
    return min(waiting * _UP, composed)


def _windows(drift: PowerDrift, epochs: Epochs, kappa: float, enough: float) -> tuple[Array, Array, float]:
    """The least costs found of windows of w = 0, 1, ... steps from the diameter.

    The start does not look at the order, or is right after a participation, so that the next one is in the epoch after;
    and of a whole last epoch that is cut before its participation.
    """
    horizon, batches, never = min(epochs.steps, LONGEST), epochs.batches, inf
    blind, free = np.full((2, horizon + 1), inf)
    ahead = float(drift.value(np.array([epochs.diameter]))[0]) + epochs.s
    low, high = log(ahead) - 14.0, log(ahead) + 1.0
    for _ in range(_ROUNDS):
        at = np.full(_SHOTS, inf)
        for w, hidden, paid, total in _shots(drift, epochs, np.linspace(low, high, _SHOTS), kappa, horizon):
            cost, without = np.where(hidden, total, inf), np.where(hidden, paid, inf)
            at = np.minimum(at, cost.min(axis=0))
            inside = ((epochs.steps - w) % batches)[:, None] > 0
            blind[w] = np.minimum(blind[w], cost.min(axis=1))
            free[w] = np.minimum(free[w], np.where(inside, without, cost).min(axis=1))
            never = min(never, float(without[w == epochs.steps % batches].min(initial=inf)))
            if float(paid[-1].min()) >= min(enough, float(blind.min())):
                break  # longer windows cost more than one that is known
        centre, width = low + int(at.argmin()) * (high - low) / (_SHOTS - 1), (high - low) * 8 / _SHOTS
        low, high = centre - width, centre + width
    return blind, free, never


def _shots(
    drift: PowerDrift, epochs: Epochs, logs: Array, kappa: float, horizon: int
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Shots backwards from A_T = 0, one for each logarithm of a last price.

    Rows of w, whether w steps hide the diameter, and the cost without and with a participation in the open epoch.
    """
    s, batches, cut = epochs.s, epochs.batches, epochs.steps % epochs.batches
    xi, A, lost, before, first = np.exp(logs), *np.zeros((3, len(logs))), 0
    met = np.full((1, len(before)), -inf)  # the sample is among the steps of the open epoch passed so far, or not
    while first < horizon:
        last = min(first + _ROWS, first + ((epochs.steps - first) % batches or batches), horizon)
        shifts, hidden = list[Array](), list[Array]()
        for _ in range(first, last):
            shift = np.maximum(xi - s / batches, 0.0)
            # h brings distances no further apart, so rounding errors only add up
            lost = lost + 4 * _EPS * (A + shift)
            A = drift.inverse(A + shift)
            shifts.append(shift)
            hidden.append(epochs.diameter + lost <= A * (1 - 4 * _EPS))
            xi = next_shift(xi, drift, A)
        w, a = np.arange(first + 1, last + 1), np.array(shifts)
        paid = before + np.cumsum(a**2, axis=0)
        participation = kappa * s * (s + 2 * a) - log(batches)
        met = np.logaddexp.accumulate(np.concatenate([met[-1:], participation]))[1:]
        never = (epochs.steps - w) % batches + np.where(w <= cut, batches - cut, 0)
        with np.errstate(divide="ignore"):
            mean = np.maximum(np.logaddexp(met, np.log(never / batches)[:, None]), 0.0)
        # Each of the additions above is off by an ulp of its result, which is between -log l and the greatest.
        slack = 8 * _EPS * (batches + 8) * (log(batches) + 1 + np.abs(met))
        total = paid + (mean + slack) / kappa
        yield w, np.array(hidden), paid, total
        before, first = paid[-1], last
        if (epochs.steps - last) % batches == 0:
            before, met = total[-1], np.full((1, len(before)), -inf)
