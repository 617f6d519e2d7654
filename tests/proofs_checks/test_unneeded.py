"""Assumptions and premises that no check needs: found, written down, and printed with their claims."""

import json
from random import Random

import pytest
from sympy import S, Symbol

from lastiterate.__main__ import main
from lastiterate.proofs_checks import unneeded as kept
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.lock import lock_path
from lastiterate.proofs_checks.report.entries import entries
from lastiterate.proofs_checks.report.pages import ledger_page
from lastiterate.proofs_checks.unneeded import find_unneeded, part, read_unneeded, unneeded, update_unneeded
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Cited, Inequality, RandomPoints
from lastiterate.symbolic.notation import y
from lastiterate.symbolic.papers import Source

z = Symbol("z", real=True)
CUBE = Inequality(S.Zero, "<=", z**3 + z, (y < 5,), name="cube")


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "unneeded.lock.json"
    path.write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(kept, "unneeded_path", lambda: path)
    return path


def _found(claim):
    return [(name, one) for name, conditions in find_unneeded(claim).parts.items() for one in conditions]


def test_conditions_that_no_check_needs_are_found(make_claim) -> None:
    assert _found(make_claim(CUBE, assumptions=(z >= 0, y < 3))) == [("assumptions", "y < 3"), ("check 1", "y < 5")]
    assert _found(make_claim(CUBE, assumptions=(z > 0, z >= 1))) == [("assumptions", "z > 0"), ("check 1", "y < 5")]
    small = y < 3
    assert _found(make_claim(CUBE, assumptions=(z >= 0, small, small)))[0:-1] == [("assumptions", "y < 3")]


def test_nothing_is_said_where_a_check_is_no_proof_or_does_not_hold(make_claim) -> None:
    cited = Cited(y <= 1, Source("toy", "Lemma 2"), (y < 3,))
    drawn = RandomPoints(S.Zero, "<=", z**2, {z: (0, 1)})
    wrong = Inequality(S.Zero, "<", z**2)
    for check in (cited, drawn, wrong):
        assert _found(make_claim(check, assumptions=(y < 3,))) == [], check


def test_they_are_printed_with_the_claim(make_claim, file) -> None:  # noqa: ARG001
    claim = make_claim(CUBE, assumptions=(z >= 0, y < 3))
    assert "no check needs it" not in describe(claim, decide(claim))
    update_unneeded([find_unneeded(claim)])
    assert list(map(str, (*unneeded(claim), *unneeded(claim, 1)))) == ["y < 3", "y < 5"]
    said = describe(claim, decide(claim))
    assert [line.strip() for line in said.splitlines() if "no check needs it" in line] == [
        "y < 3   (no check needs it)",
        "Given y < 5   (no check needs it)",
    ]
    page = ledger_page(entries([claim], [decide(claim)]))
    assert page.count("(no check needs it)") == 1
    assert page.count("(not needed)") == 1


def test_what_is_known_of_a_claim_is_replaced(make_claim, file) -> None:
    other = "chien_li/theorem_3_1/composition"
    gone, kept_too = ({key: {"assumptions": ["x < 1"]}} for key in ("no/claim", other))
    file.write_text(json.dumps(gone | kept_too), encoding="utf-8")
    update_unneeded([find_unneeded(make_claim(CUBE, assumptions=(z >= 0,)))])
    assert read_unneeded() == {other: {"assumptions": ("x < 1",)}, "toy/claim": {"check 1": ("y < 5",)}}


def test_the_command_writes_what_it_finds_and_nothing_else(file, capsys) -> None:
    key = "altschuler_talwar/appendix_b_3/footnote_11"
    lock = lock_path().read_bytes()
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["check", "--claim", key, "--update-unneeded", "--jobs", "1"])
    assert "1 condition of 1 claim in" in capsys.readouterr().err
    assert json.loads(file.read_text()) == {key: {"assumptions": ["c < 1"]}}
    assert lock_path().read_bytes() == lock
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["check", str(file.parent), "--update-unneeded"])
    assert "leave one out" in capsys.readouterr().err


def test_the_file_names_conditions_of_the_ledger() -> None:
    claims = {claim.key: claim for claim in ledger.claims()}
    for key, entry in read_unneeded().items():
        parts = {part(number): unneeded(claims[key], number) for number in range(len(claims[key].checks) + 1)}
        found = {name: tuple(map(str, conditions)) for name, conditions in parts.items() if conditions}
        assert found == entry, f"write it again: lastiterate check --update-unneeded --claim {key}"


@pytest.mark.long
def test_what_is_written_of_some_claims_is_what_is_found() -> None:
    known = read_unneeded()
    for claim in Random(5).sample(ledger.claims(), 6):  # noqa: S311 no secret is drawn
        entry = known.get(claim.key, {})
        assert find_unneeded(claim).parts == entry
