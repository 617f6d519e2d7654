"""The routes that all random batches have: composition, the best window of shifts, and the worst case over batches.

Composition gives all of the noise to the change of the data, the worst case none. In between a window splits it: where
steps are affine, e_t(z) = c_t z without the sample that differs, one number decides every share.

For given shares the best shifts of a window from tau cost reach^2 / sum v_t / (c_tau .. c_t)^2. With P_t = c_t ..
c_(T-1) this is B^2 / X, B = P_tau reach, X = sum v_t P_(t+1)^2, so that all windows at once are sums from the end. The
whole, sum of S + alpha B^2 / (2 X), is stationary where every step minimises S + nu P_(t+1)^2 sigma_t^2 beta_t with
nu = alpha B^2 / (2 X^2); the right side falls as nu rises, which leaves a bisection. Where S is convex in the share so
is the whole, and this is the optimum.

Where steps are not affine, backwards from the end along a stationary path lam_(t-1) = lam_t e_t'(z_t) and a_t = lam_t
v_t / alpha, each step's share minimising S + lam_t^2 move_t^2 / (2 alpha) multiplier^2. So the last lam decides the
path. It ends where it meets the distance that bounds the runs anyway; the states found are then followed forward from
that distance, which makes the path feasible. At a kink of e this may miss the optimum, never validity.

Source: ours (claims ours/sampled/shares).
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import chain
from math import exp, inf, isfinite, log

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.batches import step_multiplier
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, best_window, optimum
from lastiterate.numeric.shift_program.program import ShiftProgram, run_forward
from lastiterate.numeric.subsampling import noise_split as split
from lastiterate.numeric.subsampling.noise_split import (
    EPS,
    KINDS,
    PriceTable,
    Shares,
    Window,
    approximate_rdp,
    quantiles,
)

_LONGEST = 8192
_SHOTS = 160
_BASINS = 6
_SLACKS = (2.0, 1.2, 1.01, 1.0, 1.0)
"""How much worse than the best path so far another one may become, in each round of the search."""
_NODES = 2048
_CLOSE = 1.01
"""Windows are priced with certainty where their estimate is at most so many times what is known."""
_MOST_KINDS = 256
_HUGE = 1e100
_CANDIDATES = 10
_POLISHED = 64
"""Windows up to this length are improved step by step: where S is not convex, few steps leave a gap to their hull."""
_SHORT = 8
_SWEEPS = 6
_FINE_NODES = 192
_ROUNDS = 4
_BISECTIONS = 18


def curved_windows(shares: Shares, ceiling: float = inf) -> list[Window]:
    """The best window found, with a share for each step; none above the ceiling is looked for."""
    search = _CurvedSearch(shares, ceiling)
    table = shares.wide
    while True:
        last, length = search.shoot(table)
        if length == 0:
            return []
        chosen, states = search.trace(table, last, length)
        if len(np.unique(chosen)) <= KINDS:
            return search.window(table.multiplier[chosen], states, float(table.price[chosen].sum()))
        table = shares.table(quantiles(table.multiplier, chosen))


class _CurvedSearch:
    """Shots at one price table after the other."""

    def __init__(self, shares: Shares, ceiling: float) -> None:
        self.shares, self.ceiling = shares, ceiling
        self.longest = min(shares.horizon, _LONGEST)
        self._inverses: dict[float, tuple[Array, Array]] = {}

    def expansion(self, back: int) -> UpdateExpansion:
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


def composition_route(run: NoisySGD) -> Candidate:
    """All steps, each with all of its noise. Beyond 256 kinds of steps, multipliers are rounded down to so many."""
    steps = range(1 if run.constant else run.steps)
    alike = Counter((run.batch_at(t), run.step_size_at(t), run.noise_std_at(t)) for t in steps)
    sampled = (split.sampled_steps(run, _few(run, alike, size), size) for size in run.batch_sizes)
    pair = DominatingPair(0.0, tuple(chain.from_iterable(sampled)))
    return Candidate("composition", run.scheme.claim, (0, run.steps), pair, share=1.0)


def _few(run: NoisySGD, alike: Counter[tuple[int, float, float]], size: int) -> dict[float, int]:
    """At most 256 multipliers, rounded down, of the steps on batches of a size, and how many steps have each."""
    counts: Counter[float] = Counter()
    for (batch, step_size, noise), count in alike.items():
        if batch == size:
            counts[step_multiplier(run, step_size, noise, size)] += run.steps if run.constant else count
    return split.round_down(counts, _MOST_KINDS)


def beside(
    shares: Shares, surely: float | None, bounded: Callable[[Candidate], Candidate] = lambda one: one
) -> list[Candidate]:
    """The best window of shifts, and worst batches.

    ``surely`` is a Renyi epsilon that is known: what cannot be less is left out, nothing where it is None. ``bounded``
    makes a bound of a candidate.
    """
    order, program = shares.order, shares.program
    found = [bounded(one) for one in worth_pricing(shares, surely)]
    if (
        surely is None
        or not min([surely, *(approximate_rdp(one.pair, order) for one in found)]) <= order / 2 * program.least()
    ):
        found += [bounded(one) for one in _worst_batches(shares.run, program)]
    return found


def worth_pricing(shares: Shares, surely: float | None) -> list[Candidate]:
    """The best window of shifts, if it may be less than what is known. Arguments as `beside`."""
    ceiling = inf if surely is None else surely * _CLOSE
    found = split_windows(shares, ceiling) if surely is None or shares.least() < surely else []
    return [one for estimate, one in found if estimate < ceiling]


def _worst_batches(run: NoisySGD, program: ShiftProgram) -> list[Candidate]:
    """The bound for batches that may all hold the sample; the program is of the last steps of the run."""
    if not program.initial:
        found = _solved(program.run, program.assumption)
    else:
        line = program.expansion(0).affine_on(program.diameter)
        best = None if line is None else best_window(*line, program.diameter, program.steps)
        if line is None or best is None:
            return []
        path = best.path(line[0], run.steps, program.diameter)
        found = Optimum(best.cost / exact(program.noise_at(0)) ** 2, path, "closed form")
    window, pair = (found.path.start, run.steps), DominatingPair(upper(found.cost))
    return [Candidate("worst batches", run.scheme.claim, window, pair, optimum=found, share=0.0)]


@lru_cache(maxsize=8)
def _solved(run: NoisySGD, assumption: Assumption) -> Optimum:
    return optimum(ShiftProgram(run, assumption))


def split_windows(shares: Shares, ceiling: float = inf) -> list[Window]:
    """The best window found, or none where nothing bounds how far apart the runs are; none need cost the ceiling."""
    if not isfinite(float(shares.reach.max())) or not shares.reach[0] > 0:
        return []
    found = _straight_windows(shares) if shares.contractions is not None else curved_windows(shares, ceiling)
    return sorted(found, key=lambda one: one[0])[:1]


def _straight_windows(shares: Shares) -> list[Window]:
    """The best window of one share for all steps, where steps are alike, and the best of a share for each step."""
    search = _StraightSearch(shares)
    found = search.one_share()
    table = shares.wide
    for _ in range(3):
        chosen = search.balance(table)
        if chosen is None:
            break
        multipliers = table.multiplier[chosen]
        if len(np.unique(chosen)) <= split.KINDS:
            found += shares.window(multipliers, _cost(shares, multipliers), float(table.price[chosen].sum()))
        table = shares.table(_fewer(table.multiplier, chosen))
    if not found:
        return []
    best = shares.run.steps - min(found, key=lambda one: one[0])[1].window[0]
    if best > _POLISHED or shares.period > 1:
        return found
    for length in sorted({*range(1, _SHORT + 1), *range(best - 2, best + 3)}):
        if 0 < length <= len(search.growth):
            found += search.polish(length)
    return found


def _fewer(nodes: Array, chosen: NDArray[np.int64]) -> Array:
    """As many nodes as `KINDS`, or about as many again around the few that are used."""
    used = np.unique(chosen)
    if len(used) <= 3:
        low, high = max(int(used[0]) - 1, 0), min(int(used[-1]) + 1, len(nodes) - 1)
        return np.geomspace(nodes[low], nodes[high], 2 * split.KINDS + 1)
    return split.quantiles(nodes, chosen)


def _cost(shares: Shares, multipliers: Array) -> float:
    """mu^2 of the shifts, rounded up: reach^2 / sum of v_t / (c_tau .. c_t)^2."""
    assert shares.contractions is not None  # noqa: S101
    count = len(multipliers)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        growth = np.maximum(np.cumprod(shares.contractions[:count][::-1]), 1 / _HUGE)  # a larger growth costs more
        left = shares.left(multipliers)[::-1]
        terms = left * (shares.noise[:count][::-1] / growth) ** 2
        width = float(np.minimum(terms, _HUGE).sum()) * (1 - (4 * count + 32) * split.EPS)
    if not width > 0:
        return inf
    return float(shares.reach[count - 1]) ** 2 / width * (1 + 8 * split.EPS)


class _StraightSearch:
    """The windows from the end, in floats."""

    def __init__(self, shares: Shares) -> None:
        assert shares.contractions is not None  # noqa: S101
        self.shares = shares
        c = shares.contractions
        with np.errstate(over="ignore", under="ignore"):
            growth = np.concatenate([[1.0], np.cumprod(c[:-1])])
        ends = np.flatnonzero((growth > _HUGE) | (growth < 1 / _HUGE))
        count = int(ends[0]) if len(ends) else len(growth)
        self.growth = growth[:count]
        self.drop = self.growth * c[:count] * shares.reach[:count]
        self.weight = (shares.noise[:count] * self.growth) ** 2
        self.best, self.nu = inf, 1.0

    def _shorten(self, length: int) -> None:
        """Keep the windows whose tolls alone do not cost more than the best one."""
        length = -(-length // self.shares.period) * self.shares.period
        self.growth, self.drop, self.weight = self.growth[:length], self.drop[:length], self.weight[:length]

    def _totals(self, prices: Array, left: Array) -> tuple[int, float, float]:
        """Length, value and nu of the best window at the given shares."""
        x = np.cumsum(left * self.weight)
        squares = np.where(self.drop > 0, self.drop**2 / np.maximum(x, 1e-300), 0.0)
        totals = np.cumsum(prices) + self.shares.order / 2 * squares
        period = self.shares.period
        at = int(totals[period - 1 :: period].argmin()) * period + period - 1
        nu = self.shares.order / 2 * min(float(self.drop[at]) / max(float(x[at]), 1e-300), 1e150) ** 2
        return at + 1, float(totals[at]), nu

    def one_share(self) -> list[Window]:
        """The best share that is the same for all steps, none where steps differ; sets where to look on."""
        shares, low, high, best = self.shares, 0.0, 1.0, (inf, 0.5, 1)
        for _ in range(_ROUNDS):
            for beta in np.linspace(low, high, _CANDIDATES + 2)[1:-1].tolist():
                multipliers = shares.most[: len(self.growth)] * beta**0.5
                prices = np.interp(np.log(multipliers), np.log(shares.wide.multiplier), np.log(shares.wide.price))
                length, total, nu = self._totals(np.exp(prices), np.full(len(self.growth), 1 - beta))
                if total < best[0]:
                    best, self.nu = (total, beta, length), nu
            width = (high - low) / (_CANDIDATES + 1)
            low, high = max(0.0, best[1] - width), min(1.0, best[1] + width)
            self._shorten(max(int(min(best[0] / shares.wide.price[-1], 1e9)) + 2, best[2]))
        if not shares.program.run.constant:
            return []
        multipliers = np.full(best[2], float(shares.most[0]) * best[1] ** 0.5)
        toll = float(shares.prices(multipliers[:1])[0])
        return shares.window(multipliers, _cost(shares, multipliers), toll * best[2])

    def balance(self, table: split.PriceTable) -> NDArray[np.int64] | None:
        """Vertices of the table for the steps of the best window, the last step first."""
        count = len(self.growth)
        most = self.shares.most[:count]
        pull = self.weight / most**2
        best: tuple[float, NDArray[np.int64] | None] = (inf, None)

        def at(log_nu: float) -> float:
            """Logarithm of the nu that follows, less that which was put in."""
            nonlocal best
            chosen = table.best(exp(log_nu) * pull, most)
            left = self.shares.left(table.multiplier[chosen])
            length, total, nu = self._totals(np.where(left > 0, table.price[chosen], inf), left)
            if total < best[0]:
                best, self.nu = (total, chosen[:length]), nu
            return log(max(nu, 1e-300)) - log_nu

        low = high = log(max(self.nu, 1e-300))
        step = 0.1
        while at(low) < 0 and low > -600:
            low, step = low - step, 2 * step
        step = 0.1
        while at(high) > 0 and high < 600:
            high, step = high + step, 2 * step
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if at(middle) > 0 else (low, middle)
        return best[1] if isfinite(best[0]) else None

    @cached_property
    def _fine(self) -> tuple[Array, Array]:
        """Many multipliers, and the prices there."""
        shares = self.shares
        spread = np.geomspace(shares.wide.multiplier[0], shares.wide.multiplier[-1], _FINE_NODES)
        whole = shares.most[:_POLISHED] * (1 - 1e-9)  # of steps that pay for hardly any shift
        nodes = np.unique(np.concatenate([spread, whole]))
        return nodes, shares.prices(nodes)

    def polish(self, length: int) -> list[Window]:
        """The window of this length with each step's share the best beside all others', from equal shares."""
        shares = self.shares
        nodes, prices = self._fine
        most = shares.most[:length]
        chosen = np.maximum(np.searchsorted(nodes, most * 0.9**0.5) - 1, 0)
        for _ in range(2):  # with all nodes, then with as many as may be priced with certainty
            toll = np.where(nodes < most[:, None], prices, inf)
            kept = np.maximum(1 - (nodes / most[:, None]) ** 2, 0.0) * self.weight[:length, None]
            chosen = _descend(toll, kept, chosen, shares.order / 2 * float(self.drop[length - 1]) ** 2)
            if not np.isfinite(toll[np.arange(length), chosen]).all():
                return []
            if len(np.unique(chosen)) <= split.KINDS:
                break
            fewer = split.quantiles(nodes, chosen)
            chosen, prices = np.searchsorted(fewer, nodes[chosen], side="right") - 1, prices[np.isin(nodes, fewer)]
            nodes = fewer
        multipliers = nodes[chosen]
        return shares.window(multipliers, _cost(shares, multipliers), float(prices[chosen].sum()))


def _descend(toll: Array, kept: Array, chosen: NDArray[np.int64], energy: float) -> NDArray[np.int64]:
    """Choices of a column a row that cannot be improved one at a time: sum of tolls + energy / sum of what is kept."""
    rows, chosen = np.arange(len(chosen)), chosen.copy()
    for _ in range(_SWEEPS):
        before, width = chosen.copy(), kept[rows, chosen].sum()
        for t in range(len(chosen)):
            rest = width - kept[t, chosen[t]]
            with np.errstate(over="ignore"):  # what overflows is not the least
                chosen[t] = int((toll[t] + energy / np.maximum(rest + kept[t], 1e-300)).argmin())
            width = rest + kept[t, chosen[t]]
        if np.array_equal(before, chosen):
            break
    return chosen
