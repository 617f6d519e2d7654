"""Value iteration on the scalar state, rounded down, beside a path: what tests hold the searches against.

Forward, F_t(y) = least cost of every path that reaches distance y at time t; F_{t+1}(y) = min_x F_t(x) +
(e_t(x) - y)_+^2 / sigma_t^2. Where F_t(x) - k x^2 is concave and e_t has the slope c, F_{t+1}(y) - k' y^2 is, 1 / k' =
sigma_t^2 + c^2 / k; where x must stay (at 0, at a knot, at the edge of what is known) k' = 1 / sigma_t^2. Between two
nodes F is at least its chord - k (y - y_i)(y_{i+1} - y), so that the minimum over a cell is that of a quadratic.

Backward, the cost-to-go beta_t(u) = min_y (u - y)_+^2 / sigma_t^2 + beta_{t+1}(e_{t+1}(y)), u = e_t(x), has the same
form with the axes reversed, so that `least_step` serves both.

All starts are swept at once. After each sweep every cell of the state space through which no path can be cheaper than
the cheapest path known is dropped, and the remaining corridor is refined: it narrows as the square root of the gap, so
a few levels reach the tolerance, whatever kinks or jumps e may have.

Proof: docs/proofs/affine_windows.md (claims ours/value_iteration/*).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import ULPS
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.shift_program import search
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.program import Path, ShiftProgram

_EPS = float(np.finfo(float).eps)
_MOST = 12
"""Cells over which x may move; beyond, it stays."""


@dataclass(frozen=True, eq=False)
class _Step:
    """One step at M targets: lower bounds of the value, shape (M,), inf where no cell is kept.

    ``nearest``, shape (M,), is the node nearest the minimum, ``bend``, shape (M - 1,), k' between two targets.
    """

    value: Array
    nearest: NDArray[np.int64]
    bend: Array


def least_step(
    value: Array, node: Array, image: Array, target: Array, kept: NDArray[np.bool_], bend: Array, weight: float
) -> _Step:
    """Lower bound of min over p of value(p) + weight (image(p) - target)_+^2, for each of the M increasing targets.

    Args:
        value: (N,) lower bounds at the nodes of a nonincreasing function.
        node: (N,) increasing.
        image: (N,) lower bounds of a nondecreasing function that is concave between the nodes.
        target: (M,) increasing.
        kept: (N - 1,) the cells over which the minimum is taken.
        bend: (N - 1,) k of each cell: there ``value`` less k p^2 is concave.
        weight: 1 / sigma^2 of this step.
    """
    # Value falls: infinite at the end is infinite throughout.
    cells = np.flatnonzero(kept & np.isfinite(value[1:]))
    if not len(cells):
        stays = np.full(max(len(target) - 1, 0), weight)
        return _Step(np.full(len(target), np.inf), np.zeros(len(target), dtype=np.int64), stays)
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
    slack = (
        48 * _EPS * (np.abs(f0) + np.abs(f1) + sag + cost + 2 * weight * residual * (np.abs(e1) + np.abs(y)))
    )
    total = np.where(e0 >= y, chord - sag + cost - slack, f1)
    best = total.argmin(axis=0)
    columns = np.arange(len(target))
    nearest = cells[best] + (part[best, columns] > h[best, 0] / 2)
    nearest = np.where(e0[best, 0] >= target, nearest, cells[best] + 1)
    shifted = np.where(e0[best, 0] >= target, residual[best, columns], np.nan)
    return _Step(
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
    """k' between the targets, from value, node, image and bend of `least_step` and its kept cells.

    The least place moves up with the target, so that between two targets it lies between theirs, and it may move by h /
    c at most: over those cells nothing may be missing, and both functions may bend one way only. ``best``, shape (M,),
    are the places among the cells of the one with the minimum, ``shifted`` the shifts made there, nan where there is
    none.
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
    edges = (
        (cells[1:] != cells[:-1] + 1) | (slope[1:] > slope[:-1] * (1 + 1e-12)) | turns | ~wide[1:] | ~wide[:-1]
    )
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
        follows += (
            4 * _MOST * (1e-12 * weight * (shifted[1:] + shifted[:-1] + apart) + blurred / slope[last]) / apart
        )
    return np.asarray(np.where(ok & (follows < weight), follows, weight) * (1 + 1e-12))


Mask = NDArray[np.bool_]

_DOWN = 1 - 2 * ULPS * float(np.finfo(float).eps)
_UP = 1 + 2 * ULPS * float(np.finfo(float).eps)
_LEVELS = 20
_SLOW, _WORK = 0.5, 1e8
"""Where a level leaves more of the gap than that, the cells are halved, up to that many pairs of them in a level."""
_LOST, _LONG = 0.999, 4000
"""A long run of which the first level leaves that much open stays open at every number of cells that is affordable."""


