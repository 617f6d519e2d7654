"""Contraction for full, cyclic and shuffled batches, which do not depend on the noise.

The cost of a window of steps is the Gaussian profile whose mu^2 is the cost of the shift program that starts
from one point (near) or from the diameter (far). If all steps are equal, the worst runs differ in the last
batch of an epoch. For shuffled batches, the place of the sample stays hidden (`hidden`). If all steps are
equal, neighbouring places form groups, each bounded with the fewest clean steps before and after the sample.

Source: docs/proofs/contraction.md and hidden_places.md (claims ours/contraction/full, cyclic, shuffled).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import ceil, inf, isfinite, log

import numpy as np

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.chain import (
    Goal,
    Prices,
    Repeated,
    TableCandidate,
    chain_blocks,
    resample,
)
from lastiterate.numeric.contraction.hidden import HiddenEpoch, Place
from lastiterate.numeric.contraction.table import Table, gaussian_table
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import hide_initial, optimum
from lastiterate.numeric.shift_program.positions import meets_in_one_batch
from lastiterate.numeric.shift_program.program import ShiftProgram, cut_run

APART = 50.0
"""Ratio of diameter to noise above which contraction is not tried."""
_LENGTHS, CLEAN = (3.4, 2.8, 2.2, 1.7, 1.3), 2.4
"""Approximate ratios of diameter / sqrt(w) to the noise, for blocks of w steps."""
_LAST = 64
"""Number of last blocks used in a run with schedules."""
_MOST_POSITIONS = 16
_RATIO = 1.01
"""Base of the powers to which mu is rounded up for schedules and trial widths."""
_SINGLE = 16
"""Number of places at the end of an epoch that are not grouped."""
_MOST_CLEAN = 40
"""Maximum number of consecutive clean blocks used."""
_LAST_EPOCHS, _MOST_PLACES = 6, 16
"""For schedules: number of last epochs used, and maximum number of places in an epoch."""


def contract_fixed(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate for full or cyclic batches, if any."""
    noise = run.noise_std_at(run.steps - 1)
    if not run.constant:
        if not meets_in_one_batch(run, assumption):
            return []
        return _scheduled(run, assumption, goal, other)
    if run.period == 1:
        one_block = (run.diameter / noise / _LENGTHS[0]) ** 2 >= run.steps
        return [] if one_block else _full(run, assumption, goal, other)
    known = run.steps > run.period and meets_in_one_batch(run, assumption)
    return _cyclic(run, assumption, goal, other) if known else []


