import json
import os
import subprocess
import sys

import pytest
import sympy as sp

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import ENVIRONMENT
from lastiterate.proofs_checks import cache, runner
from lastiterate.proofs_checks.cache import ReportCache, said_by
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.lock import LockedVerdict, drifts, read_lock, write_lock
from lastiterate.proofs_checks.report import formats
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import papers, select
from lastiterate.proofs_checks.verdict import Grade, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Identity, Inequality, IntervalInequality, Recursion, UpperBound
from lastiterate.symbolic.notation import PREVIOUS, alpha, c, s, t, x, y

CLAIMS = ledger.claims()

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
FALSE = Identity((x + y) ** 2, x**2 + y**2)
CAUGHT = TRUE.mutant("no cross term", FALSE)


@pytest.fixture
def claims(make_claim):
    return tuple(make_claim(CAUGHT, key=f"toy/{name}") for name in ("a", "b", "c"))


@pytest.fixture
def store(tmp_path):
    return ReportCache(tmp_path / "reports")


def test_workers_and_one_process_agree(claims, make_claim, store):
    bound = make_claim(UpperBound("composition", ("linear",)), key="toy/bound", assumptions=(alpha > 1,))
    alone = run([*claims, bound], jobs=1)
    together = run([*claims, bound], jobs=2, cache=store)
    assert [r.key for r in together] == ["toy/a", "toy/b", "toy/c", "toy/bound"]
    assert [(r.verdict, r.grade, r.rejected) for r in alone] == [
        (r.verdict, r.grade, r.rejected) for r in together
    ]


def test_the_cache_answers_the_second_time(claims, store, monkeypatch):
    first = run(claims, jobs=1, cache=store)
    monkeypatch.setattr(runner, "decide", lambda claim: pytest.fail(f"{claim.key} was decided again"))
    assert run(claims, jobs=1, cache=store) == first


def test_a_report_with_an_error_is_not_kept(make_claim, store):
    """An engine that had no time or memory must not answer for ever after."""
    claim = make_claim(IntervalInequality(sp.zeta(x), "<=", x, {x: (2, 3)}), CAUGHT)
    (report_,) = run([claim], jobs=1, cache=store)
    assert report_.verdict is Verdict.UNDECIDED
    assert store.read(claim) is None


def test_the_address_follows_the_content(make_claim, store, monkeypatch):
    claim = make_claim(TRUE)
    before = store.address(claim)
    assert store.address(make_claim(TRUE)) == before
    assert store.address(make_claim(FALSE)) != before
    assert store.address(make_claim(TRUE, assumptions=(x > 0,))) != before
    monkeypatch.setattr(cache, "_foundation", lambda numbers: f"another engine, numbers={numbers}")
    assert store.address(claim) != before


def test_the_ledger_is_not_built_while_no_file_changes(claims, store, monkeypatch):
    assert store.read_ledger() == ()
    reports = run(claims, jobs=1, cache=store)
    store.write_ledger(claims)
    assert store.read_ledger() == reports
    monkeypatch.setattr(cache, "everything", lambda: "another formula")
    assert store.read_ledger() == ()
    store.write_ledger(claims)
    store.address(claims[1]).unlink()
    assert store.read_ledger() == ()


def test_claims_and_data_are_part_of_everything():
    everything = {name for name, _ in cache._files()}
    assert {"lastiterate.symbolic/chien_li/lemma_3_4.py", "lastiterate.symbolic/papers.toml"} <= everything


@pytest.fixture
def decided(monkeypatch, tmp_path):
    """A function that tells the keys of the claims that workers have decided since it was called last."""
    kept = tmp_path / "decided"

    def noted(claim):
        with kept.open("a") as file:
            file.write(f"{claim.key}\n")
        return decide(claim)

    def keys():
        found = kept.read_text().split() if kept.exists() else []
        kept.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(runner, "decide", noted)
    return keys


