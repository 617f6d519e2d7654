"""Windows of steps that are not affine: stationary paths, backwards from the end.

Along a stationary path lam_(t-1) = lam_t e_t'(z_t) and a_t = lam_t v_t / alpha, where each step's share minimises S +
lam_t^2 move_t^2 / (2 alpha) multiplier^2. So the last lam decides the path. It ends where it meets the distance that
bounds the runs anyway; the states found are then followed forward from that distance, which makes the path feasible,
and its cost is enclosed from its own shifts. At a kink of e this may miss the optimum, never validity.

Source: ours (claims ours/sampled/shares).
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.shift_program.program import run_forward
from lastiterate.numeric.subsampling.noise_split import EPS, KINDS, PriceTable, Shares, Window, quantiles

_LONGEST = 8192
_SHOTS = 160
_BASINS = 6
_SLACKS = (2.0, 1.2, 1.01, 1.0, 1.0)
"""How much worse than the best path so far another one may become, in each round of the search."""
_NODES = 2048


def curved_windows(shares: Shares, ceiling: float = inf) -> list[Window]:
    """The best window found, with a share for each step; none above the ceiling is looked for."""
    search = _Search(shares, ceiling)
    table = shares.wide
    while True:
        last, length = search.shoot(table)
        if length == 0:
            return []
        chosen, states = search.trace(table, last, length)
        if len(np.unique(chosen)) <= KINDS:
            return search.window(table.multiplier[chosen], states, float(table.price[chosen].sum()))
        table = shares.table(quantiles(table.multiplier, chosen))


class _Search:
    """Shots at one price table after the other."""

    def __init__(self, shares: Shares, ceiling: float) -> None:
        self.shares, self.ceiling = shares, ceiling
        self.longest = min(shares.horizon, _LONGEST)
        self._inverses: dict[float, tuple[Array, Array]] = {}

    def expansion(self, back: int) -> Expansion:
        """Expansion of a step, counted from the last one."""
        return self.shares.same_data(self.shares.program.steps - 1 - back)

    def _before(self, back: int, image: Array) -> Array:
        """The state whose image is given, to about the width of a table."""
        size = self.shares.program.run.step_size_at(self.shares.program.steps - 1 - back)
        if size not in self._inverses:
            top = 2 * float(self.shares.reach.max())
            z = np.concatenate([[0.0], np.geomspace(1e-12 * top, top, _NODES)])
            self._inverses[size] = np.maximum.accumulate(self.expansion(back).value(z)), z
        image_of, z = self._inverses[size]
        return np.asarray(np.interp(image, image_of, z))

    def _step(self, table: PriceTable, back: int, pressure: Array) -> tuple[NDArray[np.int64], Array, Array]:
        """Vertex, shift and cost of one step under lam = ``pressure``."""
        shares = self.shares
        most, noise = shares.most[back], shares.noise[back]
        chosen = table.best(pressure**2 * (noise / most) ** 2 / (2 * shares.order), most)
        left = np.maximum(1 - (table.multiplier[chosen] / most) ** 2, 0.0) * noise**2
        return chosen, pressure * left / shares.order, table.price[chosen] + pressure**2 * left / (2 * shares.order)

    def shoot(self, table: PriceTable) -> tuple[float, int]:
        """The last lam of the best path, and its length; length 0 where none ends."""
        top = self.shares.order * float(self.expansion(0).value(self.shares.reach[:1])[0]) / self.shares.noise[0] ** 2
        logs = np.log(top) + np.linspace(-28.0, 6.0, _SHOTS)
        best = (inf, 0.0, 0)
        for slack in _SLACKS:
            value, length = self._fire(table, np.exp(logs), slack)
            at = int(value.argmin())
            if value[at] < best[0]:
                best = (float(value[at]), float(np.exp(logs[at])), int(length[at]))
            # Windows of each length have a dip of their own, just above the lam that first meets the bound.
            around = np.concatenate([[inf], value, [inf]])
            dips = np.flatnonzero((value < inf) & (value <= around[:-2]) & (value <= around[2:]))
            dips = dips[np.argsort(value[dips])][:_BASINS]
            left, right = logs[np.maximum(dips - 1, 0)], logs[np.minimum(dips + 1, len(logs) - 1)]
            logs = np.unique(np.linspace(left, right, _SHOTS // _BASINS))
            if not len(dips):
                break
        return best[1], best[2]

    def _fire(self, table: PriceTable, last: Array, slack: float) -> tuple[Array, NDArray[np.int64]]:
        """Cost and length of the paths with these last lam; infinite where a path meets no bound.

        Paths that cost more than ``slack`` times the best one, or than the ceiling, are left.
        """
        value, length = np.full(len(last), inf), np.zeros(len(last), dtype=np.int64)
        alive, pressure = np.arange(len(last)), last
        z, spent = np.zeros(len(last)), np.zeros(len(last))
        for back in range(self.longest):
            _, shift, cost = self._step(table, back, pressure)
            spent = spent + cost
            z = self._before(back, z + shift)
            ended = z >= self.shares.reach[back]
            value[alive[ended]], length[alive[ended]] = spent[ended], back + 1
            keep = ~ended & (spent < min(slack * float(value.min()), self.ceiling))
            if not keep.any():
                break
            alive, pressure, z, spent = alive[keep], pressure[keep], z[keep], spent[keep]
            with np.errstate(over="ignore"):
                pressure = np.minimum(pressure * self.expansion(back).slope(z), 1e150)
        return value, length

    def trace(self, table: PriceTable, last: float, length: int) -> tuple[NDArray[np.int64], Array]:
        """Vertices and states of the steps of a path, the last step first; states before each step."""
        chosen, states = np.zeros(length, dtype=np.int64), np.zeros(length)
        z, pressure = np.zeros(1), np.array([last])
        for back in range(length):
            vertex, shift, _ = self._step(table, back, pressure)
            z = self._before(back, z + shift)
            chosen[back], states[back] = vertex[0], z[0]
            with np.errstate(over="ignore"):
                pressure = np.minimum(pressure * self.expansion(back).slope(z), 1e150)
        return chosen, states

    def window(self, multipliers: Array, states: Array, tolls: float) -> list[Window]:
        """The path through the states, from the distance that bounds the runs, with its certified cost."""
        shares, length = self.shares, len(states)
        left = shares.left(multipliers)
        if not np.all(left > 0):
            return []
        noise = (np.sqrt(left) * shares.noise[:length] * (1 - 4 * EPS))[::-1]
        wanted = np.append(states[-2::-1], 0.0)
        shifts, z = np.zeros(length), float(shares.reach[length - 1])
        for place in range(length):
            ahead = float(self.expansion(length - 1 - place).value(np.array([z]))[0])
            z = min(float(wanted[place]), ahead)
            shifts[place] = ahead - z
        distance = float(shares.reach[length - 1])
        with precision():
            cost = run_forward(
                lambda place: self.expansion(length - 1 - place),
                lambda place: float(noise[place]),
                distance,
                shifts,
            )
            return shares.window(multipliers, upper(cost), tolls, shifts)
