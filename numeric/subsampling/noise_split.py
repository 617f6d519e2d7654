"""Splits of each step's noise between the change of the data and a shift, and the start of a window.

With variance v_t = (1 - beta_t) sigma_t^2 left for shifts, a window from tau costs, at order alpha,

    sum of S(multiplier_t) + alpha / 2 sum of a_t^2 / v_t,    z' = e_t(z) - a_t,  z_tau = reach -> 0,

with shifts a_t, expansions e_t and beta_t = (multiplier_t move_t / sigma_t)^2, where S is the cost of hiding
a change of the data by move_t. Every feasible choice is a valid bound. The search uses floats; its result is
evaluated with every rounding on the safe side.

Source: ours (claims ours/sampled/shares).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import isfinite

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.accounting.batches import outcome_distance, rate
from lastiterate.numeric.accounting.dominating import (
    HIGH_ORDER,
    LEAST_MULTIPLIER,
    Candidate,
    DominatingPair,
    SampledSteps,
)
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences.sampled import group_law, log_moved
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_NODES_OF_A_STEP = 160


def approximate_prices(rate: float, multipliers: Array, adjacency: str, order: float, group: int = 1) -> Array:
    """S at each of the ``multipliers``, to about four digits, for searches."""
    whole = order * group**2 / (2 * multipliers**2)
    if rate >= 1 or order > HIGH_ORDER:
        return np.asarray(whole)
    known = multipliers >= LEAST_MULTIPLIER
    found = whole.copy()
    if known.any():
        shift = 1 / multipliers[known]
        log_excess = _log_excess(rate, shift, order, group, replaced=adjacency == "replace")
        found[known] = np.logaddexp(0.0, log_excess) / (order - 1)
    return np.asarray(np.minimum(found, whole))


def _log_excess(q: float, g: Array, alpha: float, group: int, *, replaced: bool) -> Array:
    """Logarithm of e^((alpha - 1) S) - 1, by the trapezoid rule."""
    left, right = (g / 2, alpha * g + 8) if replaced else (np.full_like(g, -8.0), alpha * g * group + 8)
    width = total = np.zeros_like(g)
    for points in (_NODES_OF_A_STEP, _NODES_OF_A_STEP, _NODES_OF_A_STEP):
        x = np.linspace(left, right, points, axis=1)
        value = _log_integrand(q, g[:, None], alpha, x, group, replaced=replaced)
        peak = value.max(axis=1)
        width = x[:, 1] - x[:, 0]
        total = peak + np.log(np.exp(value - peak[:, None]).sum(axis=1) * width / np.sqrt(2 * np.pi))
        large = value > peak[:, None] - 25
        rows = np.arange(len(g))
        left = np.maximum(x[rows, large.argmax(axis=1)] - width, left)
        right = np.minimum(x[rows, points - 1 - large[:, ::-1].argmax(axis=1)] + width, right)
    return np.asarray(total)


def _log_integrand(q: float, g: Array, alpha: float, x: Array, group: int, *, replaced: bool) -> Array:
    u = g * x - g * g / 2
    if group > 1:
        used, parts = group_law(group, arb(q))
        q, u = float(used), log_moved(parts, g, x)
    tilt = np.expm1(np.minimum(u, 500.0))
    log_r = np.where(u > 500, np.log(q) + u, np.log1p(q * tilt))
    power = alpha * log_r
    if replaced:
        part = -np.expm1((1 - alpha) * log_r)
        rest = np.where(power > 30, 0.0, np.expm1(np.minimum(power, 30.0)) * part)
        far = power + np.log(np.maximum(part, 1e-300))
    else:
        move = np.minimum(q * tilt, 1e30)
        exact = np.expm1(np.minimum(power, 30.0)) - alpha * move
        series = alpha * (alpha - 1) / 2 * move**2 * (1 + (alpha - 2) / 3 * move)
        rest = np.where(np.abs(alpha * move) < 1e-3, series, exact)
        far = power + np.log(np.maximum(1 - alpha * np.exp((1 - alpha) * np.maximum(log_r, 0.0)), 1e-300))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(power > 30, far, np.log(np.maximum(rest, 0.0))) - x * x / 2)


_LONGEST = 200_000
"""Maximum length of a searched window; longer windows could only lower the bound further."""
EPS = float(np.finfo(float).eps)
_TRACKED = 4096
"""Number of equal steps from 0 above which the last distance, which is the largest, is used at all times."""
_NODES, KINDS = 96, 8
"""Number of trial multipliers, and maximum number in a window, where each multiplier needs an enclosed cost."""
_LEAST_SHARE, _POINTS = 0.01, 160


@dataclass(frozen=True, eq=False)
class PriceTable:
    """The lower convex hull of (multiplier^2, S) over increasing multipliers, in floats.

    S + pull * multiplier^2 is smallest at a vertex, found from the slopes, which increase towards 0.
    """

    multiplier: Array
    price: Array
    slope: Array

    @classmethod
    def over(cls, multipliers: Array, prices: Array) -> "PriceTable":
        """The hull of nodes with increasing multipliers."""
        kept: list[int] = []
        square = multipliers**2
        for k in range(len(square)):
            while len(kept) > 1:
                i, j = kept[-2:]
                rise = (prices[j] - prices[i]) * (square[k] - square[j])
                if rise < (prices[k] - prices[j]) * (square[j] - square[i]):
                    break
                kept.pop()
            kept.append(k)
        x, y = square[kept], prices[kept]
        return cls(multipliers[kept], y, np.diff(y) / np.diff(x))

    def best(self, pull: Array, most: Array) -> NDArray[np.int64]:
        """Vertices that minimise S + pull * multiplier^2 below ``most``, the multipliers of the whole noise."""
        free = np.searchsorted(self.slope, -pull)
        return np.asarray(np.minimum(free, np.searchsorted(self.multiplier, most) - 1).clip(0))


Window = tuple[float, Candidate]
"""An estimate (not a bound) of a window's divergence at the order of the search, and the window."""