def test_an_edited_claim_is_decided_again_and_no_other(claims, make_claim, store, decided):
    run(claims, jobs=1, cache=store)
    edited = make_claim(CAUGHT.mutant("another", FALSE), key="toy/b")
    assert decided() == ["toy/a", "toy/b", "toy/c"]
    reports = run((claims[0], edited, claims[2]), jobs=1, cache=store)
    assert decided() == ["toy/b"]
    assert [len(entry.mutants) for entry in reports] == [1, 2, 1]


@pytest.mark.nightly
def test_addresses_and_statements_are_the_same_in_every_process(store):
    """Sympy keeps some arguments in sets, whose order changes from process to process."""
    code = (
        "from pathlib import Path; from lastiterate.proofs_checks.cache import ReportCache, said_by;"
        "from lastiterate.symbolic.ledger import claims;"
        "import sys; store = ReportCache(Path('.'));"
        "sys.stdout.write('\\n'.join(f'{store.address(c).name} {said_by(c).statement}' for c in claims()[::12]))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    expected = [f"{store.address(claim).name} {said_by(claim).statement}" for claim in CLAIMS[::12]]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("damage", ["", "{", "[]", "cut", "flip", "other"])
def test_a_broken_entry_is_dropped_and_decided_again(claims, store, damage):
    (kept, *_) = run(claims[:1], jobs=1, cache=store)
    path = store.address(claims[0])
    text = path.read_text()
    if damage == "cut":
        damaged = text[: len(text) // 2]
    elif damage == "flip":
        damaged = text.replace('"PROVED"', '"REFUTED"')
    elif damage == "other":
        other = run(claims[1:2], jobs=1, cache=store)
        assert other
        damaged = store.address(claims[1]).read_text()
    else:
        damaged = damage
    assert damaged != text
    path.write_text(damaged)
    assert store.read(claims[0]) is None
    assert not path.exists()
    (again,) = run(claims[:1], jobs=1, cache=store)
    assert again.verdict is kept.verdict
    assert store.read(claims[0]) == again


def test_an_interrupted_run_goes_on(claims, store, decided):
    def interrupted(done, _claims):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(claims, jobs=1, cache=store, on_claim=interrupted)
    assert decided()[:2] == ["toy/a", "toy/b"]
    assert len(run(claims, jobs=1, cache=store)) == 3
    assert "toy/a" not in decided()
    assert not list(store.folder.glob("*.part"))


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert ReportCache().folder == tmp_path / "reports"
    monkeypatch.delenv(ENVIRONMENT)
    assert ReportCache().folder != tmp_path / "reports"


def _expected(reports):
    return {entry.key: LockedVerdict.of(entry) for entry in reports}


def test_lock_and_reports_agree(claims, tmp_path):
    reports = run(claims, jobs=1)
    path = tmp_path / "lock.json"
    write_lock(_expected(reports), path)
    assert drifts(reports, read_lock(path)) == ()


def test_every_drift_is_a_sentence(claims):
    reports = run(claims, jobs=1)
    expected = _expected(reports)
    expected["toy/a"] = LockedVerdict(Verdict.REFUTED, None, 1, 1, 3)
    expected["toy/b"] = LockedVerdict(Verdict.PROVED, Grade.CERTIFIED, 2, 1, 2)
    expected["toy/gone"] = LockedVerdict(Verdict.PROVED, Grade.PROVED, 1, 2, 3)
    del expected["toy/c"]
    found = drifts(reports, expected)
    assert found == (
        "toy/a is PROVED, but the lock file says REFUTED.",
        "toy/b is proved, but the lock file says certified.",
        "toy/b has 1 checks, but the lock file says 2.",
        "toy/b rejects 3 of 3 near misses, but the lock file says 2.",
        "toy/c is new, with PROVED (proved), 1 mutants rejected: the lock file does not have it.",
        "toy/gone is missing: the lock file says PROVED (proved), 2 mutants rejected.",
    )
    assert "toy/gone" not in " ".join(drifts(reports, expected, complete=False))


def test_a_mutant_that_survives_is_a_drift_even_where_the_lock_expects_it(make_claim):
    harmless = TRUE.mutant("harmless", left=TRUE.right, right=TRUE.left)
    reports = run([make_claim(harmless)], jobs=1)
    (sentence,) = drifts(reports, _expected(reports))
    assert "does not reject the mutant 'harmless'" in sentence
    assert "identity says held" in sentence
    (more, _) = drifts(reports, {"toy/claim": LockedVerdict(Verdict.PROVED, Grade.PROVED, 1, 1, 3)})
    assert more == "toy/claim rejects 0 of 1 mutants, but the lock file says 1."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"toy/a": 1}',
        '{"toy/a": {"verdict": "PROVED", "grade": "proved"}}',
        '{"toy/a": {"verdict": "PROVED", "grade": "proved", "checks": -1, "rejected": 1, "near_misses": 1}}',
        '{"toy/a": {"verdict": "PROVED", "grade": "proved", "checks": 1, "rejected": 1, "near_misses": 1, "more": 2}}',
        '{"toy/a": {"verdict": "MAYBE", "grade": "proved", "checks": 1, "rejected": 1, "near_misses": 1}}',
        '{"toy/a": {"verdict": "PROVED", "grade": "sure", "checks": 1, "rejected": 1, "near_misses": 1}}',
        '{"toy/a": {"verdict": "PROVED", "grade": "proved", "checks": 1, "rejected": 1, "near_misses": -1}}',
        '{"toy/a": {"verdict": "PROVED", "grade": "proved", "checks": 1, "rejected": true, "near_misses": 1}}',
    ],
)
def test_a_bad_lock_file_is_bad_input(tmp_path, text):
    path = tmp_path / "lock.json"
    path.write_text(text)
    with pytest.raises(InputError, match="restore"):
        read_lock(path)


