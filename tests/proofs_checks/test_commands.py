"""The commands check, list and show, on a toy ledger and on the real one."""

import json

import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from lastiterate.__main__ import main
from lastiterate.numeric import store
from lastiterate.numeric.store import ENVIRONMENT
from lastiterate.proofs_checks import cache, lock, runner
from lastiterate.proofs_checks.attacks import ATTACKS
from lastiterate.proofs_checks.engines import attack, decide_check, identity
from lastiterate.symbolic import ledger as symbolic_ledger
from lastiterate.symbolic.checks import Identity, UpperBound
from lastiterate.symbolic.notation import x, y

CLAIMS = symbolic_ledger.claims()

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
FALSE = Identity((x + y) ** 2, x**2 + y**2)


@pytest.fixture
def ledger(make_claim, monkeypatch, tmp_path):
    """A ledger of two claims with its own lock file and cache; gives a function that replaces the ledger."""
    path = tmp_path / "lock.json"
    monkeypatch.setattr(lock, "lock_path", lambda: path)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "reports"))

    def use(*claims):
        for name in ("claims", "naming"):
            monkeypatch.setattr(symbolic_ledger, name, lambda *_: claims)
        monkeypatch.setattr(cache, "everything", lambda: store.digest(cache._canonical(claims)))

    use(
        make_claim(TRUE.mutant("no cross term", FALSE), key="toy/square"),
        make_claim(FALSE, key="toy/wrong"),
    )
    assert status("check", "--update-lock", "--jobs", "1") == 0
    return use


def status(*arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


@pytest.mark.usefixtures("ledger")
def test_agreement_is_status_0_and_the_last_line_counts(capsys):
    assert status("check", "--jobs", "1") == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    verdicts, rejected = lines[-1].split("; ")
    assert verdicts == "2 claims: 1 PROVED, 0 SUPPORTED, 0 CITED, 1 REFUTED, 0 GAP, 0 TYPO, 0 UNDECIDED"
    assert rejected == "1 of 1 mutants and 3 of 3 near misses rejected"


def test_a_check_out_of_time_is_told(ledger, make_claim, capsys, monkeypatch):
    def endless(*_):
        while True:
            sum(range(100))

    monkeypatch.setattr(identity, "decide", endless)
    ledger(make_claim(TRUE, key="toy/square"))
    assert status("check", "--time-limit", "0.5", "--no-cache", "--jobs", "1") == 1
    said = capsys.readouterr()
    assert "no answer within 0.5 s of computing; simplify the check, or use `check --time-limit`" in said.out
    assert status("check", "--time-limit", "0") == 2


def test_a_planted_error_is_status_1_and_says_which_and_how(ledger, make_claim, capsys):
    ledger(make_claim(FALSE, key="toy/square"), make_claim(FALSE, key="toy/wrong"))
    assert status("check", "--jobs", "1") == 1
    out = capsys.readouterr().out
    assert "drift: toy/square is REFUTED, but the lock file says PROVED." in out
    assert "drift: toy/square rejects 0 of 0 mutants, but the lock file says 1." in out
    assert "\n  check 'identity': identity says refuted" in out
    assert "fails\n" in out
    assert out.count("lastiterate show KEY") == 1
    assert "toy/wrong (" not in out  # what is as locked needs no evidence


def test_show_names_what_holds_instead(ledger, make_claim, capsys):
    ledger(make_claim(FALSE, key="toy/wrong"), make_claim(TRUE, key="toy/right", repairs="toy/wrong"))
    assert status("show", "toy/wrong") == 0
    assert "What holds instead\n  toy/right: a toy\n" in capsys.readouterr().out
    assert status("show", "toy/right") == 0
    out = capsys.readouterr().out
    assert "  repairs: toy/wrong\n" in out
    assert "instead" not in out


@pytest.mark.usefixtures("ledger")
def test_list_by_verdict(capsys):
    assert status("list", "--verdict", "REFUTED") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["toy/wrong"]


@pytest.mark.parametrize(
    ("option", "said"), [("--no-cache", "nothing is kept"), ("--jobs=1", "what was finished is")]
)
def test_an_interrupted_check_says_what_is_kept(ledger, make_claim, monkeypatch, capsys, option, said):
    ledger(make_claim(FALSE, key="toy/undecided"))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    assert status("check", option) == 130
    assert said in capsys.readouterr().err


def test_a_claim_taken_away_or_added_is_status_1(ledger, make_claim, capsys):
    ledger(make_claim(FALSE, key="toy/wrong"), make_claim(TRUE, key="toy/new"))
    assert status("check", "--jobs", "1") == 1
    out = capsys.readouterr().out
    assert "toy/square is missing" in out
    assert "toy/new is new" in out


@pytest.mark.usefixtures("ledger")
def test_one_claim_alone(capsys):
    assert status("check", "--claim", "toy/wrong", "--no-cache") == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1].startswith("1 claim:")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("check", "--claim", "toy/sqare"), "did you mean toy/square?"),
        (("check", "--paper", "tou"), "did you mean toy?"),
        (("show", "toy/rong"), "did you mean toy/wrong?"),
        (("list", "--paper", "zzz"), "lastiterate list"),
        (("check", "--jobs", "0"), "jobs"),
        (("check", "--format", "xml"), "markdown"),
    ],
)
@pytest.mark.usefixtures("ledger")
def test_bad_input_is_one_sentence_and_status_2(capsys, arguments, hint):
    assert status(*arguments) == 2
    captured = capsys.readouterr()
    assert hint in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.usefixtures("ledger")
