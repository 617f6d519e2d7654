"""A check without an end is given up, whatever it waits for, and nothing else is lost."""

import ctypes
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.engines import decide_check, derivation, identity
from lastiterate.proofs_checks.engines.time_limit import allowing, limited, seconds_left
from lastiterate.proofs_checks.engines.z3_answers import Terms, entails
from lastiterate.proofs_checks.lock import failures
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.verdict import ClaimReport, Status, Verdict
from lastiterate.symbolic.checks import Identity, Tracked
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.notation import x, y

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
LATE = "no answer within 0.3 s of computing; simplify the check, or use `check --time-limit`"


def _never() -> None:
    while True:
        sum(range(100))


def _caught() -> None:
    while True:
        try:
            _never()
        except TimeoutError:
            continue


def _asleep() -> None:
    """In compiled code that keeps the interpreter, as flint's does: no signal reaches it."""
    ctypes.PyDLL(None).usleep(10**9)


ENDLESS: dict[str, Callable[[], object]] = {
    "never": _never,
    "caught": _caught,
    "asleep": _asleep,
    "ends": lambda: os._exit(3),
    "killed": lambda: os.kill(os.getpid(), 9),
}


@pytest.fixture
def _endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that has no end where the check is called so."""
    real = identity.decide

    def decided(check: Identity, assumptions: tuple) -> object:
        ENDLESS.get(check.name, int)()
        return real(check, assumptions)

    monkeypatch.setattr(identity, "decide", decided)


pytestmark = pytest.mark.usefixtures("_endless")


def _of(report: ClaimReport) -> list[tuple[Status, str]]:
    return [(one.status, one.detail if one.status is Status.ERROR else "") for one in report.outcomes]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("never", LATE),
        ("caught", LATE),
        ("asleep", LATE),
        ("ends", "the process that decided it ended with exit code 3"),
        ("killed", "the process that decided it ended with exit code -9"),
    ],
)
def test_one_check_has_no_answer_and_all_others_do(
    make_claim: Callable[..., Claim], tmp_path: Path, name: str, why: str, jobs: int
) -> None:
    store = ReportCache(tmp_path)
    claims = [
        make_claim(TRUE.mutant("wrong", right=x), key="one/a"),
        make_claim(TRUE, replace(TRUE, name=name), TRUE.mutant("wrong", right=x), key="one/b"),
        make_claim(TRUE, key="two/a"),
    ]
    before, endless, after = run(claims, jobs=jobs, cache=store, seconds=0.3)
    assert before.verdict is after.verdict is Verdict.PROVED
    assert endless.verdict is Verdict.UNDECIDED
    assert _of(endless) == [(Status.HELD, ""), (Status.ERROR, why), (Status.HELD, "")]
    assert endless.rejected == 1
    assert [store.read(claim) is not None for claim in claims] == [True, False, True]


@pytest.mark.parametrize("name", ["never", "asleep"])
def test_a_mutant_or_near_miss_out_of_time_is_not_rejected(make_claim: Callable[..., Claim], name: str) -> None:
    (report,) = run([make_claim(TRUE.mutant(name, right=x))], jobs=1, seconds=0.3)
    assert report.verdict is Verdict.PROVED
    assert report.rejected == 0
    assert report.errs
    assert failures(report) == (
        f"toy/claim does not reject the mutant '{name}': identity says error ({LATE}).",
    )


def test_a_derivation_out_of_time_is_not_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stops short is; this one has not come anywhere."""
    monkeypatch.setattr(derivation, "decide", lambda *_: [seconds_left() for _ in iter(int, 1)])
    with allowing(0.2):
        outcome = decide_check(Tracked("full_batch/smooth", x), ())
    assert outcome.status is Status.ERROR
    assert not outcome.rejected


def test_in_another_thread_a_check_ends_at_a_question_to_z3() -> None:
    done: list[str] = []

    def work() -> None:
        try:
            with allowing(0.1), limited():
                while True:
                    entails((x > 0,), x**2 + len(done) > 0)
                    Terms(whole=False).term(x)
        except TimeoutError as error:
            done.append(str(error))

    one = threading.Thread(target=work)
    one.start()
    one.join(60)
    assert done == [LATE.replace("0.3", "0.1")]