def test_a_missing_lock_file_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="--update-lock"):
        read_lock(tmp_path / "none.json")


def test_selection(claims):
    assert papers(claims) == ("toy",)
    assert select(claims, keys=("toy/c", "toy/a")) == (claims[0], claims[2])
    assert select(claims, paper="toy") == claims
    with pytest.raises(InputError, match=r"claim=toy/aa; did you mean toy/a\?"):
        select(claims, keys=("toy/aa",))
    with pytest.raises(InputError, match=r"did you mean toy\?"):
        select(claims, paper="toys")


def test_two_formats(claims):
    reports = run(claims, jobs=1)
    sentences = ("toy/a is PROVED, but the lock file says REFUTED.", "toy/gone is missing: nothing.")
    data = json.loads(formats.as_json(reports, sentences))
    assert [entry["key"] for entry in data["claims"]] == ["toy/a", "toy/b", "toy/c"]
    assert data["drifts"] == list(sentences)
    line = formats.summary(reports)
    verdicts = "3 claims: 3 PROVED, 0 SUPPORTED, 0 CITED, 0 REFUTED, 0 GAP, 0 TYPO, 0 UNDECIDED"
    assert line == f"{verdicts}; 3 of 3 mutants and 9 of 9 near misses rejected"
    assert formats.table(reports).row_count == 3


def test_describe_shows_everything(make_claim):
    recursion = Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c))
    claim = make_claim(
        recursion,
        Inequality(x, "<=", y, given=(x + 1 < y,)),
        CAUGHT,
        assumptions=(c < 1,),
        remark="as far as it goes",
    )
    text = describe(claim, decide(claim))
    for part in (
        "toy/claim",
        "toy, Lemma 1",
        "verdict: PROVED (proved); 1 of 1 mutants and 7 of 7 near misses rejected",
        "c < 1",
        "sensitivity of one step",
        "It solves u(0) = 0, u(t) = c*u(t - 1) + s.",
        "x <= y",
        "Where x + 1 < y.",
        "Mutant no cross term: rejected",
        "at x = ",
        "as far as it goes",
    ):
        assert part in text, text
