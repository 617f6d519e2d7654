"""Decision of many claims: parallel, cached and resumable.

Every report is stored at once, unless it has an error, because a lack of time or memory may be temporary. A
check that exceeds its time is given up, if necessary by ending its process; other results are kept.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import CDLL
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, NamedTuple

from joblib import cpu_count

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines.time_limit import SECONDS, allowing, too_late, watched
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim


class _Task(NamedTuple):
    claims: Sequence[Claim]
    cache: ReportCache | None
    seconds: float

    def decide(self, place: int) -> ClaimReport:
        with allowing(self.seconds):
            report = decide(self.claims[place])
        if self.cache is not None and not report.errs:
            self.cache.write(self.claims[place], report)
        return report


_KEEP_FREED = (-1, -3)
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc, to keep memory that z3 often frees and takes again."""


def _work(task: _Task, connection: Connection, step: Any, parent: int) -> None:
    """Decide claims in a process that ignores Ctrl-C and ends with its parent."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a worker has one core
    gc.freeze()  # objects from before the fork are not scanned again
    gc.set_threshold(100_000, 20, 50)  # expressions are many and rarely cyclic; this takes a tenth of the time
    with suppress(OSError, AttributeError, TypeError):  # on another system
        for option in _KEEP_FREED:
            CDLL(None).mallopt(option, 2**25)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while True:
        place, given_up = connection.recv()
        answer: ClaimReport | Exception
        try:
            with watched(partial(setattr, step, "value"), given_up):
                answer = task.decide(place)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        connection.send(answer)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class _Worker:
    """Process that decides claims theorem by theorem, and the time of its current step."""

    def __init__(self, task: _Task, context: Any) -> None:
        self.connection, there = context.Pipe()
        self._step = context.RawValue("q")  # a message for each of thousands of steps would wake this process
        self.process = context.Process(target=_work, args=(task, there, self._step, os.getpid()), daemon=True)
        self.process.start()
        there.close()
        self.places: list[int] = []
        self.paper = ""
        self._seen = -1
        self._looked = self._idle = self._before = 0.0

    def ask(self, given_up: Mapping[int, str]) -> None:
        self._step.value, self._seen = 0, -1
        self.connection.send((self.places[0], given_up))

    @property
    def step(self) -> int:
        return int(self._step.value)

    def took(self) -> float:
        """Seconds that the step, since it was first seen, has computed or waited, except for the processor."""
        now, (spent, waits) = time.monotonic(), self._spent()
        if self._seen != (step := self.step):
            self._seen, self._looked, self._idle, self._before = step, now, 0.0, spent
        self._idle += (now - self._looked) * waits
        self._looked = now
        return spent - self._before + self._idle

    def _spent(self) -> tuple[float, bool]:
        """Processor time, and whether the process waits; (0, True) if the system does not report it."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in "SD"
        except (OSError, ValueError, IndexError):
            return 0.0, True

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


_POLL: Final = 0.5
"""Longest time in seconds between two checks of the workers."""


def _together(claims: Sequence[Claim]) -> list[list[int]]:
    """Indices of claims by theorem, most checks first; claims of a theorem share lemmas and attacks."""
    theorems: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        theorems.setdefault("/".join(claim.key.split("/")[:2]), []).append(place)
    return sorted(
        theorems.values(), key=lambda places: sum(len(claims[p].checks) for p in places), reverse=True
    )


def _paper(claims: Sequence[Claim], places: Sequence[int]) -> str:
    return claims[places[0]].key.partition("/")[0]


def _reports(task: _Task, jobs: int) -> Iterator[ClaimReport]:
    jobs = min(len(task.claims), cpu_count() if jobs < 0 else jobs)
    forks = sys.platform == "linux"
    if not task.claims or multiprocessing.current_process().daemon or (jobs <= 1 and not forks):
        yield from map(task.decide, range(len(task.claims)))
        return
    # A fork has the claims and the libraries; building and importing them again takes each worker seconds.
    context = multiprocessing.get_context("fork" if forks else "spawn")
    groups, given_up = _together(task.claims)[::-1], dict[int, dict[int, str]]()
    workers: list[_Worker] = []
    paper_of = partial(_paper, task.claims)

    def go_on(worker: _Worker) -> None:
        if not worker.places and groups:
            # Theorems of one paper share derivations, attacks and side conditions, so a worker keeps to its paper.
            others = {paper_of(one.places) for one in workers if one.places}
            by = [2 * (paper_of(one) == worker.paper) - (paper_of(one) in others) for one in groups]
            worker.places = groups.pop(max(range(len(groups)), key=lambda i: (by[i], i)))
            worker.paper = paper_of(worker.places)
        if worker.places:
            worker.ask(given_up.get(worker.places[0], {}))
        else:
            workers.remove(worker)
            worker.end()

    def give_up(worker: _Worker, why: str) -> None:
        """End a worker; another worker continues without the current step."""
        known = given_up.setdefault(worker.places[0], {})
        known[0 if worker.step in known else worker.step] = why
        groups.append(worker.places)
        workers.remove(worker)
        worker.end()

    try:
        while groups or workers:
            while groups and len(workers) < jobs:
                workers.append(_Worker(task, context))
                go_on(workers[-1])
            ready = wait([worker.connection for worker in workers], min(_POLL, task.seconds))
            for worker in [worker for worker in workers if worker.connection in ready]:
                try:
                    message = worker.connection.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    give_up(
                        worker, f"the process that decided it ended with exit code {worker.process.exitcode}"
                    )
                    continue
                if isinstance(message, BaseException):
                    raise message
                yield message
                del worker.places[0]
                go_on(worker)
            for worker in [*workers]:
                if worker.took() > task.seconds + min(_GRACE, task.seconds):
                    give_up(worker, too_late(task.seconds))
    finally:
        for worker in workers:
            worker.end()


_GRACE: Final = 5.0
"""Seconds past the limit after which the process of a check is killed."""


def run(
    claims: Iterable[Claim],
    *,
    jobs: int = -1,
    cache: ReportCache | None = None,
    on_claim: Callable[[int, int], None] = lambda _done, _claims: None,
    seconds: float = SECONDS,
) -> tuple[ClaimReport, ...]:
    """Decide claims; returns their reports in order.

    A check, a mutant or a near miss that computes for more than ``seconds`` has no answer. ``on_claim`` is
    called with the numbers of decided and of all claims. Without a cache, all claims are decided again.
    """
    wanted = tuple(claims)
    kept = {
        claim.key: report for claim in wanted if cache is not None and (report := cache.read(claim)) is not None
    }
    rest = [claim for claim in wanted if claim.key not in kept]
    on_claim(len(kept), len(wanted))
    for report in _reports(_Task(rest, cache, seconds), jobs):
        kept[report.key] = report
        on_claim(len(kept), len(wanted))
    return tuple(kept[claim.key] for claim in wanted)
