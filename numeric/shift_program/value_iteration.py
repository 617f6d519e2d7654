"""One exact step of value iteration on a grid, rounded down.

Forward, F_t(y) = least cost of every path that reaches distance y at time t; F_{t+1}(y) = min_x F_t(x) +
(e_t(x) - y)_+^2 / sigma_t^2. Where F_t(x) - k x^2 is concave and e_t has the slope c, F_{t+1}(y) - k' y^2 is, 1 / k' =
sigma_t^2 + c^2 / k; where x must stay (at 0, at a knot, at the edge of what is known) k' = 1 / sigma_t^2. Between two
nodes F is at least its chord - k (y - y_i)(y_{i+1} - y), so that the minimum over a cell is that of a quadratic.

Backward, the cost-to-go beta_t(u) = min_y (u - y)_+^2 / sigma_t^2 + beta_{t+1}(e_{t+1}(y)), u = e_t(x), has the same
form with the axes reversed, so that `least` serves both.

Source: docs/proofs/affine_windows.md (claims ours/value_iteration/*).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array

_EPS = float(np.finfo(float).eps)
_MOST = 12
"""Cells over which x may move; beyond, it stays."""


@dataclass(frozen=True, eq=False)
class Step:
    """The result of one step of value iteration at M targets.

    Attributes:
        value: (M,) lower bounds, rounding included, inf where no cell is kept.
        nearest: (M,) the node nearest the minimum.
        bend: (M - 1,) k' between two targets that follow each other.
    """

    value: Array
    nearest: NDArray[np.int64]
    bend: Array


def least(
    value: Array, node: Array, image: Array, target: Array, kept: NDArray[np.bool_], bend: Array, weight: float
) -> Step:
    """Lower bound of min over p of value(p) + weight (image(p) - target)_+^2, for each target.

    Args:
        value: (N,) lower bounds at the nodes of a nonincreasing function.
        node: (N,) increasing.
        image: (N,) lower bounds of a nondecreasing function that is concave between the nodes.
        target: (M,) increasing.
        kept: (N - 1,) the cells over which the minimum is taken.
        bend: (N - 1,) k of each cell: there ``value`` less k p^2 is concave.
        weight: 1 / sigma^2 of this step.
    """
    cells = np.flatnonzero(kept & np.isfinite(value[1:]))  # value falls: infinite at the end is infinite throughout
    if not len(cells):
        stays = np.full(max(len(target) - 1, 0), weight)
        return Step(np.full(len(target), np.inf), np.zeros(len(target), dtype=np.int64), stays)
    f0, f1 = value[cells, None], value[cells + 1, None]
    e0, e1 = image[cells, None], image[cells + 1, None]
    h, k = (node[cells + 1] - node[cells])[:, None], bend[cells, None]
    y = target[None, :]
    # Two nodes may round to one float: there the cell is its lower right corner, (f1, e0).
    f0, width = np.where(h > 0, f0, f1), np.where(h > 0, h, 1.0)
    slope = np.where(h > 0, (e1 - e0) / width, 0.0)
    curve = k + weight * slope**2
    tilt = (f1 - f0) / width - k * h + 2 * weight * slope * (e0 - y)
    part = np.clip(-tilt / np.where(curve > 0, 2 * curve, 1.0), 0.0, h)
    residual = np.maximum(e0 - y + slope * part, 0.0)
    chord = f0 + (f1 - f0) * (part / width)
    sag = k * part * (h - part)
    cost = weight * residual**2
    # Each sum above is of a few terms of known size; 16 units in the last place of each cover them, and as much again
    # covers a place that only seems to be the least.
    slack = 48 * _EPS * (np.abs(f0) + np.abs(f1) + sag + cost + 2 * weight * residual * (np.abs(e1) + np.abs(y)))
    total = np.where(e0 >= y, chord - sag + cost - slack, f1)
    best = total.argmin(axis=0)
    columns = np.arange(len(target))
    nearest = cells[best] + (part[best, columns] > h[best, 0] / 2)
    nearest = np.where(e0[best, 0] >= target, nearest, cells[best] + 1)
    shifted = np.where(e0[best, 0] >= target, residual[best, columns], np.nan)
    return Step(
        np.maximum(total[best, columns], 0.0),
        nearest,
        _bends((value, node, image, bend), target, cells, weight, best, shifted),
    )


def _bends(
    line: tuple[Array, Array, Array, Array],
    target: Array,
    cells: NDArray[np.int64],
    weight: float,
    best: NDArray[np.int64],
    shifted: Array,
) -> Array:
    """k' between the targets.

    The least place moves up with the target, so that between two targets it lies between theirs, and it may move by h /
    c at most: over those cells nothing may be missing, and both functions may bend one way only.

    The line is value, node, image and bend of `least`, ``cells`` are those kept, ``best`` of shape (M,) the place among
    them of the cell with the minimum, and ``shifted`` of shape (M,) the shift that is made there, nan where none is.
    """
    value, node, image, bend = line
    apart = np.diff(target)
    first, last = np.minimum(best[:-1], best[1:]), np.maximum(best[:-1], best[1:])
    left, right = node[cells], node[cells + 1]
    wide = right > left
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(wide, (image[cells + 1] - image[cells]) / (right - left), 0.0)
        fall = np.where(wide, (value[cells + 1] - value[cells]) / (right - left), 0.0)
        blur = 8 * _EPS * value[cells] / (right - left)  # of the slopes, by rounding
    k = bend[cells]
    sunk = k * (right - left)
    with np.errstate(invalid="ignore"):
        turns = fall[1:] - fall[:-1] > sunk[1:] + sunk[:-1] + blur[1:] + blur[:-1]
    edges = (cells[1:] != cells[:-1] + 1) | (slope[1:] > slope[:-1] * (1 + 1e-12)) | turns | ~wide[1:] | ~wide[:-1]
    passed = np.concatenate([[0], np.cumsum(edges)])
    with np.errstate(divide="ignore", invalid="ignore"):
        move = apart / slope[last]
        low = np.searchsorted(right, left[first] - move, side="right")
        high = np.searchsorted(left, right[last] + move, side="left") - 1
        inside = np.isfinite(move) & (left[0] <= left[first] - move) & (right[-1] >= right[last] + move)
    low, high = np.minimum(low, first), np.maximum(high, last)
    ok = inside & (passed[high] == passed[low]) & (high - low < _MOST)
    pairs = np.stack([low, high + 1], axis=1).ravel()
    most = np.maximum.reduceat(np.append(k, 0.0), pairs)[::2]
    blurred = np.maximum.reduceat(np.append(blur, 0.0), pairs)[::2]
    with np.errstate(divide="ignore", invalid="ignore"):
        follows = weight * most / (most + weight * slope[last] ** 2)
        # What slopes that rise by rounding add, over at most so many cells.
        follows += 4 * _MOST * (1e-12 * weight * (shifted[1:] + shifted[:-1] + apart) + blurred / slope[last]) / apart
    return np.asarray(np.where(ok & (follows < weight), follows, weight) * (1 + 1e-12))
