"""Decide many claims: in parallel, from the cache where it knows them, and resumable.

Every report is kept as soon as it is there, so an interrupted run goes on where it stopped. One with an error is not
kept: want of time or memory passes.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim

__all__ = ["run"]


def _decide_and_keep(claim: Claim, cache: ReportCache | None) -> ClaimReport:
    report = decide(claim)
    if cache is not None and not report.errs:
        cache.write(claim, report)
    return report


def _open(claims: Sequence[Claim], jobs: int, cache: ReportCache | None) -> Iterator[ClaimReport]:
    """The reports of undecided claims, as they come."""
    if jobs == 1 or len(claims) <= 1:
        yield from (_decide_and_keep(claim, cache) for claim in claims)
        return
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
    yield from pool(delayed(_decide_and_keep)(claim, cache) for claim in claims)


def run(
    claims: Iterable[Claim], *, jobs: int = -1, cache: ReportCache | None = None, progress: bool = False
) -> tuple[ClaimReport, ...]:
    """Decide the claims.

    Args:
        claims: what to decide.
        jobs: number of worker processes; -1 for one a core.
        cache: where reports are kept and looked up; None decides everything afresh.
        progress: draw a progress bar on stderr, if that is a terminal.

    Returns:
        One report for each claim, in the order of the claims.
    """
    wanted = tuple(claims)
    reports: dict[str, ClaimReport] = {}
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not (progress and sys.stderr.isatty()),
    ) as bar:
        task = bar.add_task("deciding claims", total=len(wanted))
        for claim in wanted:
            kept = cache.read(claim) if cache is not None else None
            if kept is not None:
                reports[claim.key] = kept
                bar.advance(task)
        rest = [claim for claim in wanted if claim.key not in reports]
        for report in _open(rest, jobs, cache):
            reports[report.key] = report
            bar.advance(task)
    return tuple(reports[claim.key] for claim in wanted)