def test_a_corrupt_lock_file_is_status_2(capsys):
    lock.lock_path().write_text("{")
    assert status("check", "--jobs", "1") == 2
    assert "lock file" in capsys.readouterr().err


@pytest.mark.usefixtures("ledger")
def test_json(capsys):
    assert status("check", "--format", "json", "--jobs", "1") == 0
    data = json.loads(capsys.readouterr().out)
    assert {entry["key"]: entry["verdict"] for entry in data["claims"]} == {
        "toy/square": "PROVED",
        "toy/wrong": "REFUTED",
    }
    assert data["claims"][1]["outcomes"][0]["counterexample"]["at"]


@pytest.mark.usefixtures("ledger")
def test_list_and_show(capsys):
    assert status("list") == 0
    assert capsys.readouterr().out.split()[0] == "toy/square"
    assert status("show", "toy/wrong") == 0
    shown = capsys.readouterr().out
    assert "verdict: REFUTED" in shown
    assert "at x = " in shown


def test_the_real_ledger_is_locked_claim_by_claim():
    expected = lock.read_lock()
    assert set(expected) == {claim.key for claim in CLAIMS}
    for claim in CLAIMS:
        assert expected[claim.key].rejected == len(claim.mutants), claim.key
        locked, now = expected[claim.key], cache.said_by(claim)
        assert (locked.says, locked.statement) == now, "look at it, then: lastiterate check --update-lock"


def test_what_a_claim_says_does_not_depend_on_what_was_made_before():
    """Sympy gives an equal letter that was made before, with what is declared of it in the order of then."""
    found = set()
    for declared in ({"integer": True, "positive": True}, {"positive": True, "integer": True}):
        clear_cache()
        found.add(cache._canonical(sp.Symbol("q_1", **declared) ** 2))
    assert found == {"Pow(Symbol('q_1', integer=True, positive=True), Integer(2))"}


def test_one_real_claim(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert status("check", "--claim", CLAIMS[0].key, "--jobs", "1") == 0
    assert "1 claim: 1 PROVED" in capsys.readouterr().out


@pytest.mark.nightly
def test_the_bounds_of_the_ledger_meet_ten_thousand_settings(monkeypatch):
    """Twice as many as by day, with the same answers; assumptions thin out a few hundredths."""
    bounds = [(claim, check) for claim in CLAIMS for check in claim.checks if isinstance(check, UpperBound)]
    by_day = [decide_check(check, claim.assumptions).status for claim, check in bounds]
    monkeypatch.setattr(attack, "UNBOUNDED", 400)
    monkeypatch.setattr(attack, "BOUNDED", 200)
    assert [decide_check(check, claim.assumptions).status for claim, check in bounds] == by_day
    settings = 0
    for _, check in bounds:
        kinds = {ATTACKS[name].bounded for name in check.attacks}
        settings += attack.BOUNDED * (True in kinds) + attack.UNBOUNDED * (False in kinds)
    assert settings >= 11_000
