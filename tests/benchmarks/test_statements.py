"""The statements for graders: the committed files agree with the ledger and the lock file."""

import csv
import json

from benchmarks.statements.__main__ import FIELDS, HERE, LABELS, rows
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger

FOUND = json.loads((HERE / "statements.json").read_text())


def test_every_decided_claim_has_its_label() -> None:
    verdicts = read_lock()
    decided = {
        claim.key: LABELS[Verdict(verdicts[claim.key].verdict)]
        for claim in ledger.claims()
        if verdicts[claim.key].verdict in LABELS
    }
    assert {row["id"]: row["label"] for row in FOUND if not row["variant_of"]} == decided
    assert {row["label"] for row in FOUND if row["variant_of"]} == {"fails"}
    assert {row["variant_of"] for row in FOUND} - {""} <= {
        key for key, label in decided.items() if label == "holds"
    }


def test_both_files_hold_the_same_rows() -> None:
    with (HERE / "statements.csv").open(newline="") as file:
        table = [{**row, "letters": json.loads(row["letters"])} for row in csv.DictReader(file)]
    assert table == FOUND
    assert list(FOUND[0]) == list(FIELDS)


def test_some_rows_are_written_again() -> None:
    some = ledger.claims()[::60]
    keys = {claim.key for claim in some}
    written = [row for row in FOUND if (row["variant_of"] or row["id"]) in keys]
    assert written
    assert list(rows(some)) == written
