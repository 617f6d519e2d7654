"""Decide many claims: in parallel, from the cache where it knows them, and resumable.

Every report is kept as soon as it is there, so an interrupted run goes on where it stopped. One with an error is not
kept: want of time or memory passes.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from joblib import cpu_count

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim


def _decide_and_keep(claim: Claim, cache: ReportCache | None) -> ClaimReport:
    report = decide(claim)
    if cache is not None and not report.errs:
        cache.write(claim, report)
    return report


_undecided: Sequence[Claim] = ()
"""In a worker, the claims and, below, where reports are kept."""

_kept: ReportCache | None = None


def _begin(claims: Sequence[Claim], cache: ReportCache | None, parent: int) -> None:
    """Begin a worker: Ctrl-C is for the process that started it, without which it ends."""
    global _undecided, _kept
    _undecided, _kept = claims, cache
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a worker has one core
    gc.freeze()  # what was made before the fork is not looked through again
    gc.set_threshold(100_000, 20, 50)  # expressions are many and hardly ever in circles: a tenth of the time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _decide_and_keep_these(places: Sequence[int]) -> list[ClaimReport]:
    return [_decide_and_keep(_undecided[place], _kept) for place in places]


def _together(claims: Sequence[Claim]) -> list[list[int]]:
    """Places of the claims by theorem, the most first: they share lemmas and attacks, which a worker looks up."""
    theorems: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        theorems.setdefault("/".join(claim.key.split("/")[:2]), []).append(place)
    return sorted(theorems.values(), key=len, reverse=True)


def _open(claims: Sequence[Claim], jobs: int, cache: ReportCache | None) -> Iterator[ClaimReport]:
    """The reports of undecided claims, as they come."""
    jobs = min(len(claims), cpu_count() if jobs < 0 else jobs)
    if jobs <= 1:
        yield from (_decide_and_keep(claim, cache) for claim in claims)
        return
    # A fork has the claims and the libraries: to build and import them again takes seconds of each worker.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(claims, cache, os.getpid()))
    try:
        for done in as_completed([pool.submit(_decide_and_keep_these, places) for places in _together(claims)]):
            yield from done.result()
        pool.shutdown()
    except BaseException:
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        raise


def run(
    claims: Iterable[Claim],
    *,
    jobs: int = -1,
    cache: ReportCache | None = None,
    on_claim: Callable[[int, int], None] = lambda _done, _claims: None,
) -> tuple[ClaimReport, ...]:
    """Decide the claims.

    Args:
        claims: what to decide.
        jobs: number of worker processes; -1 for one a core.
        cache: where reports are kept and looked up; None decides everything afresh.
        on_claim: called with (decided, all) claims.

    Returns:
        One report for each claim, in the order of the claims.
    """
    wanted = tuple(claims)
    kept = ((claim.key, cache.read(claim)) for claim in wanted) if cache is not None else ()
    reports = {key: report for key, report in kept if report is not None}
    on_claim(len(reports), len(wanted))
    for report in _open([claim for claim in wanted if claim.key not in reports], jobs, cache):
        reports[report.key] = report
        on_claim(len(reports), len(wanted))
    return tuple(reports[claim.key] for claim in wanted)
