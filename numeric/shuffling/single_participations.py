"""Each participation of shuffled batches hidden by itself, in what is left of its own epoch, under any modulus.

Source: docs/proofs/shuffled.md (claims ours/shuffled/*). All lengths are in units of the noise.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.shuffling.oblivious_shifts import LONGEST, Epochs, PowerDrift, next_shift
from lastiterate.numeric.shuffling.pooling import pool

_EPS = float(np.finfo(float).eps)
_UP = 1 + 1e-11
_SHOTS = 257


def each_by_itself(drift: PowerDrift, epochs: Epochs, kappa: float) -> float:
    """The mean over orders, rounded up, where each participation is hidden in what is left of its own epoch, from 0.

    Arguments as `oblivious_cost`.
    """
    rest, batches, cost = epochs.steps % epochs.batches, epochs.batches, _by_itself(drift, epochs)[0]

    def mean(steps: int) -> float:
        """Over the participations of an epoch of so many steps; 0 where the epoch is cut before."""
        chances = np.ones(min(steps, len(cost)))
        chances[-1] += steps - len(chances)
        return float(
            pool(np.append(cost[: len(chances)], 0.0)[:, None], kappa, np.append(chances, batches - steps) / batches)[0]
        )

    return ((epochs.steps // batches) * mean(batches) + (mean(rest) if rest else 0.0)) * _UP


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
    _, lengths, prices = _by_itself(drift, epochs)
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


@lru_cache(maxsize=4)
def _by_itself(drift: PowerDrift, epochs: Epochs) -> tuple[Array, NDArray[np.int64], Array]:
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
