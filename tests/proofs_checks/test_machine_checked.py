"""The table of the kernel's rules: each has a theorem of Coq that stands there, or a reason why it has none."""

import re
from pathlib import Path

import pytest

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import _RULES, describe
from lastiterate.proofs_checks.engines.derivation import judgements
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Derived, RenyiBound, Tracked

ROOT = Path(__file__).parents[2]
COQ = ROOT / "proofs_checks" / "coq"
THEOREMS = {name: one for name, one in _RULES.items() if "theorem" in one}


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_stands_where_the_table_says(name: str) -> None:
    theorem, file = re.fullmatch(r"(\w+) in (proofs_checks/coq/\w+\.v)", THEOREMS[name]["theorem"]).groups()
    assert re.search(
        rf"^(Theorem|Corollary) {theorem}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert f"Print Assumptions {theorem}." in (COQ / "assumptions.v").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", _RULES)
def test_a_rule_has_a_page_and_a_theorem_or_a_reason(name: str) -> None:
    entry = _RULES[name]
    assert (ROOT / entry["page"].partition(",")[0]).exists()
    assert ("theorem" in entry) != bool(entry.get("none"))
    assert "theorem" in entry or entry.keys() == {"page", "none"}


def test_every_rule_of_the_kernel_is_in_the_table() -> None:
    texts = [(ROOT / "symbolic" / "kernel" / f"{name}.py").read_text() for name in ("rules", "induction")]
    named = {
        name
        for text in texts
        for name in re.findall(r'(?:apply\(\s*(?:self|kernel), |"rule": )"([a-z ]+)"', text)
    }
    assert named == _RULES.keys() - {"calculus"}


def test_derivations_use_the_rules_of_the_table() -> None:
    used = {
        line.rule
        for key in (
            "ours/contraction/full",
            "ours/cyclic/theorem",
            "ours/poisson/theorem",
            "chien_li/lemma_3_5",
        )
        for claim in of_ledger(keys=(key,))
        for check in claim.checks
        if isinstance(check, Derived | RenyiBound | Tracked)
        for end in judgements(check, claim.assumptions)
        for line in end.lines()
    }
    assert used <= _RULES.keys()
    assert {"chain", "step", "induct", "contract", "weaken"} <= used & THEOREMS.keys()


def test_a_line_says_whether_its_rule_is_machine_checked() -> None:
    (claim,) = of_ledger(keys=("ours/derived/convex_window",))
    page = describe(claim, decide(claim)).splitlines()
    lines = [line for line in page if re.match(r"\s+\d+ [a-z ]+( \([\d, ]+\))?: run", line)]
    assert lines
    assert all(re.search(r"   \[(Coq|Coq, tables|prose)\]$", line) for line in lines)
    chains = [line for line in lines if re.match(r"\s+\d+ chain ", line)]
    assert chains
    assert all(line.endswith("[Coq, tables]") for line in chains)
    assert any(
        "theorem chain in proofs_checks/coq/chain.v; docs/proofs/enlarged_sets.md" in line for line in page
    )
    conditions = [line for line in page if re.match(r"\s{8,}.*   \[.*\]$", line) and line not in lines]
    assert any("[inequality: " in line for line in conditions)


def test_what_a_derivation_trusts_is_one_list() -> None:
    (claim,) = of_ledger(keys=("ours/derived/convex_window",))
    page = describe(claim, decide(claim))
    trusted = page.partition("    Trusted\n")[2].partition("\n\n")[0].splitlines()
    kinds = dict(line.strip().split(": ", 1) for line in trusted)
    assert list(kinds) == ["Coq", "Coq, tables", "prose", "engines", "cited"]
    assert {"chain", "step", "induct"} == set(kinds["Coq, tables"].split(", "))
    assert re.fullmatch(r"identity \(2\), inequality \(\d+\)", kinds["engines"])
    assert kinds["cited"].startswith(
        f"{page.partition('Rests on')[2].partition('Rules')[0].strip().count(chr(10)) + 1} "
    )


def test_a_line_of_the_calculus_is_prose() -> None:
    claim = next(
        one for one in ledger.claims() if any(type(check).__name__ == "Deduced" for check in one.checks)
    )
    page = describe(claim, decide(claim))
    assert "calculus: prose: " in page
