"""The README: its examples run, and the claims it names are in the ledger with the verdicts it speaks of."""

import csv
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
_DRAWN = ("opacus_prv", "last_iterate")
_TRUST = Path(__file__).parents[1] / "docs/trust.md"
_README = Path(__file__).parents[1] / "README.md"
_ORDER = (
    Verdict.PROVED,
    Verdict.CITED,
    Verdict.TYPO,
    Verdict.GAP,
    Verdict.REFUTED,
    Verdict.UNDECIDED,
)


def test_examples_run() -> None:
    results = doctest.testfile(str(_README), module_relative=False)
    assert results.attempted >= 4
    assert results.failed == 0


def test_it_is_short_and_starts_with_the_question_and_one_picture() -> None:
    lines = _README.read_text().splitlines()
    assert len(lines) < 120
    assert lines[2].startswith("**How private is the model that you release?**")
    pictures = [place for place, line in enumerate(lines) if line.startswith("![")]
    assert len(pictures) == 1
    assert pictures[0] < next(place for place, line in enumerate(lines) if line.startswith("## "))


def test_numbers_of_the_picture_are_those_of_the_example() -> None:
    with (_README.parent / "examples/breast_cancer/epsilon.csv").open(newline="") as file:
        rows = [{key: float(row[key]) for key in ("steps", *_DRAWN)} for row in csv.DictReader(file)]
    stated = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", _README.read_text(), flags=re.MULTILINE)
    assert len(stated) >= 3
    for steps, *numbers in stated:
        row = next(row for row in rows if row["steps"] == int(steps))
        assert [f"{row[column]:.2f}" for column in _DRAWN] == numbers


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
        r"(\d+) are cited from other work, "
        r"(\d+) hold after a misprint is corrected, "
        r"(\d+) steps do not follow as written, (\d+) statements are refuted, and (\d+) are undecided",
        text,
    )
    assert counts is not None
    said = [int(one) for one in counts.groups()]
    assert said == [papers.total(), *(papers[v] for v in _ORDER)]
    assert papers.total() == sum(papers[v] for v in _ORDER)


def test_numbers_in_sentences_are_those_that_the_examples_print() -> None:
    text = _README.read_text()
    printed = {
        float(one)
        for page in (text, _TRUST.read_text())
        for block in re.findall(r"```.*?```", page, flags=re.DOTALL)
        for one in _DECIMAL.findall(block)
    }
    prose = re.sub(
        r"```.*?```|`[^`]*`|\]\([^)]*\)|Theorem \S+|Python >= \S+|^\|.*?$",
        " ",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    told = _DECIMAL.findall(prose)
    assert told
    for one in told:
        assert any(round(number, len(one.partition(".")[2])) == float(one) for number in printed), (
            f"{one} is in no output"
        )
