"""Contraction with shuffled batches: the place of the sample in an epoch is drawn afresh, alike in both runs.

Given its place an epoch is a chain of clean blocks, one block that ends with the sample, and clean blocks; what holds
after the epoch is the mean over places, which do not depend on what was before. Where all steps are equal places next
to each other are taken together, with the fewest clean steps that any of them has before and after.

Source: docs/proofs/contraction.md (claim ours/contraction/shuffled).
"""

from dataclasses import replace
from itertools import pairwise

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.candidate import Contracted
from lastiterate.numeric.contraction.chain import Goal, Mean, Prices, Repeated, chained
from lastiterate.numeric.contraction.fixed_batches import CLEAN, window_prices
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD

_SINGLE = 6
"""Places at both ends of an epoch that are not taken together."""
_MOST_CLEAN = 24
"""Clean blocks in a row that are counted: after them hardly anything of the past is left."""
_LAST, _MOST_PLACES = 6, 16
"""Epochs at the end of a run with schedules that are looked at; most places, each of them by itself."""


def contracted_shuffled(run: NoisySGD, assumption: Assumption, goal: Goal, other: Candidate) -> list[Candidate]:
    """The candidate by contraction, or none."""
    every, epochs = run.batches, run.steps // run.batches
    if not run.constant and every > _MOST_PLACES:
        return []
    known = replace(run, sampling="cyclic")
    rest = [_epoch(known, assumption, epochs * every, run.steps - epochs * every)] if run.steps % every else []
    if run.constant:
        table, done = Repeated([_epoch(known, assumption, 0, every)], epochs, goal, rest).settled()
    else:
        done = min(epochs, _LAST)
        stretches = [_epoch(known, assumption, (epochs - k) * every, every) for k in range(done, 0, -1)]
        table = chained([*stretches, *rest], goal, from_equal=done == epochs)
    window = (run.steps - run.steps % every - done * every, run.steps)
    return [Contracted.of(table, "ours/contraction/shuffled", window, other)]


def _epoch(run: NoisySGD, assumption: Assumption, start: int, length: int) -> Mean:
    """An epoch, or its first steps, that begins with step ``start``."""
    kinds, places = list[tuple[float, tuple[Prices, ...]]](), run.batches
    for first, last in _grouped(length) if run.constant else zip(range(length), range(length), strict=True):
        blocks, met, width = list[Prices](), start + first, _width(run, start)
        joined = first % width  # clean steps in one block with the sample
        blocks += _clean(run, assumption, met - joined, [width] * min(first // width, _MOST_CLEAN))
        blocks.append(window_prices(run, assumption, met, met - joined, joined + 1))
        after = length - 1 - last  # the fewest clean steps after it, as before it
        lengths = [width] * min(after // width, _MOST_CLEAN) + [after % width] * (after % width > 0)
        blocks += _clean(run, assumption, start + length, lengths)
        kinds.append(((last - first + 1) / places, tuple(blocks)))
    if length < places:
        kinds.append(((places - length) / places, tuple(_clean(run, assumption, start + length, [length]))))
    return Mean(tuple(kinds))


def _width(run: NoisySGD, t: int) -> int:
    return max(round((run.diameter / run.noise_std_at(t) / CLEAN) ** 2), 1)


def _clean(run: NoisySGD, assumption: Assumption, end: int, lengths: list[int]) -> list[Prices]:
    """Blocks of steps that are the same in both runs, the last of which ends before step ``end``."""
    starts = [end - sum(lengths[k:]) for k in range(len(lengths))]
    return [window_prices(run, assumption, a + k, a, k) for a, k in zip(starts, lengths, strict=True)]


def _grouped(length: int) -> list[tuple[int, int]]:
    """Places 0 to length - 1 of an epoch in groups (first, last), wider in the middle."""
    ends, step, place = [0], 1, 0
    while place < length / 2:
        place += step
        ends.append(min(place, length))
        step = 1 if place < _SINGLE else max(place // 2, 1)
    cuts = sorted({*ends, *(length - end for end in ends)} & set(range(length + 1)))
    return [(first, last - 1) for first, last in pairwise(cuts)]
