"""Contraction with Poisson batches and with batches drawn without replacement.

A window of w steps costs, from one point, w sampled steps (near; the coins of the sample are hidden). From any two
points the coins are revealed, alike in both runs: shifts that bring two copies of the run without the sample together,
and on top, wherever the sample is met, what it moves. That is a mean of Gaussians over how often it is met.

Poisson batches: the sizes of the batches without the sample are revealed, too. Large batches may move points apart, so
the far price is a mean over nested ranges of sizes, and 1 outside of the widest. The near price asks nothing of sizes.

Source: docs/proofs/contraction.md (claims ours/contraction/poisson, ours/contraction/without_replacement).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import inf, log
from typing import Any

import numpy as np
from flint import arb

from lastiterate.numeric.accounting.dominating import Candidate, SampledStep
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.candidate import Contracted
from lastiterate.numeric.contraction.chain import Goal, Prices, Repeated, chained
from lastiterate.numeric.contraction.far import hidden
from lastiterate.numeric.contraction.sampled import composed, outcomes, revealed
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.losses.assumptions import Assumption, Size, Sized
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import moved, rate
from lastiterate.numeric.subsampling.poisson import size_ranges
from lastiterate.numeric.subsampling.windows import step_multiplier

_LENGTH, _LAST, _SHARED = 2.8, 48, 16
"""A window of w steps has a diameter over sqrt(w) of about so many times the noise; last windows of a schedule, and how
many of them share their prices."""
_BINS, _DEPTH, _AT_AN_ORDER, _USUAL, _ALIKE = 8, 14.0, -140.0, -3.0, 1 + 1e-9
"""Kinds of outcomes of the coins; logarithms of how rare an event is, against delta and at an order, and of where it is
rare no longer; a ratio of prices that are as good as equal."""
_LONGEST, _ABOVE = 20_000, 1 + 1e-9


class _Unmet(Sized):
    """The same for a sample that no batch holds."""

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:  # noqa: ARG002
        return super().expansion(run, t, differs=False)


def contracted_random(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate by contraction, or none."""
    width = _width(run, run.steps - 1)
    if min(width, run.steps) > _LONGEST or (run.constant and width >= run.steps):  # one block: composition
        return []
    if run.constant:
        w = width
        price = _prices(run, assumption, [(0, w)], goal)
        if price is None:
            return []
        table, blocks = Repeated([price], -(-run.steps // w), goal).settled()
        return [_candidate(run, table, blocks * w, other)]
    windows, end = list[tuple[int, int]](), run.steps
    while end > 0 and len(windows) < _LAST:
        length = min(_width(run, end - 1), end)
        windows.insert(0, (end - length, length))
        end -= length
    prices = list[Prices]()
    for part in _parts(run, windows):  # windows of one length, as a rule, share the dearest prices of them
        shared = _prices(run, assumption, part, goal)
        if shared is None:
            return []
        prices += [shared] * len(part)
    return [_candidate(run, chained(prices, goal, from_equal=end == 0), run.steps - end, other)]


def _parts(run: NoisySGD, windows: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Windows one after the other that share prices: alike in length and batches, at most `_SHARED`, from the end."""
    found = list[list[tuple[int, int]]]()
    for window in reversed(windows):
        if not found or _batches(run, found[-1][0]) != _batches(run, window) or len(found[-1]) == _SHARED:
            found.append([])
        found[-1].append(window)
    return found[::-1]


def _batches(run: NoisySGD, window: tuple[int, int]) -> dict[int, int]:
    """Number of steps of a window for each size of its batches."""
    start, length = window
    if not isinstance(run.batch_size, tuple):
        return {run.batch: length}
    return dict(Counter(sorted(run.batch_size[start : start + length])))


def _width(run: NoisySGD, t: int) -> int:
    return max(round((run.diameter / run.noise_std_at(t) / _LENGTH) ** 2), 1)


def _prices(run: NoisySGD, assumption: Assumption, windows: list[tuple[int, int]], goal: Goal) -> Prices | None:
    """The near and the far price of any of some windows of one length; None where floats do not reach."""
    length, batches = windows[0][1], _batches(run, windows[0])
    multipliers = dict.fromkeys(batches, inf)
    for start, _ in windows:
        for t in (start,) if run.constant else range(start, start + length):
            found = step_multiplier(run, run.step_size_at(t), run.noise_std_at(t), run.batch_at(t))
            multipliers[run.batch_at(t)] = min(multipliers[run.batch_at(t)], found)
    steps = ((rate(run, size), multipliers[size], run.adjacency, times) for size, times in batches.items())
    near = composed(tuple(SampledStep(*one) for one in steps))
    kinds = outcomes(length, rate(run, max(batches)), _BINS)
    met = [times for times, _ in kinds]

    def shifts(low: Size, high: Size) -> Array:
        every = [_shifts(run, assumption, start, length, (low, high), met) for start, _ in windows]
        return np.asarray(np.max(every, axis=0))

    far = _far(_sizes(run, assumption, length, goal), shifts, np.array([chance for _, chance in kinds]))
    return None if near is None or far is None else (near, far)


def _far(ranges: list[tuple[Size, Size, float]], shifts: Callable[[Size, Size], Array], chances: Array) -> Table | None:
    """The far price, a mean over ranges of sizes and outcomes of the coins; None where floats do not reach.

    Args:
        ranges: as of `_sizes`.
        shifts: mu of every outcome over a range, rising.
        chances: of the outcomes, rounded up.
    """
    mus = [shifts(*one[:2]) for one in dict.fromkeys((ranges[0], ranges[-1]))]
    if np.all(mus[-1] <= mus[0] * _ALIKE):
        ranges, mus = ranges[-1:], mus[-1:]
    else:
        mus[1:1] = [shifts(*one[:2]) for one in ranges[1:-1]]
    rising = np.maximum.accumulate([mu for mu in mus if np.all(np.isfinite(mu))])
    if not len(rising):
        return None
    tails = np.array([1.0, *(outside for *_, outside in ranges[: len(rising)])])
    weights = np.maximum(np.nextafter(-np.diff(tails), 2.0), 0.0)  # of a rising sequence, by parts, as of the outcomes
    mixed = np.nextafter(np.outer(weights, chances), 2.0)
    return revealed(tuple(rising.ravel().tolist()), tuple(mixed.ravel().tolist()), float(tails[-1]))


def _shifts(
    run: NoisySGD, assumption: Assumption, start: int, length: int, sizes: tuple[Size, Size], met: list[int]
) -> list[float]:
    """Mu of a path that hides the diameter in a window where the sample is met so often, rounded up."""

    def cut(schedule: Any) -> Any:
        return schedule[start : start + length] if isinstance(schedule, tuple) else schedule

    part = replace(
        run,
        steps=length,
        step_size=cut(run.step_size),
        noise_std=cut(run.noise_std),
        batch_size=cut(run.batch_size),
        adjacency="replace",
        sampling="without_replacement",
    )
    low, high = map(cut, sizes)
    if isinstance(part.batch_size, tuple):
        sized: Sized = _Unmet(assumption, low, high)
        place = 0
    else:  # a sample that is never met: its place in the epoch is beyond the window
        size, sized, place = part.batch, Sized(assumption, low, high), length
        part = replace(part, sampling="cyclic", dataset_size=size * (length + 1), batch_size=size)
    with precision():
        clean = hidden(ShiftProgram(part, sized, place, initial=run.diameter))
        shifts, cost = np.zeros(length), exact(upper(clean.cost))
        shifts[clean.path.start :] = clean.path.shifts
        moves = [_moves(run, start + t) for t in range(length)]
        # The last shift of a path is what is left to hide; what certifies the cost bounds it, too.
        dearer = [2 * exact(upper(_shift(cost, part, shifts, t))) * move + move**2 for t, move in enumerate(moves)]
        sums = [arb(0)]
        for one in sorted(dearer, key=upper, reverse=True):
            sums.append(sums[-1] + one)
        return [upper((cost + sums[times]).sqrt()) for times in met]


def _shift(cost: arb, part: NoisySGD, shifts: Array, t: int) -> arb:
    """The shift of a step over its noise, above what a path in floats lost; of the last step what the cost leaves."""
    if t < len(shifts) - 1:
        return exact(float(shifts[t]) * _ABOVE) / exact(part.noise_std_at(t))
    spent = sum(((exact(float(a)) / exact(part.noise_std_at(k))) ** 2 for k, a in enumerate(shifts[:-1])), arb(0))
    return (cost * exact(_ABOVE) - spent / exact(_ABOVE)).max(arb(0)).sqrt()


def _moves(run: NoisySGD, t: int) -> arb:
    """The distance by which the sample moves an iterate, over the noise."""
    return exact(run.step_size_at(t)) * exact(moved(run, run.batch_at(t))) / exact(run.noise_std_at(t))


def _sizes(run: NoisySGD, assumption: Assumption, length: int, goal: Goal) -> list[tuple[Size, Size, float]]:
    """Ranges of sizes of the batches without the sample, ever wider, and the chance that one of the window is outside.

    Each range is left with about the root of the chance of the one before.
    """
    if run.scheme.fixed_size:
        sizes = run.batch_size if isinstance(run.batch_size, tuple) else run.batch
        return [(sizes, sizes, 0.0)]
    others = run.dataset_size - 1
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


def _candidate(run: NoisySGD, table: Table, steps: int, other: Candidate) -> Candidate:
    claim = f"ours/contraction/{run.scheme.name}"
    return Contracted.of(table, claim, (max(run.steps - steps, 0), run.steps), other)
