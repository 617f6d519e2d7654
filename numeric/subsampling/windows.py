"""Routes for all random batches: composition, the best window of shifts, and the worst case over batches.

Composition uses all of the noise for the change of the data, the worst case uses none, and a window splits
the noise. Let step t contract by c_t, and let P_t = c_t .. c_(T-1). In the notation of `noise_split`, the
best shifts of a window from tau cost B^2 / X, where B = P_tau reach and X is the sum of v_t P_(t+1)^2. So
sums from the end give the costs of all windows at once. The total, the sum of S plus alpha B^2 / (2 X), is
stationary if every step minimises S + nu P_(t+1)^2 sigma_t^2 beta_t with nu = alpha B^2 / (2 X^2). Bisection
finds nu, since the right side falls as nu rises.

Source: ours (claims ours/sampled/shares).
"""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, isfinite, log

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.accounting.batches import step_multiplier
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, best_window, optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import (
    EPS,
    KINDS,
    PriceTable,
    Shares,
    Window,
    approximate_rdp,
    quantiles,
    round_down,
    sampled_steps,
)

_CLOSE = 1.01
"""Largest ratio of a window's estimate to the known bound at which the window's cost is enclosed."""
_MOST_KINDS, _CANDIDATES, _ROUNDS, _BISECTIONS = 256, 10, 4, 18
_HUGE = 1e100


def composition_route(run: NoisySGD) -> Candidate:
    """Composition of all steps; more than 256 different multipliers are rounded down to 256."""
    every = range(1 if run.constant else run.steps)
    alike = Counter((run.batch_at(t), run.step_size_at(t), run.noise_std_at(t)) for t in every)
    counts = {size: Counter[float]() for size in run.batch_sizes}
    for (size, step_size, noise), times in alike.items():
        counts[size][step_multiplier(run, step_size, noise, size)] += run.steps if run.constant else times
    steps = [
        one for size, of in counts.items() for one in sampled_steps(run, round_down(of, _MOST_KINDS), size)
    ]
    return Candidate(
        "composition", run.scheme.claim, (0, run.steps), DominatingPair(0.0, tuple(steps)), share=1.0
    )


def beside(
    shares: Shares, surely: float | None, bounded: Callable[[Candidate], Candidate] = lambda one: one
) -> list[Candidate]:
    """The best window of shifts and the worst batches, if their bounds may be less than ``surely``."""
    order, program = shares.order, shares.program
    found = [bounded(one) for one in worth_pricing(shares, surely)]
    if (
        surely is None
        or not min([surely, *(approximate_rdp(one.pair, order) for one in found)])
        <= order / 2 * program.least()
    ):
        found += [bounded(one) for one in _worst_batches(shares.run, program)]
    return found


def worth_pricing(shares: Shares, surely: float | None) -> list[Candidate]:
    """The best window of shifts, if its bound may be less than ``surely``."""
    ceiling = inf if surely is None else surely * _CLOSE
    found = split_windows(shares) if surely is None or shares.least() < surely else []
    return [one for estimate, one in found if estimate < ceiling]


def _worst_batches(run: NoisySGD, program: ShiftProgram) -> list[Candidate]:
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


def split_windows(shares: Shares) -> list[Window]:
    """The best window found, with one common share or a share per step; none if steps are not affine."""
    if shares.contractions is None or not isfinite(float(shares.reach.max())) or not shares.reach[0] > 0:
        return []
    search = _Search(shares, shares.contractions)
    found = search.one_share()
    table = shares.wide
    for _ in range(3):
        chosen = search.balance(table)
        if chosen is None:
            break
        multipliers = table.multiplier[chosen]
        if len(np.unique(chosen)) <= KINDS:
            found += shares.window(multipliers, _cost(shares, multipliers), float(table.price[chosen].sum()))
        table = shares.table(_fewer(table.multiplier, chosen))
    return sorted(found, key=lambda one: one[0])[:1]


def _fewer(nodes: Array, chosen: NDArray[np.int64]) -> Array:
    """At most `KINDS` of the nodes used, or, if at most 3 are used, a finer grid around them."""
    used = np.unique(chosen)
    if len(used) <= 3:
        low, high = max(int(used[0]) - 1, 0), min(int(used[-1]) + 1, len(nodes) - 1)
        return np.geomspace(nodes[low], nodes[high], 2 * KINDS + 1)
    return quantiles(nodes, chosen)


def _cost(shares: Shares, multipliers: Array) -> float:
    """mu^2 of the shifts, rounded up: reach^2 / (sum of v_t / (c_tau .. c_t)^2)."""
    assert shares.contractions is not None  # noqa: S101
    count = len(multipliers)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        # A larger growth costs more.
        growth = np.maximum(np.cumprod(shares.contractions[:count][::-1]), 1 / _HUGE)
        left = shares.left(multipliers)[::-1]
        terms = left * (shares.noise[:count][::-1] / growth) ** 2
        width = float(np.minimum(terms, _HUGE).sum()) * (1 - (4 * count + 32) * EPS)
    if not width > 0:
        return inf
    return float(shares.reach[count - 1]) ** 2 / width * (1 + 8 * EPS)


class _Search:
    def __init__(self, shares: Shares, c: Array) -> None:
        self.shares = shares
        with np.errstate(over="ignore", under="ignore"):
            growth = np.concatenate([[1.0], np.cumprod(c[:-1])])
        ends = np.flatnonzero((growth > _HUGE) | (growth < 1 / _HUGE))
        count = int(ends[0]) if len(ends) else len(growth)
        self.growth = growth[:count]
        self.drop = self.growth * c[:count] * shares.reach[:count]
        self.weight = (shares.noise[:count] * self.growth) ** 2
        self.best, self.nu = inf, 1.0

    def _shorten(self, length: int) -> None:
        length = -(-length // self.shares.period) * self.shares.period
        self.growth, self.drop, self.weight = self.growth[:length], self.drop[:length], self.weight[:length]

    def _totals(self, prices: Array, left: Array) -> tuple[int, float, float]:
        x = np.cumsum(left * self.weight)
        squares = np.where(self.drop > 0, self.drop**2 / np.maximum(x, 1e-300), 0.0)
        totals = np.cumsum(prices) + self.shares.order / 2 * squares
        period = self.shares.period
        at = int(totals[period - 1 :: period].argmin()) * period + period - 1
        nu = self.shares.order / 2 * min(float(self.drop[at]) / max(float(x[at]), 1e-300), 1e150) ** 2
        return at + 1, float(totals[at]), nu

    def one_share(self) -> list[Window]:
        """The window with the best common share, or none if steps differ; also sets the start of `balance`."""
        shares, low, high, best = self.shares, 0.0, 1.0, (inf, 0.5, 1)
        for _ in range(_ROUNDS):
            for beta in np.linspace(low, high, _CANDIDATES + 2)[1:-1].tolist():
                multipliers = shares.most[: len(self.growth)] * beta**0.5
                prices = np.interp(
                    np.log(multipliers), np.log(shares.wide.multiplier), np.log(shares.wide.price)
                )
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

    def balance(self, table: PriceTable) -> NDArray[np.int64] | None:
        """Vertices of the table for the steps of the best window, last step first."""
        count = len(self.growth)
        most = self.shares.most[:count]
        pull = self.weight / most**2
        best: tuple[float, NDArray[np.int64] | None] = (inf, None)

        def at(log_nu: float) -> float:
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
