"""Searches in floats for the cheapest path; running its shifts forward certifies its cost.

Stationary paths are found by shooting. At a stationary point of the cost, a_{t-1} = a_t e'(z_t), so the first
shift determines a path from the diameter. A shot can end after any step by hiding the rest; its value is the
cost with the cheapest end. For a constant program with a finite diameter, no other start needs to be tried.

Dynamic programming handles any program. Backwards from V_T(0) = 0, the cost-to-go is

    V_t(z) = min over 0 <= y <= e_t(z) of (e_t(z) - y)^2 / sigma_t^2 + V_(t+1)(y),

interpolated linearly between nodes, so the minimum over a cell has a closed form. The path from the cheapest
start is followed forward, and the search is repeated on finer and finer nodes around this path. Nodes include
0, the knots (at which e may jump and paths may rest), and points just above them.
"""

from collections.abc import Callable
from functools import partial
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.shift_program.program import Path, ShiftProgram

_COARSE = 385
_BASINS = 6
_FINE = 9
_ROUNDS = 64
_SHOT_STEPS = 120_000
"""Total number of steps over all rounds of the fine search."""
_HORIZON = 20_000
"""Maximum number of steps of a path; longer paths could only lower the cost."""
_WORK, _FINEST, _COARSEST = 1e7, 160, 64
_AROUND = np.linspace(-1.0, 1.0, 25)
_FALLING = 0.5 ** np.arange(1, 46, 3)
_LEVELS, _SHRINK, _SETTLED = 16, 0.2, 1e-7
_CELLS, _STARTS, _RIVALS, _RIVAL = 4, 4, 2, 1.03
_HAIR = 1e-14
_ROWS = 256
"""Number of time steps whose nodes are built together."""
_ALIKE, _UNKNOWN = 1e-13, np.array([0.0, np.inf])
_UP = 1 + 3e-14
"""Factor on the shifts that keeps states of a path at or below nodes, just above which e may jump."""
_PAYS = 1e-7
"""Fraction of the cost that an earlier start must be able to save to be tried."""


