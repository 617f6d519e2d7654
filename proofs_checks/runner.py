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
from contextlib import suppress
from ctypes import CDLL
from dataclasses import dataclass
from typing import Any, Generic

from joblib import cpu_count

from lastiterate.proofs_checks.cache import AnswerCache, Kept
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim


@dataclass(frozen=True)
class _Task(Generic[Kept]):
    """A question about many claims, and where its answers are kept."""

    claims: Sequence[Claim]
    find: Callable[[Claim], Kept]
    cache: AnswerCache[Kept] | None

    def done(self, claim: Claim) -> Kept:
        answer = self.find(claim)
        if self.cache is not None and not answer.errs:
            self.cache.write(claim, answer)
        return answer


_task: _Task[Any]
"""In a worker."""

_KEEP_FREED = (-1, -3)
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc: what z3 frees and takes again thousands of times stays ours, else the
system clears its pages each time."""


def _begin(task: _Task[Any], parent: int) -> None:
    """Begin a worker: Ctrl-C is for the process that started it, without which it ends."""
    global _task
    _task = task
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a worker has one core
    gc.freeze()  # what was made before the fork is not looked through again
    gc.set_threshold(100_000, 20, 50)  # expressions are many and hardly ever in circles: a tenth of the time
    with suppress(OSError, AttributeError, TypeError):  # of another system
        for option in _KEEP_FREED:
            CDLL(None).mallopt(option, 2**25)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _done(places: Sequence[int]) -> list[Any]:
    return [_task.done(_task.claims[place]) for place in places]


def _together(claims: Sequence[Claim]) -> list[list[int]]:
    """Places of the claims by theorem, most checks first: they share lemmas and attacks, which a worker looks up."""
    theorems: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        theorems.setdefault("/".join(claim.key.split("/")[:2]), []).append(place)
    return sorted(theorems.values(), key=lambda places: sum(len(claims[p].checks) for p in places), reverse=True)


def _open(task: _Task[Kept], jobs: int) -> Iterator[Kept]:
    """The answers as they come."""
    jobs = min(len(task.claims), cpu_count() if jobs < 0 else jobs)
    if jobs <= 1:
        yield from map(task.done, task.claims)
        return
    # A fork has the claims and the libraries: to build and import them again takes seconds of each worker.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(task, os.getpid()))
    try:
        for done in as_completed([pool.submit(_done, places) for places in _together(task.claims)]):
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
    cache: AnswerCache[ClaimReport] | None = None,
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
    return find_all(decide, claims, jobs=jobs, cache=cache, on_claim=on_claim)


def find_all(
    find: Callable[[Claim], Kept],
    claims: Iterable[Claim],
    *,
    jobs: int,
    cache: AnswerCache[Kept] | None,
    on_claim: Callable[[int, int], None],
) -> tuple[Kept, ...]:
    """The answers of a function of some module about each claim; other arguments as of `run`."""
    wanted = tuple(claims)
    kept = ((claim.key, cache.read(claim)) for claim in wanted) if cache is not None else ()
    answers = {key: answer for key, answer in kept if answer is not None}
    on_claim(len(answers), len(wanted))
    rest = [claim for claim in wanted if claim.key not in answers]
    for answer in _open(_Task(rest, find, cache), jobs):
        answers[answer.key] = answer
        on_claim(len(answers), len(wanted))
    return tuple(answers[claim.key] for claim in wanted)
