"""The README: its examples run, and the claims it names are in the ledger with the verdicts it speaks of."""

import doctest
import re
from pathlib import Path

from lastiterate.proofs_checks.lock import read_lock

_README = Path(__file__).parents[1] / "README.md"


def test_examples_run() -> None:
    results = doctest.testfile(str(_README), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_findings_are_in_the_ledger() -> None:
    found = _README.read_text().split("## What it found")[1].split("##")[0]
    verdicts = read_lock()
    faulty = re.findall(r"^- `([\w/]+)`", found, flags=re.MULTILINE)
    assert len(faulty) >= 3
    for key in faulty:
        assert verdicts[key].verdict in ("GAP", "REFUTED")
    for key in set(re.findall(r"`(\w+/[\w/]+)`", found)) - set(faulty):
        assert verdicts[key].verdict == "HOLDS"
