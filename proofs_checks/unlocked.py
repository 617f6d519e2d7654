"""Claims without a lock file: each has to hold, and every mutant and near miss to be rejected."""

from lastiterate.proofs_checks.lock import why
from lastiterate.proofs_checks.verdict import STANDS, ClaimReport


def failures(report: ClaimReport) -> tuple[str, ...]:
    """One sentence for each way in which a claim does not stand; of one that does not hold its mutants say nothing."""
    if report.verdict not in STANDS:
        return (f"{report.key} is {report.verdict}{f': {report.left_open}' if report.left_open else ''}.",)
    tried = (("mutant", report.mutants), ("near miss", report.near_misses))
    return tuple(
        f"{report.key} does not reject the {kind} '{wrong.check}': {why(wrong)}."
        for kind, outcomes in tried
        for wrong in outcomes
        if not wrong.rejected
    )
