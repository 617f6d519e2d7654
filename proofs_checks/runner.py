"""Decide many claims: in parallel, from the cache where it knows them, and resumable.

Every report is kept as soon as it is there, so an interrupted run goes on where it stopped. One with an error is not
kept: want of time or memory passes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from joblib import Parallel, delayed

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim


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
