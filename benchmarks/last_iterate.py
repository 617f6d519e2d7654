"""Whole trainings on one grid in one run: accountants of composition, our bound by shifts alone, and `bound`.

Poisson batches of convex losses on a domain; epsilon at a delta, and how long each takes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, nan
from statistics import median
from time import perf_counter
from typing import Final

import lastiterate as li
from benchmarks.peers import EPSILON, absent, quiet
from lastiterate.numeric.bound import bound_by_shifts

__all__ = ["WORDS", "Training", "measured", "table"]

_DELTA, _LOSSES = 1e-5, li.Convex(0.25)
_SIZES: Final = ((569, 64, 4.0), (4_000, 400, 8.0), (60_000, 64, 1.0), (60_000, 256, 1.0))
"""Samples, batch, and the noise over eta K / b; eta = K = 1."""
_DOMAINS, _EPOCHS = (0.3, 1.0, 3.0), (3, 30, 300)
WORDS: Final = (
    f"Epsilon at delta = {_DELTA:g} of Poisson batches, convex losses with eta L = 1/4, and D over eta at clip norm 1. "
    "*composition* is the least of the accountants that ran; *shifts* is `bound` as it was before contraction. All "
    "numbers are of one run, and the seconds are those of one question each."
)


@dataclass(frozen=True)
class Training:
    """A training and what accountants say of it.

    Attributes:
        words: samples, batch, noise, domain and epochs.
        composition: the least epsilon of the accountants of composition, and which of them said so.
        least: its name.
        shifts: by shifts alone.
        epsilon: by `bound`.
        seconds: of composition (that accountant), of shifts and of `bound`.
    """

    words: tuple[str, ...]
    composition: float
    least: str
    shifts: float
    epsilon: float
    seconds: tuple[float, float, float]

    @property
    def gain(self) -> float:
        """The least of the others over `bound`."""
        return min(self.composition, self.shifts) / self.epsilon if self.epsilon else inf


def measured(
    sizes: Sequence[tuple[int, int, float]] = _SIZES,
    domains: Sequence[float] = _DOMAINS,
    epochs: Sequence[int] = _EPOCHS,
) -> list[Training]:
    """Every training of the grid."""
    li.bound(_run(100, 10, 1.0, 1.0, 1), _LOSSES, delta=_DELTA)  # imports are no part of the times
    found = []
    for (n, batch, noise), rounds in product(sizes, epochs):
        composition, least, spent = _composed(n, batch, noise, rounds)
        for domain in domains:
            run = _run(n, batch, noise, domain, rounds)
            shifts, before = _timed(lambda run=run: bound_by_shifts(run, _LOSSES, delta=_DELTA).epsilon)
            ours, now = _timed(lambda run=run: li.bound(run, _LOSSES, delta=_DELTA).epsilon)
            words = (f"{n:,}", f"{batch:,}", f"{noise:g}", f"{domain:g}", str(rounds))
            found.append(Training(words, composition, least, shifts, ours, (spent, before, now)))
    return found


def _run(n: int, batch: int, noise: float, domain: float, epochs: int) -> li.NoisySGD:
    size = n - n % batch
    return li.NoisySGD(
        epochs * size // batch,
        1.0,
        noise / batch,
        1.0,
        size,
        batch_size=batch,
        sampling="poisson",
        diameter=domain,
    )


def _composed(n: int, batch: int, noise: float, epochs: int) -> tuple[float, str, float]:
    size = n - n % batch
    answers = []
    for peer in EPSILON:
        if absent(peer) or peer.name == "Opacus GDP":  # that one is an approximation and no bound
            continue
        with quiet():
            epsilon, seconds = _timed(
                lambda ask=peer.ask: ask(batch / size, noise, epochs * size // batch, _DELTA)
            )
        if isfinite(epsilon):
            answers.append((epsilon, peer.name, seconds))
    return min(answers, default=(inf, "none is installed", nan))


def _timed(question: Callable[[], float]) -> tuple[float, float]:
    start = perf_counter()
    try:
        answer = float(question())
    except (ArithmeticError, ValueError, RuntimeError):  # an accountant that gives up has no number
        answer = nan
    return answer, perf_counter() - start


_HEADS: Final = (
    *("samples", "batch", "noise", "D/eta", "epochs", "composition", "by", "shifts", "`bound`", "gain"),
    *("s", "s, shifts", "s, `bound`"),
)


def table(rows: Sequence[Training]) -> str:
    """The trainings as a table of Markdown, and what is gained in the median."""
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'--:|' * len(_HEADS)}"]
    for row in rows:
        numbers = [f"{one:.4g}" for one in (row.composition, row.shifts, row.epsilon)]
        cells = [*row.words, numbers[0], row.least, *numbers[1:], f"{row.gain:.3g}"]
        lines.append(f"| {' | '.join([*cells, *(f'{spent:.2g}' for spent in row.seconds)])} |")
    gains = median(row.gain for row in rows)
    return "\n".join([*lines, "", f"Median gain of `bound` over the least of the others: {gains:.3g} times."])
