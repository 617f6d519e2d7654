"""Peers on one grid in one run: how long each takes, and how far each is from the rigorous value.

Two questions about the Poisson-sampled Gaussian, adding or removing a sample. Renyi: the larger direction, S_up, at a
grid of (rate, noise, order); the rigorous value is an enclosure of relative radius below 1e-10. Epsilon at a delta: at
a grid of (rate, noise, steps, delta); the truth lies between `benchmarks.optimistic` and our certified bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.optimistic import epsilon_from_below
from benchmarks.peers import EPSILON, RENYI, Peer, absent, quiet
from lastiterate.numeric.accounting import dominating
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.divergences import s_up

__all__ = ["FAILURES", "Standing", "epsilons", "known_failures", "renyi", "standings"]

_RATES, _NOISES = (0.001, 0.01, 0.1, 0.4), (0.7, 1.0, 2.0, 12.0)
_ORDERS = (1.1, 1.5, 2.0, 3.7, 8.0, 16.0, 32.5, 59.3, 128.0)
_STEPS, _DELTAS = (100, 10_000), (1e-5,)
_LARGEST_EPSILON = 20.0
"""Runs that keep next to nothing private are left out: some peers take gigabytes for them."""
_ROUNDING = 1e-9
"""Relative distance below the rigorous value that is put down to rounding."""

FAILURES = ((0.1, 1.0, 1.1), (0.4, 12.0, 59.3), (1e-12, 1.0, 1.5))
"""Rate, noise and order where some accountant is known to stop early or to give up."""


@dataclass(frozen=True)
class Standing:
    """How one accountant did on one grid.

    Attributes:
        name: the accountant.
        seconds: time for the whole grid; None where it did not run.
        ours: our time for the same grid.
        above: greatest relative distance above the rigorous value; finite answers only.
        usual: the median of it.
        below: greatest relative distance below it, at least 0.
        too_small: number of answers below it by more than rounding.
        lost: number of answers that are infinite, not a number, or errors.
        count: number of questions.
        note: the worst answer that is too small, or why there is none at all.
    """

    name: str
    seconds: float | None
    ours: float
    above: float = 0.0
    usual: float = 0.0
    below: float = 0.0
    too_small: int = 0
    lost: int = 0
    count: int = 0
    note: str = ""


@dataclass(frozen=True)
class _Question:
    arguments: tuple[float, ...]
    low: float
    high: float

    def __str__(self) -> str:
        return ", ".join(f"{value:g}" for value in self.arguments)


def renyi() -> list[Standing]:
    """One step, at every order of the grid; ours is the upper end of the enclosure."""
    pairs = list(product(_RATES, _NOISES))
    questions = []
    for (q, noise), order in product(pairs, _ORDERS):
        truth = s_up(q, noise, alpha=order)
        questions.append(_Question((q, noise, order), truth.lower, truth.upper))

    def all_of(ask: Callable[..., Any]) -> list[float]:
        return [float(value) for q, noise in pairs for value in _each(ask, len(_ORDERS), q, noise, _ORDERS)]

    def ours(q: float, noise: float, orders: Sequence[float]) -> list[float]:
        return [s_up(q, noise, alpha=order).upper for order in orders]

    return _compared(RENYI, questions, all_of, ours)


def epsilons() -> list[Standing]:
    """Whole runs at a delta; ours is the certified bound through privacy-loss distributions."""
    known = {point: _certified(*point) for point in product(_RATES, _NOISES, _STEPS, _DELTAS)}
    grid = [point for point, epsilon in known.items() if epsilon <= _LARGEST_EPSILON]
    questions = [_Question(point, epsilon_from_below(*point), known[point]) for point in grid]

    def all_of(ask: Callable[..., Any]) -> list[float]:
        return [float(_each(ask, 1, *point)[0]) for point in grid]

    return _compared(EPSILON, questions, all_of, _certified)


def known_failures() -> list[tuple[str, str, str, str]]:
    """(setting, rigorous value, accountant, its answer) where an accountant is known to stop early or to give up."""
    rows = []
    for q, noise, order in FAILURES:
        truth = f"{s_up(q, noise, alpha=order).middle:.9g}"
        setting = f"q = {q:g}, noise {noise:g}, order {order:g}"
        rows.append((setting, truth, "ours", f"{s_up(q, noise, alpha=order).upper:.9g}"))
        for peer in RENYI:
            why = absent(peer)
            answer = why or f"{float(_each(peer.ask, 1, q, noise, [order])[0]):.9g}"
            rows.append((setting, truth, peer.name, answer))
    return rows


def standings(rows: Sequence[Standing]) -> str:
    """The table of one grid."""
    lines = [
        "| accountant | time, s | ours, s | ratio | above, median | most | below, most | too small | lost | remark |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        if row.seconds is None:
            lines.append(f"| {row.name} | | | | | | | | | {row.note} |")
        else:
            lines.append(
                f"| {row.name} | {row.seconds:.3g} | {row.ours:.3g} | {row.seconds / row.ours:,.2g} | {row.usual:.1e} "
                f"| {row.above:.1e} | {row.below:.1e} | {row.too_small} of {row.count} | {row.lost} | {row.note} |"
            )
    return "\n".join(lines)


def _certified(q: float, noise: float, steps: int, delta: float) -> float:
    dominating._epsilon.cache_clear()  # an answer that is kept is no measurement
    return DominatingPair(0.0, (SampledSteps(q, noise, "add_remove", steps),)).dp(delta)


def _compared(
    peers: Sequence[Peer],
    questions: Sequence[_Question],
    all_of: Callable[[Callable[..., Any]], list[float]],
    ours: Callable[..., Any],
) -> list[Standing]:
    seconds, answers = _timed(all_of, ours)
    rows = [_judged("ours", seconds, seconds, answers, questions)]
    for peer in peers:
        if why := absent(peer):
            rows.append(Standing(peer.name, None, seconds, note=why))
            continue
        with quiet():
            theirs, answers = _timed(all_of, peer.ask)
        rows.append(_judged(peer.name, theirs, seconds, answers, questions))
    return rows


def _timed(
    all_of: Callable[[Callable[..., Any]], list[float]], ask: Callable[..., Any]
) -> tuple[float, list[float]]:
    all_of(ask)  # imports and caches of constants are not what is measured
    start = perf_counter()
    answers = all_of(ask)
    return perf_counter() - start, answers


def _each(ask: Callable[..., Any], count: int, *arguments: Any) -> list[Any]:
    """The answers, or inf for each where the peer raises."""
    try:
        with quiet():
            found = ask(*arguments)
    except Exception:  # whatever a peer raises is a lost answer, and is counted
        return [inf] * count
    return list(found) if count > 1 or hasattr(found, "__len__") else [found]


def _judged(
    name: str, seconds: float, ours: float, answers: Sequence[float], questions: Sequence[_Question]
) -> Standing:
    finite = [(a, q) for a, q in zip(answers, questions, strict=True) if isfinite(a)]
    short = [(1 - a / q.low, a, q) for a, q in finite if a < q.low]
    worst = max(short, key=lambda one: one[0], default=None)
    small = [one for one in short if one[0] > _ROUNDING]
    over = [max(a / q.high - 1, 0.0) for a, q in finite]
    note, widths = "", [q.high / q.low - 1 for q in questions]
    if name == "ours":
        note = f"the rigorous value is known to {median(widths):.0e} in the median, {max(widths):.0e} at worst"
    if worst and small:
        note = f"at ({worst[2]}): {worst[1]:.6g}, truly at least {worst[2].low:.6g}"
    return Standing(
        name,
        seconds,
        ours,
        above=max(over, default=0.0),
        usual=median(over) if over else 0.0,
        below=worst[0] if worst else 0.0,
        too_small=len(small),
        lost=len(answers) - len(finite),
        count=len(answers),
        note=note,
    )