def shoot(expansion: UpdateExpansion, diameter: float, steps: int, toll: float = 0.0) -> Array:
    """Shifts of the cheapest stationary path from a diameter to 0, at noise 1 and with the cost ``toll`` per step."""
    horizon = min(steps, _HORIZON)
    top = float(expansion.value(np.array([diameter]))[0])
    # A first shift below e(D) - D lets the distance grow past D; one above e(D) leaves nothing to hide.
    u = np.concatenate([np.geomspace(1e-12, 1e-2, 128, endpoint=False), np.linspace(1e-2, 1.0, _COARSE)])
    low, high = top - diameter, top
    value, _ = _fire(expansion, diameter, low + (high - low) * u, horizon, toll)
    # Near the optimum, path lengths differ little in cost and each has a local minimum: refine the grid.
    centre = int(value.argmin())
    u = np.linspace(u[max(centre - 4, 0)], u[min(centre + 4, len(u) - 1)], _COARSE)
    value, _ = _fire(expansion, diameter, low + (high - low) * u, horizon, toll)
    inner = np.concatenate([[np.inf], value, [np.inf]])
    dips = np.flatnonzero((inner[1:-1] <= inner[:-2]) & (inner[1:-1] <= inner[2:]))
    dips = dips[np.argsort(value[dips])][:_BASINS]
    left, right = u[np.maximum(dips - 1, 0)], u[np.minimum(dips + 1, len(u) - 1)]
    weights = np.linspace(0.0, 1.0, _FINE)
    for _ in range(max(4, min(_ROUNDS, _SHOT_STEPS // horizon))):
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
    shifts = np.empty(int(length[best]))
    z, a = np.array([diameter]), middle[best : best + 1]
    for step in range(len(shifts) - 1):
        shifts[step] = a[0]
        z = expansion.value(z) - a
        a = a / expansion.slope(z)
    shifts[-1] = expansion.value(z)[0]
    return shifts


def _fire(
    expansion: UpdateExpansion, diameter: float, first: Array, horizon: int, toll: float
) -> tuple[Array, NDArray[np.int64]]:
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


def search(program: ShiftProgram) -> Path | None:
    """Propose the cheapest path of the last `_HORIZON` steps; None for a longer run on an unbounded domain."""
    length = min(program.steps, _HORIZON)
    before = program.steps - length
    if before and not isfinite(program.diameter):
        return None
    found = _Search(program.tail(length) if before else program).run()
    return Path(found.start + before, found.distance, found.shifts)


def improve(program: ShiftProgram, start: int, goal: Array, enough: float) -> Path:
    """Propose a cheap path from ``start`` near the states ``goal``; a cost of ``enough`` ends the search."""
    search = _Search(program)
    z, spent, states = search.top[start : start + 1], 0.0, {start: float(search.top[start])}
    for t in range(start, program.steps):
        image = search.expansions[t].value(z)
        z = np.minimum(image, goal[t - start])
        spent += float(image[0] - z[0]) ** 2 * search.weights[t]
        states[t + 1] = float(z[0])
    return search.path(search.refined(spent, states, enough * (1 - _SETTLED))[1])


class _Search:
    def __init__(self, program: ShiftProgram) -> None:
        self.program = program
        self.top = program.tracked
        self.expansions = [program.expansion(t) for t in range(program.steps)]
        self.pins = np.array(
            sorted({0.0, *(knot for e in {id(e): e for e in self.expansions}.values() for knot in e.knots)})
        )
        self.weights = [program.noise_at(t) ** -2.0 for t in range(program.steps)]
        self.period = program.cycle or program.steps
        self.cells = int(np.clip(np.sqrt(_WORK / program.steps), _COARSEST, _FINEST))
        self.fractions = np.append(np.linspace(0, 1, self.cells), _FALLING / self.cells)
        self.nodes: dict[int, Array] = {}
        self.value: dict[int, Array] = {}
        self.next: dict[int, Array] = {}

    def run(self) -> Path:
        starts = self.backward(self.coarse, 0, lambda _: None, _PAYS)
        begun = np.array(sorted(starts))
        costs = np.array([starts[t] for t in begun.tolist()])
        around = np.concatenate([[np.inf], costs, [np.inf]])
        dips = np.flatnonzero((costs <= around[:-2]) & (costs < around[2:]) & (costs <= _RIVAL * costs.min()))
        rivals = [self.forward(int(begun[i])) for i in dips[np.argsort(costs[dips])][:_RIVALS]]
        best = min(rivals, key=lambda one: one[0])
        for cost, states in rivals:
            best = min(best, self.refined(cost, states, rival=best[0]), key=lambda one: one[0])
        return self.path(best[1])

    def coarse(self, rows: slice) -> Array:
        return self.pinned(self.top[rows, None] * self.fractions)

    def pinned(self, nodes: Array) -> Array:
        low, high = nodes.min(axis=1, keepdims=True), nodes.max(axis=1, keepdims=True)
        inside = (low <= self.pins) & (self.pins <= high)
        hairs = np.minimum(self.pins * (1 + _HAIR) + _HAIR * high, high)
        found = np.concatenate([nodes, np.where(inside, self.pins, low), np.where(inside, hairs, low)], axis=1)
        found.sort(axis=1)
        return found

    def backward(
        self, grid: Callable[[slice], Array], first: int, mark: Callable[[int], object], share: float = -np.inf
    ) -> dict[int, float]:
        """Compute the cost-to-go from the end back to ``first`` and return the cost from each start.

        The loop ends once an earlier start, even from 0, cannot save the fraction ``share`` of the cost. If
        the cost-to-go equals the cost-to-go one period later plus a constant, earlier values are copied.
        ``grid`` returns a row of sorted nodes per time step; rows are equal if their ``mark`` and largest
        distance are equal.
        """
        steps, period = self.program.steps, self.period
        self.nodes, self.value, self.next = {steps: np.zeros(1)}, {steps: np.zeros(1)}, {}
        starts: dict[int, float] = {}
        best, more, begun = np.inf, None, steps
        for t in reversed(range(first, steps)):
            if t < begun:
                begun = max(t + 1 - _ROWS, first)
                table = grid(slice(begun, t + 1))
            later = t + period
            alike = later < steps and self.top[t] == self.top[later] and mark(t) == mark(later)
            if alike and more is not None:
                self.nodes[t], self.value[t], self.next[t] = (
                    self.nodes[later],
                    self.value[later] + more,
                    self.next[later],
                )
                starts[t] = starts[later] + more
            else:
                row = table[t - begun]
                nodes = self.nodes[later] if alike else row[np.append(True, row[1:] > row[:-1])]
                image = self.expansions[t].value(np.append(nodes, self.top[t]))
                cost, to = self.ahead(t, image)
                self.next[t] = np.array([np.minimum(to, image), image])
                self.nodes[t], self.value[t], starts[t] = nodes, cost[:-1], float(cost[-1])
                rise = self.value[t] - self.value[later] if alike else _UNKNOWN
                more = float(rise[0]) if np.ptp(rise) <= _ALIKE * starts[t] else None
            best = min(best, starts[t])
            if self.value[t][0] >= best * (1 - share):
                break
        return starts

    def ahead(self, t: int, image: Array) -> tuple[Array, Array]:
        """Cost-to-go from each image e_t(z) and the best next state."""
        weight = self.weights[t]
        y, v = self.nodes[t + 1], self.value[t + 1]
        if len(y) == 1:
            return weight * np.maximum(image - y, 0.0) ** 2 + v, np.full_like(image, y[0])
        low, high, image = y[:-1], y[1:], image[:, None]
        slope = (v[1:] - v[:-1]) / (high - low)
        to = np.minimum(np.maximum(image - slope / (2 * weight), low), high)
        shift = np.maximum(image - to, 0.0)
        cost = weight * shift * shift + slope * (to - low) + v[:-1]
        best = cost.argmin(axis=1)
        rows = np.arange(len(image))
        return cost[rows, best], to[rows, best]

    def forward(self, start: int) -> tuple[float, dict[int, float]]:
        """Recomputed cost and states of the path from ``start`` by the current value functions."""
        states, paid = {start: float(self.top[start])}, dict[int, float]()
        for t in range(start, self.program.steps):
            before = t - self.period
            if states.get(before) == states[t] and self.next[t] is self.next.get(before):
                states[t + 1], paid[t] = states[before + 1], paid[before]
                continue
            place = int(self.nodes[t].searchsorted(states[t])) if states[t] <= self.nodes[t][-1] else -1
            if self.nodes[t][place] == states[t]:
                z, ahead = self.next[t][:, place].tolist()
                states[t + 1], paid[t] = z, (ahead - z) ** 2 * self.weights[t]
                continue
            image = self.expansions[t].value(np.array([states[t]]))
            z = np.minimum(self.ahead(t, image)[1], image)
            states[t + 1], paid[t] = float(z[0]), float(image[0] - z[0]) ** 2 * self.weights[t]
        return sum(paid.values()), states

    def refined(
        self, cost: float, states: dict[int, float], enough: float = 0.0, rival: float = np.inf
    ) -> tuple[float, dict[int, float]]:
        """Refine a path until it costs ``enough`` or seems unable to beat ``rival``."""
        best, settled, scale = (cost, states), 0, _CELLS / self.cells
        for _ in range(_LEVELS):
            centre = best[1]
            start, near = min(centre), min(centre) + _STARTS
            grid = partial(self.around, centre=centre, scale=scale, near=near)
            starts = self.backward(grid, max(start - _STARTS, 0), partial(_mark, centre=centre, near=near))
            found = self.forward(min(starts, key=lambda t: starts[t]))
            moved = any(abs(z - centre.get(t, z)) > 0.9 * scale * self.top[t] for t, z in found[1].items())
            settled = settled + 1 if found[0] > best[0] * (1 - _SETTLED) else 0
            fall, best = best[0] - found[0], min(best, found, key=lambda one: one[0])
            if settled == 2 or best[0] <= enough or best[0] - 4 * max(fall, 0.0) > rival:
                break
            if not moved or settled:
                scale *= _SHRINK
        return best

    def around(self, rows: slice, *, centre: dict[int, float], scale: float, near: int) -> Array:
        """Nodes around the path, with all possible starts up to time ``near``."""
        top = self.top[rows, None]
        z = np.minimum([[centre.get(t, np.inf)] for t in range(rows.start, rows.stop)], top)
        low, high = np.maximum(z - scale * top, 0.0), np.minimum(z + scale * top, top)
        parts = [np.clip(z + scale * top * _AROUND, low, high), np.where(low == 0, high * _FALLING, low)]
        if rows.start <= near:
            reach = np.where(np.arange(rows.start, rows.stop)[:, None] <= near, top, z)
            parts.append(z + (reach - z) * np.linspace(0, 1, 17))
        return self.pinned(np.concatenate(parts, axis=1))

    def path(self, states: dict[int, float]) -> Path:
        """The path that follows the states or stays below them."""
        start, z = min(states), np.array([states[t] for t in sorted(states)])
        image = np.array([e.value(z[i : i + 1])[0] for i, e in enumerate(self.expansions[start:])])
        return Path(start, float(z[0]), np.maximum(image * _UP - z[1:], 0.0))


def _mark(t: int, *, centre: dict[int, float], near: int) -> object:
    return centre.get(t), t <= near
