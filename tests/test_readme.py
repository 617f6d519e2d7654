"""The README: its examples run, and the claims it names are in the ledger with the verdicts it speaks of."""

import doctest
import re
from collections import Counter
from pathlib import Path

from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.selection import OURS, counted
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+")
_README = Path(__file__).parents[1] / "README.md"
_ORDER = (
    Verdict.PROVED,
    Verdict.SUPPORTED,
    Verdict.CITED,
    Verdict.TYPO,
    Verdict.GAP,
    Verdict.REFUTED,
    Verdict.UNDECIDED,
)


def test_examples_run() -> None:
    results = doctest.testfile(str(_README), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_it_is_short_and_starts_with_what_was_found() -> None:
    lines = _README.read_text().splitlines()
    assert len(lines) < 180
    assert next(line for line in lines if line.startswith("## ")) == "## What it found"


def test_findings_are_in_the_ledger() -> None:
    found = _README.read_text().split("## What it found")[1].split("##")[0]
    verdicts = read_lock()
    faulty = re.findall(r"^- `([\w/]+)`", found, flags=re.MULTILINE)
    assert len(faulty) >= 3
    for key in faulty:
        assert verdicts[key].verdict in ("GAP", "REFUTED")
    for key in set(re.findall(r"`(\w+/[\w/]+)`", found)) - set(faulty):
        assert verdicts[key].verdict in ("PROVED", "SUPPORTED")


def test_counts_are_those_of_the_ledger() -> None:
    verdicts = read_lock()
    found = counted((claim, verdicts[claim.key].verdict) for claim in CLAIMS)
    papers = sum((counts for paper, counts in found.items() if paper != OURS), Counter[Verdict]())
    text = " ".join(_README.read_text().split())
    counts = re.search(
        r"We checked (\d+) statements and proof steps of five papers: (\d+) are proved as printed, "
        r"(\d+) more are supported within a stated scope \(a box, a sample, the runs of an attack\), "
        r"(\d+) are cited from other work, "
        r"(\d+) hold after a misprint is corrected, "
        r"(\d+) steps do not follow as written, (\d+) statements are refuted, and (\d+) are undecided",
        text,
    )
    assert counts is not None
    said = [int(one) for one in counts.groups()]
    assert said == [papers.total(), *(papers[v] for v in _ORDER)]


def test_numbers_in_sentences_are_those_that_the_examples_print() -> None:
    text = _README.read_text()
    printed = {
        float(one)
        for block in re.findall(r"```.*?```", text, flags=re.DOTALL)
        for one in _DECIMAL.findall(block)
    }
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|Theorem \S+|Python >= \S+", " ", text, flags=re.DOTALL)
    told = _DECIMAL.findall(prose)
    assert told
    for one in told:
        assert any(round(number, len(one.partition(".")[2])) == float(one) for number in printed), (
            f"{one} is in no output"
        )
