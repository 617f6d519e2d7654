"""The ledger as Markdown: what a repository's own pages can show."""

from collections.abc import Iterator, Sequence

from lastiterate.proofs_checks.pages.entries import Entry, by_paper
from lastiterate.proofs_checks.recompute import refuted
from lastiterate.proofs_checks.report import summary
from lastiterate.proofs_checks.verdict import Verdict

__all__ = ["as_markdown"]

_ACTIVE = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"})


def as_markdown(shown: Sequence[Entry]) -> str:
    """Counts by paper, then each claim in a line, with remark and counterexample where it does not hold."""
    lines = ["# Every claim and its verdict", "", f"{summary([entry.report for entry in shown])}.", ""]
    papers = by_paper(shown)
    lines += [f"| paper | {' | '.join(Verdict)} | mutants rejected |", f"|---|{'---:|' * (len(Verdict) + 1)}"]
    for count in papers:
        numbers = " | ".join(str(count.verdicts[verdict]) for verdict in Verdict)
        lines.append(f"| {_text(count.title)} | {numbers} | {count.rejected}/{count.mutants} |")
    for count in papers:
        lines += ["", f"## {_text(count.title)}", ""]
        for entry in shown:
            if entry.paper == count.paper:
                lines += _claim(entry)
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    """Words in which nothing is taken for markup."""
    return " ".join(words.split()).translate(_ACTIVE)


def _claim(entry: Entry) -> Iterator[str]:
    claim, report = entry.claim, entry.report
    grade = f" ({report.grade})" if report.grade else ""
    where = _text(str(claim.source))
    rejected = f"{report.rejected}/{len(report.mutants)} mutants"
    yield f"- **{report.verdict}**{grade} `{claim.key}`: {_text(claim.title)}. {where}; {rejected}."
    if claim.remark:
        yield f"  {_text(claim.remark)}"
    for check, _, found in refuted(claim, report):
        at = ", ".join(f"{name} = {value}" for name, value in found.at.items())
        point = f" at {at}" if at else ""
        sentence = f"Counterexample to {check.name}{point}: {found.left} {found.relation} {found.right} fails."
        yield f"  {_text(sentence)}"
    if entry.repaired_by:
        yield f"  Repaired by {', '.join(f'`{key}`' for key in entry.repaired_by)}."
