"""Counts: the report and the site count the claims alike; the README is held against them in its own test."""

import importlib.util
from pathlib import Path

from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.report.pages import Entry, by_paper
from lastiterate.proofs_checks.selection import OURS, counted, owner, paper_title
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Role

CLAIMS = ledger.claims()
VERDICTS = {key: entry.verdict for key, entry in read_lock().items()}
COUNTS = counted((claim, VERDICTS[claim.key]) for claim in CLAIMS)
SITE = Path(__file__).parents[2] / "docs" / "generate" / "verdicts.py"


def test_ours_are_apart() -> None:
    assert list(COUNTS)[-1] == OURS
    assert sum(COUNTS[OURS].values()) == sum(claim.role is Role.OURS for claim in CLAIMS)
    beside = next(claim for claim in CLAIMS if claim.role is Role.OURS and claim.key.startswith("chien_li/"))
    assert owner(beside) == OURS


def test_the_report_counts_them() -> None:
    def report(key: str) -> ClaimReport:
        return ClaimReport(key, VERDICTS[key], None, (), None, (), (), "", 0.0)

    rows = by_paper([Entry(claim, report(claim.key), ()) for claim in CLAIMS])
    assert {row.paper: {v: n for v, n in row.verdicts.items() if n} for row in rows} == COUNTS


def test_the_site_counts_them() -> None:
    spec = importlib.util.spec_from_file_location("verdicts", SITE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = [line for line in module.counts_table().splitlines() if line.startswith("| ")]
    head = next(line for line in lines if line.count("|") > 5).split("|")[2:-1]
    for paper, own in COUNTS.items():
        row = next(line for line in lines if line.startswith(f"| {paper_title(paper)} |")).split("|")[2:-1]
        assert {Verdict(v.strip()): int(n) for v, n in zip(head, row, strict=True) if int(n)} == own
