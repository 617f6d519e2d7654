"""A certified bracket of the optimum of the shift program.

The upper end is the cost of a feasible path. The lower end is value iteration on the scalar state, rounded down
(`value_iteration`), over all starts at once. After each sweep every cell of the state space through which no
path can be cheaper than the upper end is dropped, and the remaining corridor is refined: the corridor narrows as
the square root of the gap, so a few levels reach the tolerance, whatever kinks or jumps e may have.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.expansion import ULPS
from lastiterate.numeric.rounding import exact, lower, upper
from lastiterate.numeric.run import count, positive
from lastiterate.numeric.shift_program.float_range import refuse_extreme
from lastiterate.numeric.shift_program.paths import Path, Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.value_iteration import least

__all__ = ["Bracket", "bracket"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_DOWN = 1 - 2 * ULPS * float(np.finfo(float).eps)
_UP = 1 + 2 * ULPS * float(np.finfo(float).eps)
_LEVELS = 14
_LEAST_CELLS = 6


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


def bracket(program: ShiftProgram, path: Shifts | None = None, *, tolerance: float = 1e-7, cells: int = 400) -> Bracket:
    """Enclose the optimum of the program between a certified lower bound and a feasible path.

    Args:
        program: any program.
        path: a feasible path to start from; None to find one.
        tolerance: relative gap at which to stop, above 0.
        cells: how finely the state is cut at each time; the work is about steps x cells^2 a level.

    Returns:
        The bracket; its gap may exceed the tolerance where floats resolve no more.

    Raises:
        InputError: an argument is out of range, or the numbers of the run are beyond floats.
    """
    if not isinstance(program, ShiftProgram):
        raise InputError(f"bracket needs a ShiftProgram, got program={type(program).__name__}; make one of a run.")
    positive("tolerance", tolerance)
    if count("cells", cells) < _LEAST_CELLS:
        raise InputError(f"cells needs a whole number of at least {_LEAST_CELLS}, got cells={cells}; try 400.")
    refuse_extreme("bracket", program.run, program.assumption)
    sweep = _Sweep(program, cells)
    best = Bracket(0.0, np.inf, Path(0, 0.0, np.zeros(program.steps)))
    for start in (path, program.composition_path()):
        if start is not None:
            best = _cheaper(program, best, start)
    grids = [sweep.first_grid(t) for t in range(program.steps + 1)]
    for _ in range(_LEVELS):
        forward, found = sweep.forward(grids)
        if found is not None:
            best = _cheaper(program, best, found)
        floor = min(float(forward[-1][0]), best.upper)
        progress = floor > best.lower or best.lower == 0
        best = replace(best, lower=max(best.lower, floor))
        if best.gap <= tolerance or not progress:
            break
        grids = sweep.pruned(grids, forward, best.upper)
    return best


def _cheaper(program: ShiftProgram, best: Bracket, path: Shifts) -> Bracket:
    cost = upper(program.cost(path))
    return replace(best, upper=cost, path=path) if cost < best.upper else best


class _Sweep:
    """Forward and backward value iteration over all times on given grids."""

    def __init__(self, program: ShiftProgram, cells: int) -> None:
        self.program = program
        self.cells = cells
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

    def forward(self, grids: list[_Grid]) -> tuple[list[Array], Path | None]:
        """F_t at the nodes, rounded down, for t = 0..T; and the path that the minima trace."""
        values = [np.full(len(grids[0].nodes), np.inf)]
        origin: list[NDArray[np.int64]] = []
        for t in range(self.program.steps):
            here, there = grids[t], grids[t + 1].nodes
            bend = float(self.bend[t - 1]) if t else 0.0
            cheapest, source = least(
                values[t],
                here.nodes,
                self.image(t, here.nodes),
                there,
                here.kept,
                bend,
                float(self.weight[t]),
            )
            jump = np.maximum(self.image(t, self.start[t : t + 1]) - there, 0.0) ** 2 * self.weight[t] * _DOWN
            source[jump <= cheapest] = -1
            values.append(np.minimum(cheapest, jump))
            origin.append(source)
        return values, self.trace(grids, origin)

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

    def backward(self, grids: list[_Grid]) -> list[Array]:
        """The cost-to-go at the nodes, rounded down, for t = 0..T-1, and at the start as the last entry."""
        last = self.program.steps - 1
        reach = [np.append(grids[t].nodes, self.start[t]) for t in range(last + 1)]
        image = self.image(last, reach[last])
        values = [image**2 * self.weight[last] * _DOWN]
        for t in reversed(range(last)):
            after, grid = values[-1][:-1], grids[t + 1]
            u = self.image(t, reach[t])
            v = self.image(t + 1, grid.nodes)
            cost, _ = least(
                after[::-1],
                -v[::-1],
                -grid.nodes[::-1],
                -u,
                grid.kept[::-1],
                float(self.bend[t + 1]),
                float(self.weight[t]),
            )
            values.append(cost)
        return values[::-1]

    def pruned(self, grids: list[_Grid], forward: list[Array], ceiling: float) -> list[_Grid]:
        """Refined grids without the cells through which every path costs more than the ceiling."""
        to_go = self.backward(grids)
        result = [grids[0]]
        for t in range(1, self.program.steps):
            grid = grids[t]
            through = np.minimum(forward[t][:-1], forward[t][1:]) + to_go[t][:-2]
            result.append(grid.refined(grid.kept & (through <= ceiling), self.cells))
        return [*result, grids[-1]]
