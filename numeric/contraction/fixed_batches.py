"""Contraction where it is known in advance which batches hold the sample: full and cyclic batches.

A window of steps costs, in a Gaussian, what the shift program pays for it from one point (near) and from the diameter
of the domain (far); clean steps are the same in both runs. With equal steps the runs that differ in the last batch of
an epoch are the worst: those of another are the same some steps earlier, and then a common kernel.

Source: docs/proofs/contraction.md (claims ours/contraction/full, ours/contraction/cyclic).
"""

from collections.abc import Callable
from dataclasses import replace
from math import ceil, inf, isfinite, log

import numpy as np

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.candidate import Contracted
from lastiterate.numeric.contraction.chain import Goal, Prices, Repeated, chained, resampled
from lastiterate.numeric.contraction.far import hidden
from lastiterate.numeric.contraction.gaussian import gaussian, sketched
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram

APART = 50.0
"""Domains wider than so many times the noise are left to the shift program."""
_LENGTHS, CLEAN = (3.4, 2.8, 2.2, 1.7, 1.3), 2.4
"""A block of w steps has a diameter over sqrt(w) of about so many times the noise."""
_LAST = 64
"""Blocks at the end of a run with schedules that are looked at."""
_MOST_POSITIONS = 16
_RATIO = 1.01
"""Prices of runs with schedules are rounded up to powers of it, so that few tables serve."""


def contracted_fixed(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate by contraction, or none."""
    noise = run.noise_std_at(run.steps - 1)
    if not run.constant:
        return _scheduled(run, assumption, goal, other)
    if run.period == 1:
        one_block = (run.diameter / noise / _LENGTHS[0]) ** 2 >= run.steps
        return [] if one_block else _full(run, assumption, goal, other)
    return _cyclic(run, assumption, goal, other) if run.steps > run.period else []


def _full(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    noise = run.noise_std_at(0)
    widths = sorted({min(max(round((run.diameter / noise / m) ** 2), 1), run.steps) for m in _LENGTHS})
    always, found = _always(other), dict[int, Repeated]()

    def about(place: int) -> float:
        if place not in range(len(widths)):
            return inf
        if place not in found:
            w = widths[place]
            prices = window_prices(run, assumption, 0, 0, w, price=lambda mu: sketched(_rounded(mu)))
            found[place] = Repeated([prices], -(-run.steps // w), goal, always=always)
        return found[place].about

    place = widths.index(min(max(round((run.diameter / noise / _LENGTHS[1]) ** 2), 1), run.steps))
    step = 1 if about(place + 1) < about(place) else -1
    while about(place + step) < about(place):
        place += step
    w = widths[place]
    if w == run.steps:  # one block: the path of its near price is one of the shift program
        return []
    prices = window_prices(run, assumption, 0, 0, w)
    table, blocks = Repeated([prices], -(-run.steps // w), goal, always=always).settled()
    return [_candidate(run, table, blocks * w, other)]


def _always(other: Candidate) -> float | None:
    """Mu of a path of the shift program; with equal steps what is left of it hides a shorter run."""
    return other.pair.mu if other.pair.gaussian and isfinite(other.pair.mu) else None


def _cyclic(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    every, clean = run.period, max(round((run.diameter / run.noise_std_at(0) / CLEAN) ** 2), 1)
    lengths = [len(part) for part in np.array_split(np.arange(every), max(round(every / clean), 1))]
    pattern = [window_prices(run, assumption, every - 1, 0, length) for length in lengths[:-1]]
    pattern.append(window_prices(run, assumption, lengths[-1] - 1, 0, lengths[-1]))
    table, epochs = Repeated(pattern, -(-run.steps // every), goal, always=_always(other)).settled()
    return [_candidate(run, table, epochs * every, other)]


def _scheduled(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The greatest profile of all positions of the sample, from the last blocks; none where there are too many."""
    positions = range(min(run.period, run.steps))
    if len(positions) > _MOST_POSITIONS:
        return []
    found, first = list[Table](), run.steps
    for position in positions:
        windows = _windows(run, position)
        prices = [window_prices(run, assumption, position, *window, price=_shared) for window in windows]
        found.append(chained(prices, goal, from_equal=windows[0][0] == 0))
        first = min(first, windows[0][0])
    # Profiles of positions cross: what is worst at the goal is not at every ratio.
    nodes = max(found, key=goal.value).g
    every = [resampled(table, nodes) for table in found] if len(found) > 1 else found
    ahead = np.max([table.ahead for table in every], axis=0)
    return [_candidate(run, Table(nodes, ahead, ahead), run.steps - first, other)]


def _windows(run: NoisySGD, position: int) -> list[tuple[int, int]]:
    """The last windows of a run, (start, length) in the order of time; an epoch's sample ends one of them."""
    found, end = list[tuple[int, int]](), run.steps
    while end > 0 and len(found) < _LAST:
        parts = _LENGTHS[1] if run.period == 1 else CLEAN
        length = max(round((run.diameter / run.noise_std_at(end - 1) / parts) ** 2), 1)
        if run.period > 1:  # the last step before this one that meets the sample ends another window
            length = min(length, (end - 1 - position - 1) % run.period + 1)
        found.append((max(end - length, 0), min(length, end)))
        end -= length
    return found[::-1]


def window_prices(
    run: NoisySGD,
    assumption: Assumption,
    position: int,
    start: int,
    length: int,
    *,
    price: Callable[[float], Table] = gaussian,
) -> Prices:
    """The near and the far price of a window of steps.

    Args:
        run: with batches that are fixed in advance.
        assumption: of its losses.
        position: the batch of an epoch that holds the sample, counted from ``start`` on where steps are equal.
        start: first step of the window.
        length: number of its steps.
        price: the table of a mu.
    """

    def cut(schedule: float | tuple[float, ...]) -> float | tuple[float, ...]:
        return schedule[start : start + length] if isinstance(schedule, tuple) else schedule

    part = replace(run, steps=length, step_size=cut(run.step_size), noise_std=cut(run.noise_std))
    place = (position - start) % run.period
    with precision():
        far = upper(hidden(ShiftProgram(part, assumption, place, initial=run.diameter)).cost.sqrt())
        near = upper(optimum(ShiftProgram(part, assumption, place)).cost.sqrt()) if place < length else None
    return None if near is None else price(near), price(far)


def _shared(mu: float) -> Table:
    return gaussian(_rounded(mu))


def _rounded(mu: float) -> float:
    return max(_RATIO ** ceil(log(mu) / log(_RATIO)), mu) if mu > 0 and isfinite(mu) else mu


def _candidate(run: NoisySGD, table: Table, steps: int, other: Candidate) -> Candidate:
    claim = "ours/contraction/full" if run.period == 1 else "ours/contraction/cyclic"
    return Contracted.of(table, claim, (max(run.steps - steps, 0), run.steps), other)
