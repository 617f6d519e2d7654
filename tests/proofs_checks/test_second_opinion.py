"""cvc5 on what z3 has proved: it agrees on a handful of claims here, on all of them at night."""

import pytest
import sympy as sp

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks import second_opinion
from lastiterate.proofs_checks.engines.z3_answers import entails, record_questions
from lastiterate.proofs_checks.second_opinion import ask_cvc5, opinion, opinions
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Inequality
from lastiterate.symbolic.notation import x, y

CLAIMS = tuple(claim.key for claim in ledger.claims())
FEW = ("liang/lemma_a_4", "d2p2/theorem_3/per_sample", "altschuler_talwar/section_2_2/lemma_2_1")
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


def test_the_command_says_so_before_it_decides_a_claim(monkeypatch, capsys):
    monkeypatch.setattr(second_opinion, "find_spec", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        main(["check", "--second-opinion", "--claim", FEW[0]])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "lastiterate[cvc5]" in said.err


@pytest.mark.parametrize(
    "keys", [FEW, pytest.param(CLAIMS, marks=(pytest.mark.nightly, pytest.mark.timeout(7200)))]
)
def test_cvc5_contradicts_z3_nowhere(keys):
    pytest.importorskip("cvc5")
    given = opinions(keys, jobs=1 if keys is FEW else -1)
    assert [one.key for one in given] == list(keys)
    assert not [one for one in given if one.disagreed]
    assert sum(one.agreed for one in given) >= 0.8 * sum(one.questions for one in given) > 0
