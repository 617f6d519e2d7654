"""Reports for three readers: a table for people, JSON for programs, JUnit for continuous integration."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from rich.table import Table

from lastiterate.proofs_checks.verdict import STANDS, ClaimReport, Verdict, tally, with_noun

_COLOUR = {
    Verdict.PROVED: "green",
    Verdict.SUPPORTED: "blue",
    Verdict.CITED: "bright_blue",
    Verdict.TESTED: "white",
    Verdict.REFUTED: "red",
    Verdict.GAP: "yellow",
    Verdict.TYPO: "cyan",
    Verdict.UNDECIDED: "magenta",
}


def summary(reports: Sequence[ClaimReport]) -> str:
    """One line that counts claims by verdict, and mutants and near misses rejected.

    >>> summary(())
    '0 claims: 0 PROVED, 0 SUPPORTED, 0 CITED, 0 TESTED, 0 REFUTED, 0 GAP, 0 TYPO, 0 UNDECIDED; 0 of 0 mutants rejected'
    """
    counts = Counter(report.verdict for report in reports)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    return f"{with_noun(len(reports), 'claim')}: {verdicts}; {tally(*reports)}"


def table(reports: Sequence[ClaimReport]) -> Table:
    """One row a claim: verdict, grade, engines, mutants and near misses rejected, seconds."""
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
    """A line for each claim that stands within a scope, or on what is not shown here."""
    for report in reports:
        beside = [f"scope: {report.scope}"] if report.scope else []
        beside += [f"rests on: {', '.join(report.rests_on)}"] if report.rests_on else []
        if beside and report.verdict in (*STANDS, Verdict.TYPO):
            yield f"{report.key} is {report.verdict}; {'; '.join(beside)}"


def as_json(reports: Sequence[ClaimReport], drifts: Sequence[str]) -> str:
    """Every report with its evidence, the drifts, and the summary."""
    data = {
        "claims": [{**report.to_json(), "rejected": report.rejected} for report in reports],
        "drifts": list(drifts),
        "summary": summary(reports),
    }
    return json.dumps(data, indent=1, ensure_ascii=False)


def as_junit(reports: Sequence[ClaimReport], drifts: Sequence[str], places: Mapping[str, str] | None = None) -> str:
    """A test case for each claim, failed where one of the drifts speaks of it, and one for missing claims.

    ``places`` says in which file and line, as ``file:line``, a claim is written.
    """
    known = {report.key for report in reports}
    rest = [drift for drift in drifts if drift.split(" ")[0] not in known]
    suite = ET.Element("testsuite", name="lastiterate check", tests=str(len(reports) + bool(rest)))
    failures = 0
    for report in reports:
        paper, _, name = report.key.partition("/")
        case = ET.SubElement(suite, "testcase", classname=paper, name=name, time=f"{report.seconds:.3f}")
        file, _, line = (places or {}).get(report.key, "").rpartition(":")
        if file:
            case.attrib.update(file=file, line=line)
        own = [drift for drift in drifts if drift.split(" ")[0] == report.key]
        if own:
            failures += 1
            ET.SubElement(case, "failure", message=own[0]).text = "\n".join(own)
        ET.SubElement(case, "system-out").text = f"{report.verdict} ({report.grade or 'no grade'})"
    if rest:
        failures += 1
        case = ET.SubElement(suite, "testcase", classname="lock", name="missing claims")
        ET.SubElement(case, "failure", message=rest[0]).text = "\n".join(rest)
    suite.set("failures", str(failures))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode")
