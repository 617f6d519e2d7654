"""Statements of the ledger with their verdicts, and wrong variants of those that hold, as JSON and CSV.

    python -m benchmarks.statements

Rewrites ``statements.json`` and ``statements.csv`` beside this file; README.md there explains the fields. The verdicts
are those of the lock file. Near misses are included only of claims all of whose near misses were refuted as they are,
without a wider margin.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from lastiterate.proofs_checks.decide import near_misses
from lastiterate.proofs_checks.describe import described_range, symbols
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.statement import in_a_line, one_line, quantified
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.claim import Claim, derived

HERE: Final = Path(__file__).parent
FIELDS: Final = ("id", "kind", "label", "statement", "letters", "source", "arxiv", "variant_of", "why")
LABELS: Final = {
    Verdict.PROVED: "holds",
    Verdict.TYPO: "holds",
    Verdict.REFUTED: "fails",
    Verdict.GAP: "fails",
}
"""Labels by verdict; other verdicts do not decide, and are left out."""
_PLANTED: Final = 1
"""Largest number of near misses of a check that are included."""


def rows(claims: Iterable[Claim]) -> Iterator[dict[str, Any]]:
    """Every decided statement, its misprint, and its variants."""
    verdicts = read_lock()
    for claim in claims:
        verdict = Verdict(verdicts[claim.key].verdict)
        if verdict not in LABELS:
            continue
        yield _row(claim, claim.key, claim.role.value, LABELS[verdict], in_a_line(claim), claim.remark)
        if claim.misprint is not None:
            yield _row(
                claim, f"{claim.key}#printed", "misprint", "fails", _said(claim.misprint, claim), "", claim.key
            )
        if verdict in (Verdict.PROVED, Verdict.TYPO):
            for place, (kind, wrong) in enumerate(_variants(claim, verdicts[claim.key].near_misses), 1):
                yield _row(
                    claim, f"{claim.key}#{place}", kind, "fails", _said(wrong, claim), wrong.name, claim.key
                )


def _variants(claim: Claim, close: int) -> Iterator[tuple[str, Check]]:
    seen = {_said(check, claim) for check in claim.checks}
    misses = [near_misses(check, claim.assumptions) for check in claim.checks]
    included = _PLANTED if sum(map(len, misses)) == close else 0
    for check, wrongs in zip(claim.checks, misses, strict=True):
        planted = [("mutant", mutant) for mutant in check.mutants]
        near = [("near miss", wrong) for wrong in wrongs[:included]]
        for kind, wrong in (*planted, *near):
            if (text := _said(wrong, claim)) and text not in seen:
                seen.add(text)
                yield kind, wrong


def _said(check: Check, claim: Claim) -> str:
    return one_line(quantified(derived((check,), claim.assumptions)))


def _row(
    claim: Claim, name: str, kind: str, label: str, statement: str, why: str, variant_of: str = ""
) -> dict[str, Any]:
    written = set(re.findall(r"[\w']+", statement))
    letters = {
        str(symbol): "; ".join(filter(None, dict.fromkeys((meaning, described_range(symbol)))))
        for symbol, meaning, _ in symbols(claim)
        if str(symbol) in written
    }
    source = claim.source
    values = (
        name,
        kind,
        label,
        statement,
        letters,
        str(source),
        getattr(source.work, "arxiv", ""),
        variant_of,
        why,
    )
    return dict(zip(FIELDS, values, strict=True))


def write(found: Sequence[dict[str, Any]], folder: Path) -> None:
    """Both files; in the CSV file the letters are JSON."""
    (folder / "statements.json").write_text(
        "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in found) + "\n]\n"
    )
    with (folder / "statements.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows({**row, "letters": json.dumps(row["letters"], ensure_ascii=False)} for row in found)


if __name__ == "__main__":
    write(list(rows(ledger.claims())), HERE)
