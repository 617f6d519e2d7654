"""Reports as a table for people and as JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table

from lastiterate.proofs_checks.verdict import STANDS, ClaimReport, Verdict, tally, with_noun

_COLOUR = {
    Verdict.PROVED: "green",
    Verdict.SUPPORTED: "blue",
    Verdict.CITED: "bright_blue",
    Verdict.REFUTED: "red",
    Verdict.GAP: "yellow",
    Verdict.TYPO: "cyan",
    Verdict.UNDECIDED: "magenta",
}


def summary(reports: Sequence[ClaimReport]) -> str:
    """Counts of claims by verdict, and of rejected mutants and near misses.

    >>> summary(())
    '0 claims: 0 PROVED, 0 SUPPORTED, 0 CITED, 0 REFUTED, 0 GAP, 0 TYPO, 0 UNDECIDED; 0 of 0 mutants rejected'
    """
    counts = Counter(report.verdict for report in reports)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    return f"{with_noun(len(reports), 'claim')}: {verdicts}; {tally(*reports)}"


def table(reports: Sequence[ClaimReport]) -> Table:
    """Table with a row per claim."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    longest = max((len(report.key) for report in reports), default=0)
    for name, width in (("claim", longest), ("verdict", 9), ("grade", 11)):
        grid.add_column(name, no_wrap=True, min_width=width)
    grid.add_column("engines")
    grid.add_column("rejected", justify="right", no_wrap=True, min_width=8)
    grid.add_column("time", justify="right", no_wrap=True, min_width=6)
    for report in reports:
        engines = dict.fromkeys(str(outcome.engine) for outcome in report.outcomes)
        grid.add_row(
            report.key,
            f"[{_COLOUR[report.verdict]}]{report.verdict}[/]",
            report.grade.value if report.grade else "-",
            ", ".join(engines),
            f"{sum(wrong.rejected for wrong in report.tried)}/{len(report.tried)}",
            f"{report.seconds:.1f} s",
        )
    return grid


def limits(reports: Sequence[ClaimReport]) -> Iterator[str]:
    """Line for each claim that holds only in a scope, or relies on results that are not shown here."""
    for report in reports:
        parts = [f"scope: {report.scope}"] if report.scope else []
        parts += [f"rests on: {', '.join(report.rests_on)}"] if report.rests_on else []
        if parts and report.verdict in (*STANDS, Verdict.TYPO):
            yield f"{report.key} is {report.verdict}; {'; '.join(parts)}"


def as_json(reports: Sequence[ClaimReport], drifts: Sequence[str]) -> str:
    """Reports, drifts and summary as JSON."""
    data = {
        "claims": [{**report.to_json(), "rejected": report.rejected} for report in reports],
        "drifts": list(drifts),
        "summary": summary(reports),
    }
    return json.dumps(data, indent=1, ensure_ascii=False)
