"""Rows of the table of results, medians, and their rendering as Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TypeVar

__all__ = ["Limit", "Missing", "Row", "limits", "median_time", "ratios"]

Result = TypeVar("Result")


@dataclass(frozen=True)
class Row:
    """Two times in one run and the required ratio.

    Attributes:
        name: what is timed.
        baseline: what it is compared with.
        baseline_seconds: median time of the baseline.
        seconds: median time of ours.
        wanted_ratio: how many times faster ours should be, at least.
        note: the values that both return, where they can be compared.
    """

    name: str
    baseline: str
    baseline_seconds: float
    seconds: float
    wanted_ratio: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times faster than the baseline."""
        return self.baseline_seconds / self.seconds

    @property
    def met(self) -> bool:
        return self.ratio >= self.wanted_ratio


@dataclass(frozen=True)
class Missing:
    """A row that could not be measured here, and why.

    Attributes:
        name: what would be timed.
        baseline: what it would be compared with.
        wanted_ratio: how many times faster ours should be, at least.
        reason: why there are no times.
    """

    name: str
    baseline: str
    wanted_ratio: float
    reason: str


@dataclass(frozen=True)
class Limit:
    """One number that should stay below a limit; limit None where it is shown for information."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        return self.limit is None or self.value <= self.limit


def median_time(
    work: Callable[[], Result],
    *,
    repeats: int = 5,
    least: float = 0.01,
    wait: Callable[[], None] = lambda: None,
) -> tuple[float, Result]:
    """The median time of one call in seconds, over ``repeats`` batches of ``least`` seconds each; and its result.

    Args:
        work: what is timed.
        repeats: number of batches.
        least: seconds a batch lasts at least.
        wait: called after every call, until a device has finished.
    """
    result = work()
    wait()
    times = []
    for _ in range(repeats):
        calls, start = 0, perf_counter()
        while calls == 0 or perf_counter() - start < least:
            result = work()
            wait()
            calls += 1
        times.append((perf_counter() - start) / calls)
    return median(times), result


def ratios(rows: Sequence[Row | Missing]) -> str:
    """The table of speed-ups."""
    lines = [
        "| what | baseline | baseline, s | ours, s | ratio | wanted | met | values |",
        "|---|---|--:|--:|--:|--:|---|---|",
    ]
    return "\n".join([*lines, *(_line(row) for row in rows)])


def _line(row: Row | Missing) -> str:
    wanted = f">= {_short(row.wanted_ratio)}" if row.wanted_ratio else ""
    if isinstance(row, Missing):
        return f"| {row.name} | {row.baseline} |  |  |  | {wanted} |  | {row.reason} |"
    return (
        f"| {row.name} | {row.baseline} | {row.baseline_seconds:.3g} | {row.seconds:.3g} | {_short(row.ratio)} "
        f"| {wanted} | {_said(row.met) if row.wanted_ratio else ''} | {row.note} |"
    )


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def limits(rows: Sequence[Limit]) -> str:
    """The table of numbers with a limit."""
    lines = ["| what | value | limit | met | remark |", "|---|--:|--:|---|---|"]
    lines += [
        f"| {row.name} | {row.value:.3g} {row.unit} | {'' if row.limit is None else f'<= {row.limit:g} {row.unit}'} "
        f"| {'' if row.limit is None else _said(row.met)} | {row.note} |"
        for row in rows
    ]
    return "\n".join(lines)


def _said(met: bool) -> str:
    return "yes" if met else "**no**"
