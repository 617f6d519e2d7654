"""One exact step of value iteration on a grid, rounded down.

Forward, F_t(y) = least cost of every path that reaches distance y at time t; F_{t+1}(y) = min_x F_t(x) +
(e_t(x) - y)_+^2 / sigma_t^2. For each x the term (e - y)_+^2 - y^2 is concave in y, hence so is
F_{t+1}(y) - y^2 / sigma_t^2: between two nodes F is at least

    chord - (y - y_i)(y_{i+1} - y) / sigma_t^2,

with no constant to be estimated. e is at least its own chord where it is concave. So the minimum over a cell is
that of a quadratic, in closed form, and the grid error is of second order and certain in its sign.

Backward, the cost-to-go as a function of u = e_t(x),

    beta_t(u) = min_y (u - y)_+^2 / sigma_t^2 + beta_{t+1}(e_{t+1}(y)),

has the same form with the axes reversed, so that `least` serves both.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["least"]

Array = NDArray[np.float64]

_EPS = float(np.finfo(float).eps)


def least(
    value: Array, node: Array, image: Array, target: Array, kept: NDArray[np.bool_], bend: float, weight: float
) -> tuple[Array, NDArray[np.int64]]:
    """Lower bound of min over p of value(p) + weight (image(p) - target)_+^2, for each target.

    Args:
        value: (N,) lower bounds at the nodes of a nonincreasing function that is concave after subtracting
            bend p^2.
        node: (N,) increasing.
        image: (N,) lower bounds of a nondecreasing function that is concave between the nodes.
        target: (M,) any order.
        kept: (N - 1,) the cells over which the minimum is taken.
        bend: see ``value``; 1 / sigma^2 of the step before.
        weight: 1 / sigma^2 of this step.

    Returns:
        (M,) lower bounds, rounding included, inf where no cell is kept; and (M,) the node nearest the minimum.
    """
    cells = np.flatnonzero(kept & np.isfinite(value[1:]))  # value falls: infinite at the end is infinite throughout
    if not len(cells):
        return np.full(len(target), np.inf), np.zeros(len(target), dtype=np.int64)
    f0, f1 = value[cells, None], value[cells + 1, None]
    e0, e1 = image[cells, None], image[cells + 1, None]
    h = (node[cells + 1] - node[cells])[:, None]
    y = target[None, :]
    # Two nodes may round to one float: there the cell is its lower right corner, (f1, e0).
    f0, width = np.where(h > 0, f0, f1), np.where(h > 0, h, 1.0)
    slope = np.where(h > 0, (e1 - e0) / width, 0.0)
    curve = bend + weight * slope**2
    tilt = (f1 - f0) / width - bend * h + 2 * weight * slope * (e0 - y)
    part = np.clip(-tilt / (2 * curve), 0.0, h)
    residual = np.maximum(e0 - y + slope * part, 0.0)
    chord = f0 + (f1 - f0) * (part / width)
    sag = bend * part * (h - part)
    cost = weight * residual**2
    # Each sum above is of a few terms of known size; 16 units in the last place of each cover them.
    slack = 16 * _EPS * (np.abs(f0) + np.abs(f1) + sag + cost + 2 * weight * residual * (np.abs(e1) + np.abs(y)))
    total = np.where(e0 >= y, chord - sag + cost - slack, f1)
    best = total.argmin(axis=0)
    columns = np.arange(len(target))
    nearest = cells[best] + (part[best, columns] > h[best, 0] / 2)
    return np.maximum(total[best, columns], 0.0), np.where(e0[best, 0] >= target, nearest, cells[best] + 1)
