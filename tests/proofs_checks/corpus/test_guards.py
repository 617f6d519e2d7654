"""Every guard of the engines has a witness: without it a planted claim that is false stands, or a true one falls."""

import multiprocessing
from multiprocessing.connection import Connection

import guards
import pytest
import test_corpus as corpus
import z3
from referee_letters import at_most, r, s

from lastiterate.proofs_checks import decide as deciding
from lastiterate.proofs_checks.engines import decide_check, z3_answers
from lastiterate.proofs_checks.verdict import STANDS, Status, Verdict

ENTRIES = {
    entry[0]: entry for tables in (corpus.TRUE, corpus.FALSE) for table in tables.values() for entry in table
}
TRUE = {entry[0] for table in corpus.TRUE.values() for entry in table}


def _decided_without(guard: guards.Guard, answer: Connection) -> None:
    guards.switch_off(guard)
    deciding.near_misses = lambda *_: []
    answer.send(corpus.decided(ENTRIES[guard.by]).verdict)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("guard", guards.guards(), ids=lambda guard: f"{guard.path}: {guard.by}")
def test_a_guard_has_a_witness(guard: guards.Guard) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_decided_without, args=(guard, theirs))
    process.start()
    theirs.close()
    verdict = ours.recv()
    process.join()
    assert verdict in ((Verdict.REFUTED, Verdict.GAP) if guard.by in TRUE else (*STANDS, Verdict.TYPO))


def test_there_are_many_guards() -> None:
    assert len(guards.guards()) >= 100


@pytest.fixture
def _z3_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_answers, "_checked", lambda *_: z3.unknown)
    z3_answers._entails.cache_clear()
    yield
    z3_answers._entails.cache_clear()


@pytest.mark.usefixtures("_z3_gives_up")
def test_what_z3_does_not_know_is_not_passed() -> None:
    assert not z3_answers.entails((), r >= r - 1 + s**2)
    for claimed in (at_most(2 * r * s, r**2 + s**2), at_most(r, r + 10**9 + s)):
        assert decide_check(claimed, ()).status is not Status.HELD