@dataclass(frozen=True)
class Bracket:
    """``lower`` <= optimum <= ``upper``, costs; ``path`` is feasible and costs ``upper``."""

    lower: float
    upper: float
    path: Path

    @property
    def gap(self) -> float:
        """Relative width, (upper - lower) / upper."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


def bracket(
    program: ShiftProgram, path: Path | None = None, *, tolerance: float = 1e-7, cells: int = 400
) -> Bracket:
    """Enclose the optimum of a program, from a feasible path or from the one that is found."""
    found = optimum(program)
    with precision():
        if found.proved:
            return Bracket(lower(found.cost), upper(found.cost), found.path)
        if path is None or program.cost(path).upper() > found.cost.upper():
            path = found.path
    return sweep_bracket(
        program, path, length=_horizon(program, tolerance / 10), tolerance=tolerance, cells=cells
    )


def lower_end(found: Optimum, close: float = 0.01) -> float:
    """A lower bound of the cost of every path of the program, sought up to a share of the cost."""
    assert found.program is not None
    with precision():
        if found.proved:
            return lower(found.cost)
        length = _horizon(found.program, close / 10)
        return sweep_bracket(found.program, found.path, length=length, tolerance=close, cells=64).lower


def gap(found: Optimum) -> float:
    """The share of the cost that a better path could save at most."""
    return 0.0 if found.proved else 1 - lower_end(found) / float(found.cost.upper())


def _horizon(program: ShiftProgram, share: float) -> int:
    """The number of steps at the end that decide: before them at most about that share of the optimum can be saved."""
    length = min(program.steps, search._HORIZON)
    if length <= 100:
        return length
    values = search._Search(program.tail(length))
    return length - min(values.backward(values.coarse, 0, lambda _: None, share))


def sweep_bracket(program: ShiftProgram, path: Path, *, length: int, tolerance: float, cells: int) -> Bracket:
    """Enclose the optimum by value iteration over the last ``length`` steps, from a feasible path that starts in them.

    Whatever comes before is taken to be free, at any distance. It ends at a relative gap of ``tolerance``; the work is
    about length x cells^2 a level, ``cells`` into which the state is cut at each time.
    """
    before = program.steps - length
    sweep = _Sweep(program.tail(length) if before else program, cells, free=before > 0)
    best = Bracket(0.0, upper(program.cost(path)), path)
    grids = [sweep.first_grid(t) for t in range(length + 1)]
    finest = max(cells, int((_WORK / length) ** 0.5))
    for _ in range(_LEVELS):
        values, bends, found = sweep.forward(grids)
        if found is not None:
            moved = Path(found.start + before, found.distance, found.shifts)
            cost = upper(program.cost(moved))
            best = replace(best, upper=cost, path=moved) if cost < best.upper else best
        gap, done = best.gap, sweep.cells == finest and best.lower > 0
        best = replace(best, lower=max(best.lower, min(float(values[-1][0]), best.upper)))
        lost = best.gap > _LOST and length > _LONG
        if best.gap <= tolerance or (done and best.gap == gap) or lost:
            break
        if best.gap > _SLOW * gap:
            sweep.cells = min(2 * sweep.cells, finest)
        grids = sweep.pruned(grids, values, bends, best.upper)
    return best


@dataclass(frozen=True)
class _Grid:
    """Nodes of the state at one time, and which of the cells between them are still in play."""

    nodes: Array
    kept: Mask

    def refined(self, kept: Mask, cells_wanted: int) -> "_Grid":
        """The kept cells, each divided evenly so that about as many as wanted remain."""
        count = max(int(kept.sum()), 1)
        parts = max(2, cells_wanted // count) if count < cells_wanted else 1
        cells = np.flatnonzero(kept)
        weights = np.arange(parts) / parts
        left, right = self.nodes[cells], self.nodes[cells + 1]
        inner = left[:, None] + (right - left)[:, None] * weights
        nodes = np.unique(np.concatenate([inner.ravel(), right]))
        place = np.clip(np.searchsorted(self.nodes, (nodes[:-1] + nodes[1:]) / 2) - 1, 0, len(kept) - 1)
        return _Grid(nodes, kept[place])


class _Sweep:
    """Forward and backward value iteration over all times on given grids."""

    def __init__(self, program: ShiftProgram, cells: int, *, free: bool) -> None:
        self.program = program
        self.cells = cells
        self.free = free
        self.start = program.tracked * (1 - 4 * program.steps * ULPS * float(np.finfo(float).eps))
        self.start[program.tracked == program.diameter] = program.diameter
        self.weight = np.array([lower(1 / exact(program.noise_at(t)) ** 2) for t in range(program.steps)])
        self.bend = np.array([upper(1 / exact(program.noise_at(t)) ** 2) for t in range(program.steps)])

    def first_grid(self, t: int) -> _Grid:
        """Even nodes over [0, start], finer towards 0 where e may be steep, knots included."""
        top = self.start[t] if t < self.program.steps else 0.0
        if top == 0.0:
            return _Grid(np.zeros(1), np.zeros(0, dtype=bool))
        knots = [k for k in self.program.expansion(t).knots if k < top]
        nodes = np.unique(
            np.concatenate([np.linspace(0, top, self.cells // 3), top * 0.5 ** np.arange(8, 40, 2), knots])
        )
        return _Grid(nodes, np.ones(len(nodes) - 1, dtype=bool))

    def image(self, t: int, nodes: Array) -> Array:
        """e_t at the nodes, rounded down."""
        return self.program.expansion(t).value(nodes) * _DOWN

    def forward(self, grids: list[_Grid]) -> tuple[list[Array], list[Array], Path | None]:
        """F_t at the nodes, rounded down, and how it bends between them, for t = 0..T; the path the minima trace."""
        values = [np.full(len(grids[0].nodes), 0.0 if self.free else np.inf)]
        bends = [np.zeros(len(grids[0].kept))]
        origin: list[NDArray[np.int64]] = []
        for t in range(self.program.steps):
            here, there, weight = grids[t], grids[t + 1].nodes, float(self.weight[t])
            step = least_step(
                values[t], here.nodes, self.image(t, here.nodes), there, here.kept, bends[t], weight
            )
            jump = np.maximum(self.image(t, self.start[t : t + 1]) - there, 0.0) ** 2 * weight * _DOWN
            jumps = jump <= step.value
            values.append(np.minimum(step.value, jump))
            bends.append(np.where(jumps[1:] | jumps[:-1], self.bend[t], step.bend))
            origin.append(np.where(jumps, -1, step.nearest))
        return values, bends, self.trace(grids, origin)

    def trace(self, grids: list[_Grid], origin: list[NDArray[np.int64]]) -> Path | None:
        """The path from a start to 0 that the minima point to, on the nodes."""
        states, place = [0.0], 0
        for t in reversed(range(self.program.steps)):
            place = int(origin[t][place])
            if place < 0:
                states.append(float(self.program.tracked[t]))
                break
            states.append(float(grids[t].nodes[place]))
        start = self.program.steps + 1 - len(states)
        if place >= 0:
            return None
        z = np.array(states[::-1])
        ahead = np.array([self.program.expansion(start + i).value(z[i : i + 1])[0] for i in range(len(z) - 1)])
        # Rounded up, so that run forward the path stays at or below its nodes: just above a knot e may jump.
        return Path(start, float(z[0]), np.maximum(ahead * _UP - z[1:], 0.0))

    def backward(self, grids: list[_Grid]) -> tuple[list[Array], list[Array]]:
        """The cost-to-go at the nodes, rounded down, and how it bends between their images, for t = 0..T-1."""
        last = self.program.steps - 1
        image = self.image(last, grids[last].nodes)
        values = [image**2 * self.weight[last] * _DOWN]
        bends = [np.full(len(grids[last].kept), self.bend[last])]
        for t in reversed(range(last)):
            grid = grids[t + 1]
            v, u = self.image(t + 1, grid.nodes), self.image(t, grids[t].nodes)
            weight = float(self.weight[t])
            # Everything is reversed, so that what rises falls.
            step = least_step(
                values[-1][::-1],
                -v[::-1],
                -grid.nodes[::-1],
                -u[::-1],
                grid.kept[::-1],
                bends[-1][::-1],
                weight,
            )
            values.append(step.value[::-1])
            bends.append(step.bend[::-1])
        return values[::-1], bends[::-1]

    def pruned(
        self, grids: list[_Grid], values: list[Array], bends: list[Array], ceiling: float
    ) -> list[_Grid]:
        """Refined grids without the cells through which every path costs more than the ceiling."""
        to_go, bends_to_go = self.backward(grids)
        result = [grids[0]]
        for t in range(1, self.program.steps):
            grid = grids[t]
            both = values[t] + to_go[t]
            steps, rise = np.diff(grid.nodes), np.diff(self.image(t, grid.nodes))
            sag = (bends[t] * steps**2 + bends_to_go[t] * rise**2) / 4
            with np.errstate(invalid="ignore"):
                smooth = np.minimum(both[:-1], both[1:]) * (1 - 1e-12) - sag
            through = np.fmax(smooth, np.minimum(values[t][:-1], values[t][1:]) + to_go[t][:-1])
            result.append(grid.refined(grid.kept & (through <= ceiling), self.cells))
        return [*result, grids[-1]]
