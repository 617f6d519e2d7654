"""Contraction with Poisson batches and with batches drawn without replacement.

The near cost of a window of steps, from one point, is the profile of the composed sampled steps. For the far
cost, from any two points, the steps that use the sample are revealed: shifts bring two copies of the run
without the sample together, and each use adds its move. The far cost is a mean of Gaussian profiles over the
number of uses.

Let q be the probability that a batch holds the sample, and s its largest move over the noise. A step on a
Poisson batch is dominated by M = (1-q) N(0, 1) + q N(s, 1) and N(0, 1). Without replacement, q theta(1 + (g -
1) / q) bounds both orders at the ratio g, for the Gaussian profile theta at s. The far cost of Poisson
batches is also a mean over ranges of the batch size.

Source: docs/proofs/contraction.md (claims ours/contraction/poisson, ours/contraction/without_replacement);
Balle, Barthe & Gaboardi 2018.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from math import inf, log

import numpy as np
from flint import arb
from scipy.special import bdtrc

from lastiterate.numeric.accounting.batches import outcome_distance, rate, size_ranges, step_multiplier
from lastiterate.numeric.accounting.conversion import quick_rdp_to_delta
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair, SampledSteps
from lastiterate.numeric.accounting.pld import Composition
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.chain import Goal, Prices, Repeated, TableCandidate, chain_blocks
from lastiterate.numeric.contraction.fixed_batches import last_windows
from lastiterate.numeric.contraction.table import Table, gaussian_table, spread_nodes, tabulate
from lastiterate.numeric.divergences.sampled import gaussian_profile
from lastiterate.numeric.losses.assumptions import Assumption, Size, Sized
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import hide_initial
from lastiterate.numeric.shift_program.program import ShiftProgram, cut_run

NODES, _FAR_NODES, _COMPOSED_NODES = 400, 240, 200
_FINE = 0.02
_WIDEST = 45.0
_DELTAS = (1e-1, 1e-3, 1e-6, 1e-10)
"""Values of delta for which transforms are computed."""
_ORDERS = (1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0)
_LEAST_ALONE = 1e-6
_LAST, _SHARED = 48, 16
"""For schedules: number of last windows used, and maximum number of windows that share costs."""
_BINS, _DEPTH, _AT_AN_ORDER, _USUAL, _ALIKE = 8, 14.0, -140.0, -3.0, 1 + 1e-9
"""Number of outcomes of the coins; log(delta) minus the log-probability of a rare event; this log-probability
for a bound at an order; log-probability of a common event; and ratio below which values of mu are equal."""
_LONGEST, _ABOVE = 20_000, 1 + 1e-9


@lru_cache(maxsize=64)
def sampled_step(rate: float, multiplier: float, adjacency: str) -> Table:
    """The near cost of a sampled step; see `SampledSteps`."""
    with precision():
        s, q = 1 / exact(multiplier), exact(rate)
        if rate == 1:
            return gaussian_table(upper(s))
        shift = float(s)
        steps = shift * spread_nodes(0.01, min(_WIDEST, 300 / shift), NODES)
        up = np.log1p(rate * np.expm1(np.minimum(steps, 300.0)))
        if adjacency == "replace":
            return tabulate(lambda g: q * _theta(s, 1 + (g - 1) / q), up)
        down = -np.log1p(rate * np.expm1(-steps))

        def back(g: arb) -> arb:
            kept = 1 - g * (1 - q)
            return (
                kept * _theta(s, g * q / kept)
                if kept > 0
                else arb(0).union(kept)
                if kept.contains(0)
                else arb(0)
            )

        return tabulate(lambda g: q * _theta(s, (g - 1 + q) / q), np.unique(np.concatenate([up, down])), back)


def _theta(s: arb, ratio: arb) -> arb:
    return gaussian_profile(s, ratio.log())


@lru_cache(maxsize=64)
def compose_prices(steps: tuple[SampledSteps, ...]) -> Table | None:
    """The near cost of consecutive sampled steps; None outside the range of floats."""
    if len(steps) == 1 and steps[0].count == steps[0].group == 1:
        return sampled_step(steps[0].rate, steps[0].multiplier, steps[0].adjacency)
    pair = DominatingPair(0.0, steps)
    with precision():
        renyi = [(order, pair.rdp(order)) for order in _ORDERS]
        # The transforms do not matter where the Renyi bounds give less than 1e-10.
        end = max(min((rho + 23 / (order - 1)) for order, rho in renyi), 1e-6)
        about = (2 * renyi[1][1] / renyi[1][0]) ** 0.5
        logs = (
            spread_nodes(_FINE * about, end, _COMPOSED_NODES)
            if _FINE * about < end
            else np.linspace(0, end, _COMPOSED_NODES)
        )
        logs = np.concatenate([logs, end * np.geomspace(1.05, 40.0, 40)])
        logs = np.append(logs[logs < 299], 300.0)
        known = np.array(
            [min(quick_rdp_to_delta(order, rho, x) for order, rho in renyi) for x in logs.tolist()]
        )
        found = [_profile(pair, side, logs, known) for side in pair.sides]
    ahead, back = found[0], found[-1]
    if ahead is None or back is None:
        return None
    if back is not ahead:
        ahead[0] = back[0] = min(ahead[0], back[0])
    return Table(np.exp(logs), ahead, back)


def _profile(pair: DominatingPair, side: str, logs: Array, known: Array) -> Array | None:
    values, releases = known.copy(), pair.releases(side)
    reached = False
    for delta in _DELTAS:
        law = Composition.of(releases, delta)
        if law is None:
            continue
        reached = True
        for k, x in enumerate(logs.tolist()):
            if delta / 1e4 < values[k] and x >= law.losses[0]:
                values[k] = min(values[k], law.delta(float(np.nextafter(x * (1 - 1e-15), 0.0))))
    return np.minimum.accumulate(values) if reached else None


def reveal_coins(shifts: tuple[float, ...], chances: tuple[float, ...], failure: float) -> Table:
    """The far cost if coins and sizes are revealed: a mean of Gaussian profiles, plus a failure probability.

    ``shifts`` are the increasing values of mu of the outcomes, whose probabilities sum to at least 1.
    """
    top = shifts[-1]
    logs = spread_nodes(0.015 * shifts[0], min(_WIDEST * top, 300.0), _FAR_NODES)
    with precision(96):
        parts = [(exact(mu), exact(chance)) for mu, chance in zip(shifts, chances, strict=True)]

        def mean(g: arb) -> arb:
            return sum((chance * _theta(mu, g) for mu, chance in parts), arb(failure))

        return tabulate(mean, logs)


def outcomes(count: int, rate: float, bins: int) -> list[tuple[int, float]]:
    """Numbers of uses in ``count`` steps, rounded up to a few values, with their probabilities."""
    rare = bisect_left(range(count), True, key=lambda k: bool(bdtrc(k, count, rate) <= _LEAST_ALONE))
    highest = min(rare + 2, count)
    edges = sorted({int(x) for x in np.linspace(0, highest, bins)} | {count})
    tails = [_tail(count, rate, low + 1) for low in edges]  # P(H > edge), rounded up
    # By parts, the mean of an increasing f is at most sum of f_k (T_(k-1) - T_k) for tails T rounded up.
    falls = [float(np.nextafter(before - tail, 2.0)) for before, tail in pairwise([1.0, *tails])]
    return list(zip(edges, falls, strict=True))


def _tail(count: int, rate: float, least: int) -> float:
    if least <= 0:
        return 1.0
    if least > count:
        return 0.0
    with precision():
        q = exact(rate)
        below = sum((arb(count).bin(k) * q**k * (1 - q) ** (count - k) for k in range(least)), arb(0))
        return min(max(upper(1 - below), 0.0), 1.0)


class _Unmet(Sized):
    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:  # noqa: ARG002
        return super().expansion(run, t, differs=False)


def contract_random(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate for random batches, if any."""
    [(_, width)] = last_windows(run, 1)
    if width > _LONGEST or (run.constant and width == run.steps):  # one block: composition
        return []
    if run.constant:
        price = _prices(run, assumption, [(0, width)], goal)
        if price is None:
            return []
        table, blocks = Repeated([price], -(-run.steps // width), goal).settled()
        return [TableCandidate.of(run, table, blocks * width, other)]
    windows = last_windows(run, _LAST)
    first, _ = windows[0]
    prices = list[Prices]()
    for part in _parts(run, windows):  # the windows of a part share the largest of their costs
        shared = _prices(run, assumption, part, goal)
        if shared is None:
            return []
        prices += [shared] * len(part)
    return [TableCandidate.of(run, chain_blocks(prices, goal, from_equal=first == 0), run.steps - first, other)]


def _parts(run: NoisySGD, windows: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Groups of at most `_SHARED` consecutive windows with equal batches, formed from the end."""
    found = list[list[tuple[int, int]]]()
    for window in reversed(windows):
        if not found or _batches(run, found[-1][0]) != _batches(run, window) or len(found[-1]) == _SHARED:
            found.append([])
        found[-1].append(window)
    return found[::-1]


def _batches(run: NoisySGD, window: tuple[int, int]) -> dict[int, int]:
    start, length = window
    if not isinstance(run.batch_size, tuple):
        return {run.batch: length}
    return dict(Counter(sorted(run.batch_size[start : start + length])))


def _prices(run: NoisySGD, assumption: Assumption, windows: list[tuple[int, int]], goal: Goal) -> Prices | None:
    length, batches = windows[0][1], _batches(run, windows[0])
    multipliers = dict.fromkeys(batches, inf)
    for start, _ in windows:
        for t in (start,) if run.constant else range(start, start + length):
            found = step_multiplier(run, run.step_size_at(t), run.noise_std_at(t), run.batch_at(t))
            multipliers[run.batch_at(t)] = min(multipliers[run.batch_at(t)], found)
    steps = ((rate(run, size), multipliers[size], run.adjacency, times) for size, times in batches.items())
    near = compose_prices(tuple(SampledSteps(*one, run.group) for one in steps))
    kinds = outcomes(length * run.group, rate(run, max(batches)), _BINS)
    met = [times for times, _ in kinds]

    def shifts(low: Size, high: Size) -> Array:
        every = [_shifts(run, assumption, start, length, (low, high), met) for start, _ in windows]
        return np.asarray(np.max(every, axis=0))

    far = _far(_sizes(run, assumption, length, goal), shifts, np.array([chance for _, chance in kinds]))
    return None if near is None or far is None else (near, far)


def _far(
    ranges: list[tuple[Size, Size, float]], shifts: Callable[[Size, Size], Array], chances: Array
) -> Table | None:
    """The far cost, a mean over ``ranges`` and outcomes of the coins; None if no mu is finite."""
    mus = [shifts(*one[:2]) for one in dict.fromkeys((ranges[0], ranges[-1]))]
    if np.all(mus[-1] <= mus[0] * _ALIKE):
        ranges, mus = ranges[-1:], mus[-1:]
    else:
        mus[1:1] = [shifts(*one[:2]) for one in ranges[1:-1]]
    rising = np.maximum.accumulate([mu for mu in mus if np.all(np.isfinite(mu))])
    if not len(rising):
        return None
    tails = np.array([1.0, *(outside for *_, outside in ranges[: len(rising)])])
    weights = np.maximum(np.nextafter(-np.diff(tails), 2.0), 0.0)  # by parts, as in `outcomes`
    mixed = np.nextafter(np.outer(weights, chances), 2.0)
    return reveal_coins(tuple(rising.ravel().tolist()), tuple(mixed.ravel().tolist()), float(tails[-1]))


def _shifts(
    run: NoisySGD, assumption: Assumption, start: int, length: int, sizes: tuple[Size, Size], met: list[int]
) -> list[float]:
    """Mu, for each number of uses, of a path that hides the diameter in a window, rounded up."""
    part = cut_run(run, start, length, adjacency="replace", sampling="without_replacement", group=1)
    low, high = (one[start : start + length] if isinstance(one, tuple) else one for one in sizes)
    if isinstance(part.batch_size, tuple):
        sized: Sized = _Unmet(assumption, low, high)
        place = 0
    else:  # the place of the sample in the epoch is beyond the window, so the sample is never used
        size, sized, place = part.batch, Sized(assumption, low, high), length
        part = replace(part, sampling="cyclic", dataset_size=size * (length + 1), batch_size=size)
    with precision():
        clean = hide_initial(ShiftProgram(part, sized, place, initial=run.diameter))
        shifts, cost = np.zeros(length), exact(upper(clean.cost))
        shifts[clean.path.start :] = clean.path.shifts
        distances = {size: exact(outcome_distance(run, size)) for size in run.batch_sizes}
        moves = [
            exact(run.step_size_at(t)) * distances[run.batch_at(t)] / exact(run.noise_std_at(t))
            for t in range(start, start + length)
        ]
        # The last shift of a path is the distance left to hide, which the certified cost also bounds.
        spent = [exact(upper(_shift(cost, part, shifts, t))) for t in range(length)]

        def dearer(k: int) -> list[arb]:
            """Costs of k samples of the group in a step, the largest first."""
            every = (2 * a * (k * move) + (k * move) ** 2 for a, move in zip(spent, moves, strict=True))
            return sorted(every, key=upper, reverse=True)

        # The costs are convex in k, so they are largest if as few steps as possible have samples.
        sums = list(accumulate(dearer(run.group), initial=arb(0)))
        found = [divmod(times, run.group) for times in met]
        return [upper((cost + sums[whole] + dearer(rest)[0]).sqrt()) for whole, rest in found]


def _shift(cost: arb, part: NoisySGD, shifts: Array, t: int) -> arb:
    """Ratio of shift to noise in step t, with a margin for float errors; the last ratio follows from ``cost``."""
    if t < len(shifts) - 1:
        return exact(float(shifts[t]) * _ABOVE) / exact(part.noise_std_at(t))
    spent = sum(
        ((exact(float(a)) / exact(part.noise_std_at(k))) ** 2 for k, a in enumerate(shifts[:-1])), arb(0)
    )
    return (cost * exact(_ABOVE) - spent / exact(_ABOVE)).max(arb(0)).sqrt()


def _sizes(run: NoisySGD, assumption: Assumption, length: int, goal: Goal) -> list[tuple[Size, Size, float]]:
    """Increasing ranges of batch sizes without the sample, and the probability that a batch is outside each range."""
    if run.scheme.fixed_size:
        sizes = run.batch_size if isinstance(run.batch_size, tuple) else run.batch
        return [(sizes, sizes, 0.0)]
    others = run.dataset_size - run.group
    if not others or run.batch_sizes[0] == run.dataset_size:
        return [(others, others, 0.0)]
    log_chances = [_AT_AN_ORDER if goal.delta is None else log(goal.delta) - _DEPTH]
    while log_chances[0] < 2 * _USUAL:
        log_chances.insert(0, log_chances[0] / 2)
    found = list[tuple[Size, Size, float]]()
    with precision():
        for log_chance in log_chances:
            low, high, tail = size_ranges(run, log_chance - log(length), both=not assumption.expansive(run))
            found.append((low, high, min(1.0, upper(exact(tail) * length))))
    return found
