"""Value iteration on the scalar state, rounded down, beside a path: an enclosure of a program's optimum.

All starts are swept at once (`value_iteration`). After each sweep every cell of the state space through which no path
can be cheaper than the cheapest path known is dropped, and the remaining corridor is refined: the corridor narrows as
the square root of the gap, so a few levels reach the tolerance, whatever kinks or jumps e may have.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import ULPS
from lastiterate.numeric.rounding import exact, lower, upper
from lastiterate.numeric.shift_program.paths import Path, Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.value_iteration import least

Mask = NDArray[np.bool_]

_DOWN = 1 - 2 * ULPS * float(np.finfo(float).eps)
_UP = 1 + 2 * ULPS * float(np.finfo(float).eps)
_LEVELS = 20
_SLOW, _WORK = 0.5, 1e8
"""Where a level leaves more of the gap than that, the cells are halved, up to that many pairs of them in a level."""
_LOST, _LONG = 0.999, 4000
"""A long run of which the first level leaves that much open stays open at every number of cells that is affordable."""


@teaches()
@dataclass(frozen=True)
class Bracket:
    """``lower`` <= optimum <= ``upper``, costs; ``path`` is feasible and costs ``upper``."""

    lower: float
    upper: float
    path: Shifts

    @property
    def gap(self) -> float:
        """Relative width, (upper - lower) / upper."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


def enclosed(program: ShiftProgram, path: Shifts, *, length: int, tolerance: float, cells: int) -> Bracket:
    """Enclose the optimum by value iteration over the last ``length`` steps, from a path that starts in them.

    Whatever comes before is taken to be free, at any distance.

    Args:
        program: any program whose numbers floats can take.
        path: a feasible path.
        length: how many steps at the end are swept, at most ``program.steps``.
        tolerance: relative gap at which to stop.
        cells: how finely the state is cut at each time; the work is about length x cells^2 a level.
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
            step = least(values[t], here.nodes, self.image(t, here.nodes), there, here.kept, bends[t], weight)
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
            step = least(
                values[-1][::-1], -v[::-1], -grid.nodes[::-1], -u[::-1], grid.kept[::-1], bends[-1][::-1], weight
            )
            values.append(step.value[::-1])
            bends.append(step.bend[::-1])
        return values[::-1], bends[::-1]

    def pruned(self, grids: list[_Grid], values: list[Array], bends: list[Array], ceiling: float) -> list[_Grid]:
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