@dataclass(frozen=True, eq=False)
class NoiseSplit:
    """The choices behind a window; ``multipliers`` are in time order."""

    shares: "Shares"
    multipliers: Array


@dataclass(frozen=True, eq=False)
class Shares:
    """Windows of a run with random batches at one order; ``program`` bounds the distance."""

    run: NoisySGD
    program: ShiftProgram
    order: float
    _known: dict[tuple[float, int], UpdateExpansion] = field(default_factory=dict, init=False)

    def same_data(self, t: int) -> UpdateExpansion:
        """Expansion of step t for two copies of a run with the same batch: e_t(0) = 0."""
        run = self.program.run
        size = run.step_size_at(t), run.batch_at(t)
        if size not in self._known:
            self._known[size] = self.program.assumption.expansion(self.program.run, t, differs=False)
        return self._known[size]

    @property
    def period(self) -> int:
        """A divisor of the length of every window."""
        return 1

    @cached_property
    def horizon(self) -> int:
        """Number of last steps considered."""
        return min(self.program.steps, _LONGEST)

    @cached_property
    def noise(self) -> Array:
        """Sigma of the last steps, last step first; lengths."""
        return self._backwards(self.program.run.noise_std)

    @cached_property
    def most(self) -> Array:
        """Ratio of each step's whole noise to its move, last step first, rounded down."""
        move = {size: outcome_distance(self.run, size) for size in self.run.batch_sizes}
        moves = np.array([move[size] for size in self._sizes.tolist()])
        return np.asarray(self.noise / (self._backwards(self.program.run.step_size) * moves) * (1 - 4 * EPS))

    @cached_property
    def reach(self) -> Array:
        """Upper bounds on the distance before each step, last step first; lengths."""
        steps = self.program.steps
        grows = self.program.constant and not self.program.initial
        if self.program.expansive or (grows and steps > _TRACKED):
            return np.full(self.horizon, self.program.reach(steps - 1))
        return np.asarray(self.program.tracked[steps - self.horizon : steps][::-1])

    @cached_property
    def contractions(self) -> Array | None:
        """Factors c of the steps, last step first, rounded up; None if an expansion is not affine."""
        last = self.program.steps - 1
        known: dict[tuple[float, int], float] = {}
        sizes = list(
            zip(self._backwards(self.program.run.step_size).tolist(), self._sizes.tolist(), strict=True)
        )
        reach = float(self.reach.max())
        for j in range(1 if self.program.run.constant else self.horizon):
            if sizes[j] not in known:
                line = self.same_data(last - j).affine_on(reach)
                if line is None:
                    return None
                known[sizes[j]] = upper(line[0])
        return np.array([known[size] for size in sizes])

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        size = self.run.batch_size
        return self._backwards(size if isinstance(size, tuple) else self.run.batch).astype(np.int64)

    def least(self) -> float:
        """Approximate lower bound on the cost of windows; 0 unless every e(z) >= z and the reach is finite."""
        steps, reach = self.program.steps / self.horizon, float(self.reach[0])
        if not self.program.expansive or not isfinite(reach):
            return 0.0
        last = self.program.steps - 1 - int(self._backwards(self.program.run.step_size).argmin())
        z = reach * np.geomspace(1e-9, 1.0, _POINTS)
        grown = self.same_data(last).value(z[:-1]) - z[:-1]
        growth = max(float((grown / z[1:]).min()), 0.0)  # e(z) - z rises with z
        pull = max(
            1 / (steps * float((self.noise**2).sum())), growth * (2 + growth) / float(self.noise.max()) ** 2
        )
        return self.order / 2 * reach * reach * pull

    def _backwards(self, schedule: float | tuple[float, ...] | tuple[int, ...]) -> Array:
        if isinstance(schedule, tuple):
            return np.array(schedule[len(schedule) - self.horizon :])[::-1]
        return np.full(self.horizon, schedule)

    def prices(self, multipliers: Array) -> Array:
        """S of a step at each multiplier, approximately."""
        return approximate_prices(rate(self.run), multipliers, self.run.adjacency, self.order, self.run.group)

    def table(self, multipliers: Array) -> PriceTable:
        """The table at these increasing multipliers."""
        return PriceTable.over(multipliers, self.prices(multipliers))

    @cached_property
    def wide(self) -> PriceTable:
        """The table over all useful multipliers."""
        low = float(self.most.min()) * _LEAST_SHARE**0.5
        return self.table(np.geomspace(low, float(self.most.max()) * (1 - 1e-9), _NODES))

    def left(self, multipliers: Array) -> Array:
        """Fractions of the variance left for shifts, last step first, rounded down."""
        return np.asarray(
            np.maximum(1 - (multipliers / self.most[: len(multipliers)]) ** 2 * (1 + 8 * EPS), 0.0)
        )

    def window(self, multipliers: Array, cost: float, tolls: float) -> list[Window]:
        """The window with these multipliers, last step first; none if ``cost``, mu^2 of the shifts, is infinite."""
        if not isfinite(cost):
            return []
        kinds, counts = np.unique(multipliers, return_counts=True)
        pair = DominatingPair(
            cost, sampled_steps(self.run, dict(zip(kinds.tolist(), counts.tolist(), strict=True)))
        )
        share = float(np.mean((multipliers / self.most[: len(multipliers)]) ** 2))
        window = (self.run.steps - len(multipliers), self.run.steps)
        chosen = NoiseSplit(self, multipliers[::-1])
        found = Candidate("window of shifts", self.run.scheme.claim, window, pair, share=share, choices=chosen)
        return [(tolls + self.order / 2 * cost, found)]


