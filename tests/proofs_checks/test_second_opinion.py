"""cvc5 on what z3 has proved: it agrees on a handful of claims here, on all of them at night."""

from importlib.util import find_spec

import pytest
import sympy as sp

from benchmarks import second_opinion
from benchmarks.second_opinion import ask_cvc5, opinion, opinions, record_questions
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import derivation, side_conditions, z3_answers
from lastiterate.proofs_checks.engines.derivation import judgements
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Inequality
from lastiterate.symbolic.notation import x, y

CLAIMS = tuple(claim.key for claim in ledger.claims())
FEW = ("liang/lemma_a_4", "d2p2/theorem_3/per_sample", "altschuler_talwar/section_2_2/lemma_2_1")
PREMISE = "it is one of the premises"
TRUE = Inequality(2 * x * y, "<=", x**2 + y**2)


def test_only_what_a_check_that_holds_rests_on_is_asked(make_claim):
    pytest.importorskip("cvc5")
    found = opinion(make_claim(TRUE, Inequality(3 * x * y, "<=", x**2 + y**2)))
    assert (found.questions, found.agreed, found.unknown, found.disagreed) == (1, 1, 0, ())


def test_a_proof_that_z3_gets_wrong_is_contradicted(make_claim, monkeypatch):
    pytest.importorskip("cvc5")
    wrong = "(set-logic QF_NRA)(declare-fun x () Real)(assert (= (* x x) 2.0))(check-sat)"
    assert ask_cvc5(wrong) == "sat"
    monkeypatch.setattr(second_opinion, "ask_cvc5", lambda _: "sat")
    found = opinion(make_claim(TRUE))
    assert len(found.disagreed) == 1
    assert "check-sat" in found.disagreed[0]


def test_every_side_condition_of_a_derivation_that_an_engine_shows_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(second_opinion, "ask_cvc5", lambda question: asked.append(question) or "unsat")
    (claim,) = of_ledger(keys=("ours/derived/convex_window",))
    for one in (derivation.derive, side_conditions._prove, z3_answers._entails, derivation.used):
        one.cache_clear()
    found = opinion(claim)
    lines = {
        line for check in claim.checks for end in judgements(check, claim.assumptions) for line in end.lines()
    }
    shown = {
        (one.condition, one.given) for line in lines for one in line.shown if one.how not in ("given", PREMISE)
    }
    assert shown
    assert found.questions == len(asked) >= len({condition for condition, _ in shown})


def test_a_side_condition_shown_without_z3_is_asked_if_questions_are_recorded():
    x, y = sp.symbols("x y", real=True)
    side_conditions._prove.cache_clear()
    z3_answers._entails.cache_clear()
    with record_questions() as found:
        assert side_conditions.prove(sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2), frozenset()).startswith(
            "identity"
        )
    assert len(found) == 1
    assert ask_cvc5(found[0]) == "unsat" if find_spec("cvc5") else True


def test_what_is_no_smt_lib_is_an_error():
    pytest.importorskip("cvc5")
    with pytest.raises(RuntimeError, match="cvc5 stopped"):
        ask_cvc5("(declare-fun")


def test_every_name_is_one_of_smt_lib():
    bar, prime = sp.Symbol("|u|", real=True), sp.Symbol("k'_j", real=True)
    with record_questions() as found:
        assert entails((bar > prime, prime > 1), bar > 1)
    assert len(found) == 1
    assert "\\" not in found[0]
    assert "'" not in found[0]


def test_without_cvc5_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(second_opinion, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'lastiterate\[cvc5\]'"):
        opinions(FEW)


def test_the_command_counts_questions(capsys):
    pytest.importorskip("cvc5")
    with pytest.raises(SystemExit) as ended:
        second_opinion.command([FEW[0]])
    assert ended.value.code == 0
    assert "0 left open" in capsys.readouterr().out


@pytest.mark.parametrize(
    "keys", [FEW, pytest.param(CLAIMS, marks=(pytest.mark.nightly, pytest.mark.timeout(7200)))]
)
def test_cvc5_contradicts_z3_nowhere(keys):
    pytest.importorskip("cvc5")
    given = opinions(keys, jobs=1 if keys is FEW else -1)
    assert [one.key for one in given] == list(keys)
    assert not [one for one in given if one.disagreed]
    assert sum(one.agreed for one in given) >= 0.8 * sum(one.questions for one in given) > 0
