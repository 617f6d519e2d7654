"""Stationary paths by shooting: one parameter, O(T) a shot.

Where the cost is stationary, a_{t-1} = a_t e'(z_t). So a path that starts at the diameter is fixed by its first
shift q: z <- e(z) - a, a <- a / e'(z). A shot may end after any step by hiding all that is left, which makes
every shot a set of feasible paths, one for each length; its value is the cheapest of them, *recomputed from the
forward path*. That is what keeps a jump of the slope (the clip cap) from passing off an infeasible path as
an optimum: the value of a shot is always the cost of a path.

For a constant program with a finite diameter no other start matters: a path that touches 0 before the end
is dominated by the shorter window that ends there, one that exceeds D by the one that starts there anew.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Expansion

_COARSE = 385
_BASINS = 6
_FINE = 9
_ROUNDS = 64
_WORK = 120_000
"""Steps in all rounds of the fine search."""
LONGEST = 20_000
"""Windows are searched up to this length; a longer one could only lower the bound further."""


@dataclass(frozen=True, eq=False)
class Shot:
    """The best path found: ``shifts`` (length w) from distance ``diameter``, and its cost in floats."""

    shifts: Array
    cost: float


def shoot(expansion: Expansion, diameter: float, steps: int, toll: float = 0.0) -> Shot:
    """Search the stationary paths from the diameter to 0; shifts and cost in lengths (noise 1).

    Args:
        expansion: e, the same at every step.
        diameter: D, finite.
        steps: the longest window allowed.
        toll: added to the cost for every step of the window, a squared length.

    Returns:
        The cheapest feasible path found. Its cost is a float estimate; certify it with `ShiftProgram.cost`.
    """
    horizon = min(steps, LONGEST)
    top = float(expansion.value(np.array([diameter]))[0])
    # Below e(D) - D a first shift lets the distance grow past D, above e(D) there is nothing to hide.
    u = np.concatenate([np.geomspace(1e-12, 1e-2, 128, endpoint=False), np.linspace(1e-2, 1.0, _COARSE)])
    low, high = top - diameter, top
    value, _ = _fire(expansion, diameter, low + (high - low) * u, horizon, toll)
    # Neighbouring lengths differ little near the optimum and each has a dip of its own: look again, closely.
    centre = int(value.argmin())
    u = np.linspace(u[max(centre - 4, 0)], u[min(centre + 4, len(u) - 1)], _COARSE)
    value, _ = _fire(expansion, diameter, low + (high - low) * u, horizon, toll)
    inner = np.concatenate([[np.inf], value, [np.inf]])
    dips = np.flatnonzero((inner[1:-1] <= inner[:-2]) & (inner[1:-1] <= inner[2:]))
    dips = dips[np.argsort(value[dips])][:_BASINS]
    left, right = u[np.maximum(dips - 1, 0)], u[np.minimum(dips + 1, len(u) - 1)]
    weights = np.linspace(0.0, 1.0, _FINE)
    for _ in range(max(4, min(_ROUNDS, _WORK // horizon))):
        if not np.any(right - left > 1e-14 * right):
            break
        grid = left[:, None] + (right - left)[:, None] * weights
        value, _ = _fire(expansion, diameter, (low + (high - low) * grid).ravel(), horizon, toll)
        rows = np.arange(len(grid))
        least = value.reshape(grid.shape).argmin(axis=1)
        left, right = grid[rows, np.maximum(least - 1, 0)], grid[rows, np.minimum(least + 1, _FINE - 1)]
    middle = low + (high - low) * np.append((left + right) / 2, 1.0)
    value, length = _fire(expansion, diameter, middle, horizon, toll)
    best = int(value.argmin())
    return _trace(expansion, diameter, float(middle[best]), int(length[best]))


def _fire(
    expansion: Expansion, diameter: float, first: Array, horizon: int, toll: float
) -> tuple[Array, NDArray[np.int64]]:
    """Value and length of the shots with these first shifts, all at once."""
    z, a = np.full_like(first, diameter), first.copy()
    spent = np.zeros_like(first)
    ahead = expansion.value(z)
    value, length = ahead**2 + toll, np.ones(len(first), dtype=np.int64)
    alive = np.arange(len(first))
    cheapest = float(value.min())
    for step in range(2, horizon + 1):
        spent = spent + a**2 + toll
        z = ahead - a
        keep = (z > 0) & (z <= diameter) & (spent < cheapest)
        if not keep.all():
            alive, z, a, spent = alive[keep], z[keep], a[keep], spent[keep]
        if not len(alive):
            break
        ahead = expansion.value(z)
        ended = spent + ahead**2 + toll
        better = ended < value[alive]
        value[alive[better]], length[alive[better]] = ended[better], step
        cheapest = min(cheapest, float(ended.min()))
        a = a / expansion.slope(z)
    return value, length


def _trace(expansion: Expansion, diameter: float, first: float, length: int) -> Shot:
    """The path of one shot, ended after ``length`` steps."""
    shifts = np.empty(length)
    z, a = np.array([diameter]), np.array([first])
    for step in range(length - 1):
        shifts[step] = a[0]
        z = expansion.value(z) - a
        a = a / expansion.slope(z)
    shifts[-1] = expansion.value(z)[0]
    return Shot(shifts, float(np.sum(shifts**2)))