def approximate_rdp(pair: DominatingPair, order: float) -> float:
    """Renyi epsilon of a pair outside its failure event, approximately."""
    found = order / 2 * pair.cost
    for rate_, alike in groupby(pair.steps, key=lambda step: step.rate):
        steps = list(alike)
        multipliers, counts = np.array([(step.multiplier, step.count) for step in steps]).T
        prices = approximate_prices(rate_, multipliers, steps[0].adjacency, order, steps[0].group)
        found += float(counts @ prices)
    return found


def quantiles(nodes: Array, chosen: NDArray[np.int64]) -> Array:
    """At most `KINDS` nodes, spread over the steps that use them, including the smallest and the largest."""
    places = np.linspace(0, len(chosen) - 1, KINDS).round().astype(int)
    return np.unique(nodes[np.sort(chosen)[places]])


def sampled_steps(
    run: NoisySGD, counts: Mapping[float, int], batch: int | None = None
) -> tuple[SampledSteps, ...]:
    """The sampled parts of a pair; ``counts`` gives the number of steps for each multiplier."""
    q = rate(run, batch)
    return tuple(SampledSteps(q, each, run.adjacency, count, run.group) for each, count in counts.items())


def round_down(counts: Mapping[float, int], most: int) -> dict[float, int]:
    """Multipliers rounded down to at most ``most`` values, each with its number of steps."""
    multipliers = np.sort(np.array(list(counts)))
    nodes = multipliers
    if len(nodes) > most:
        nodes = np.geomspace(multipliers[0], multipliers[-1], most)
        nodes[0] = multipliers[0]
    below = nodes[np.searchsorted(nodes, multipliers, side="right") - 1]
    rounded: Counter[float] = Counter()
    for multiplier, node in zip(multipliers.tolist(), below.tolist(), strict=True):
        rounded[node] += counts[multiplier]
    return dict(sorted(rounded.items()))