def _full(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    noise = run.noise_std_at(0)
    widths = sorted({min(max(round((run.diameter / noise / m) ** 2), 1), run.steps) for m in _LENGTHS})
    always, found = _always(other), dict[int, Repeated]()

    def about(place: int) -> float:
        if place not in range(len(widths)):
            return inf
        if place not in found:
            w = widths[place]
            prices = window_prices(run, assumption, 0, 0, w, price=_rounded_table)
            found[place] = Repeated([prices], -(-run.steps // w), goal, always=always)
        return found[place].about

    place = widths.index(min(max(round((run.diameter / noise / _LENGTHS[1]) ** 2), 1), run.steps))
    step = 1 if about(place + 1) < about(place) else -1
    while about(place + step) < about(place):
        place += step
    w = widths[place]
    if w == run.steps:  # one block: its near cost is a path of the shift program
        return []
    prices = window_prices(run, assumption, 0, 0, w)
    table, blocks = Repeated([prices], -(-run.steps // w), goal, always=always).settled()
    return [TableCandidate.of(run, table, blocks * w, other)]


def _always(other: Candidate) -> float | None:
    """Mu of a Gaussian bound by shifts, if any; with equal steps, the end of its path proves mu for shorter runs."""
    return other.pair.mu if other.pair.gaussian and isfinite(other.pair.mu) else None


def _cyclic(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    every, clean = run.period, max(round((run.diameter / run.noise_std_at(0) / CLEAN) ** 2), 1)
    clean = clean if run.group == 1 else every  # the batches of an epoch that hold the group are not known
    lengths = [len(part) for part in np.array_split(np.arange(every), max(round(every / clean), 1))]
    pattern = [window_prices(run, assumption, every - 1, 0, length) for length in lengths[:-1]]
    pattern.append(window_prices(run, assumption, lengths[-1] - 1, 0, lengths[-1]))
    table, epochs = Repeated(pattern, -(-run.steps // every), goal, always=_always(other)).settled()
    return [TableCandidate.of(run, table, epochs * every, other)]


def _scheduled(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """Candidate with the maximum of the profiles for all positions of the sample, if these are few."""
    positions = range(min(run.period, run.steps))
    if len(positions) > _MOST_POSITIONS:
        return []
    found, first = list[Table](), run.steps
    for position in positions:
        windows = last_windows(run, _LAST, position)
        prices = [window_prices(run, assumption, position, *window, price=_rounded_table) for window in windows]
        found.append(chain_blocks(prices, goal, from_equal=windows[0][0] == 0))
        first = min(first, windows[0][0])
    # Profiles of positions cross: the worst position at the goal need not be the worst at every ratio.
    nodes = max(found, key=goal.value).g
    every = [resample(table, nodes) for table in found] if len(found) > 1 else found
    ahead = np.max([table.ahead for table in every], axis=0)
    return [TableCandidate.of(run, Table(nodes, ahead, ahead), run.steps - first, other)]


def last_windows(run: NoisySGD, most: int, position: int = 0) -> list[tuple[int, int]]:
    """The last windows of a run, (start, length) in time order; each use of the sample ends a window."""
    found, end = list[tuple[int, int]](), run.steps
    while end > 0 and len(found) < most:
        parts = _LENGTHS[1] if run.period == 1 else CLEAN
        length = max(round((run.diameter / run.noise_std_at(end - 1) / parts) ** 2), 1)
        if run.period > 1:  # an earlier step that uses the sample ends another window
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
    price: Callable[[float], Table] = gaussian_table,
) -> Prices:
    """The near and far costs of ``length`` steps from ``start``; batch ``position`` holds the sample."""
    part = cut_run(run, start, length)
    place = (position - start) % run.period
    with precision():
        far = upper(hide_initial(ShiftProgram(part, assumption, place, initial=run.diameter)).cost.sqrt())
        near = upper(optimum(ShiftProgram(part, assumption, place)).cost.sqrt()) if place < length else None
    return None if near is None else price(near), price(far)


def _rounded_table(mu: float) -> Table:
    return gaussian_table(max(_RATIO ** ceil(log(mu) / log(_RATIO)), mu) if mu > 0 and isfinite(mu) else mu)


def contract_shuffled(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate for shuffled batches, if any."""
    every, epochs = run.batches, run.steps // run.batches
    if run.group > 1:
        cyclic = replace(run, sampling="cyclic")
        return contract_fixed(cyclic, assumption, goal, other) if not run.steps % every else []
    if not run.constant and every > _MOST_PLACES:
        return []
    known = replace(run, sampling="cyclic")
    rest = [_epoch(known, assumption, epochs * every, run.steps - epochs * every)] if run.steps % every else []
    if run.constant and epochs:
        table, done = Repeated([_epoch(known, assumption, 0, every)], epochs, goal, rest).settled()
    else:
        done = min(epochs, _LAST_EPOCHS)
        stretches = [_epoch(known, assumption, (epochs - k) * every, every) for k in range(done, 0, -1)]
        table = chain_blocks([*stretches, *rest], goal, from_equal=done == epochs)
    return [TableCandidate.of(run, table, run.steps % every + done * every, other)]


def _epoch(run: NoisySGD, assumption: Assumption, start: int, length: int) -> HiddenEpoch:
    """The costs of ``length`` steps from ``start``, where an epoch begins."""
    width = max(round((run.diameter / run.noise_std_at(start) / CLEAN) ** 2), 1)
    price, begin, first = partial(window_prices, run, assumption), int(length == run.batches), None
    if begin:  # the pivot is the first place of a whole epoch
        first = price(0, start, 1), price(1, start, 1)[1]
    places, prices = list[Place](), dict[tuple[int, int], Prices]()
    if not run.constant:
        parts = np.array_split(np.arange(begin, length), ceil((length - begin) / width))
        windows = [(start + int(part[0]), len(part)) for part in parts]
        clean = tuple(price(at + count, at, count)[1] for at, count in windows)
        for k, (part, window) in enumerate(zip(parts, windows, strict=True)):
            places += [Place(1, price(int(p), *window), k, len(parts) - k - 1) for p in part]
        return HiddenEpoch(run.batches, first, clean, tuple(places))
    most = min((length - begin) // width, _MOST_CLEAN)
    for low, high in _grouped(begin, length):
        (before, joined), (after, more) = divmod(low - begin, width), divmod(length - 1 - high, width)
        # The block of the sample takes the clean steps that make no whole block.
        key = joined, joined + 1 + more
        if key not in prices:
            prices[key] = price(joined, 0, key[1])
        places.append(Place(high - low + 1, prices[key], min(before, most), min(after, most)))
    same = (price(width, 0, width)[1],) if most else ()
    return HiddenEpoch(run.batches, first, same * most, tuple(places))


def _grouped(begin: int, length: int) -> list[tuple[int, int]]:
    """Groups (first, last) of the places from ``begin`` on, wider at the beginning."""
    found, last, size = list[tuple[int, int]](), length - 1, 1
    while last >= begin:
        first = max(last - size + 1, begin)
        found.append((first, last))
        if len(found) >= _SINGLE:
            size *= 2
        last = first - 1
    return found
