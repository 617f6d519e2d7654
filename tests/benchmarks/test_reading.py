"""What a sceptic reads: complete, few enough lines, and side conditions that two solvers show."""

import re

import pytest

from benchmarks import reading
from benchmarks.second_opinion import ask_cvc5

MOST = 1500
PAGE = reading.ROOT / "docs" / "proofs" / "trusted.md"
COQ = "proofs_checks/coq"


def _text(count: reading.Count, file: str) -> str:
    lines = (reading.ROOT / file).read_text().splitlines()
    return "\n".join(lines[number - 1] for number in sorted(count.files[file]))


def test_theorem_3_1_takes_few_lines_through_coq() -> None:
    count = reading.through_coq(reading.THEOREM)
    assert count is not None
    assert 200 < count.total < 500


@pytest.mark.parametrize("key", [reading.THEOREM, "ours/derived/convex_window"])
def test_theorem_3_1_takes_few_lines_through_its_trace(key: str) -> None:
    count = reading.through_trace(key)
    assert 800 < count.total <= MOST
    assert (
        set(reading.cited(reading.claim_of(key))) <= reading.compiled().keys()
    )  # else their functions count, too


def test_nothing_that_defines_the_theorem_is_left_out() -> None:
    count = reading.through_coq(reading.THEOREM)
    assert count is not None
    parts = {
        "laws.v": ("Record space", "Record law", "Definition after_expect", "Definition dirac", "measurable_above"),
        "renyi.v": ("Record order", "power_young", "Definition renyi_le", "expect Q k' <= M."),
        "rules.v": ("Definition image",),
        "full_batch.v": (
            "Hypothesis nearest", "Hypothesis adds", "Hypothesis step_size", "Definition convex_smooth",
            "Definition gaussian", "Definition reach", "Canonical E_zmodType", "Theorem theorem_3_1",
        ),
        "reals/theorem_3_1.v": ("Definition real_power", "Definition gauss ", "Definition real_order", "Notation RA"),
    }  # fmt: skip
    for file, wanted in parts.items():
        text = _text(count, f"{COQ}/{file}")
        assert [one for one in wanted if one not in text] == []


def test_every_definition_of_the_theorem_is_on_the_page() -> None:
    page = " ".join(PAGE.read_text().split())
    names = ("full_batch.v: theorem_3_1", "reals/theorem_3_1.v: gaussian_real")
    found = list(reading.closure(reading.coq_held.Theorems(), names))
    said = {part for one in found if one.kind != "Lemma" for part in (*one.context, one.text)}
    assert len(found) > 30
    assert {one for one in said if one not in page} == set()


def test_the_page_has_few_lines_of_coq() -> None:
    blocks = re.findall(r"^```coq\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) > 15
    assert sum(block.count("\n") for block in blocks) <= 120


@pytest.mark.long
def test_two_solvers_show_every_side_condition() -> None:
    pytest.importorskip("cvc5")
    asked = reading.Questions(reading.claim_of(reading.THEOREM))
    assert len(asked.blocks) > 30
    for text in asked.texts():
        solver = reading.z3.Tactic("qfnra-nlsat").solver()
        solver.from_string(text)
        assert (str(solver.check()), ask_cvc5(text)) == ("unsat", "unsat"), text


def test_a_question_says_its_condition() -> None:
    asked = reading.Questions(reading.claim_of("ours/derived/convex_window"))
    assert "(declare-const D Real)" in asked.head
    assert "(assert (< 0.0 D))" in asked.head
    assert "distinct" not in asked.head  # a denominator counts in its own question alone
    assert all("(assert (not (" in block for block in asked.blocks)
    false = asked.blocks[0].replace("(assert (not (", "(assert (or (")  # what a condition says is possible
    solver = reading.z3.Solver()
    solver.from_string(f"{asked.head}{false}(check-sat)")
    assert str(solver.check()) == "sat"


def test_every_cause_of_prose_is_listed() -> None:
    listed = list(reading.coq_rules.prose())
    assert len(listed) == len(set(listed)) > 20
    assert "close: closed forms of sequences are put into a judgement" in listed
    assert f"{reading.THEOREM}: the cost of shifted Gaussian noise, which is a hypothesis" in listed
    assert PAGE.read_text() == reading.coq_rules.trusted(), "run python -m benchmarks.coq_rules"
