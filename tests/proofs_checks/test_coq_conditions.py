"""Every hypothesis of a theorem of Coq has its condition in Python, and the rule in Python asks for it. Without Coq."""

import inspect
import re
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import coq_examples
import pytest
from coq_examples import REFUSED, RULES, SOUND, asked

from benchmarks import coq_conditions, coq_held
from lastiterate.proofs_checks.engines.derivation import judgements
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.symbolic import notation
from lastiterate.symbolic.checks import Derived
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.kernel.judgement import Span, UnprovedError, record
from lastiterate.symbolic.kernel.rules import Kernel

TABLE = tomllib.loads((coq_held.COQ / "conditions.toml").read_text(encoding="utf-8"))
THEOREMS = coq_held.Theorems()
DATA = {
    *(
        "point",
        "measurable",
        "expect",
        "from",
        "map_point",
        "node_count",
        "rest",
        "mass1",
        "mass2",
        "beyond",
        "pairs",
    ),
    *("alpha", "power", "vectors", "inner"),
}
"""Fields of records that are data and not hypotheses."""


def needed(theorems: coq_held.Theorems) -> dict[str, set[str]]:
    """The hypotheses of the theorems of the rules, and of the definitions that these use, by rule and theorem."""
    found: dict[str, set[str]] = {}
    for rule, row in coq_held.rules_with_theorems().items():
        for theorem in row["theorems"]:
            own = set(coq_conditions.hypotheses(theorems.find(theorem)))
            found |= {f"{rule} | {theorem}": own} if own else {}
            for one in theorems.closure(theorem):
                if one.kind == "Record":
                    found[f"{one.file}: {one.name}"] = coq_conditions.fields(one).keys() - DATA
                elif one.kind == "Definition" and "[/\\" in one.text:
                    found[f"{one.file}: {one.name}"] = set(coq_conditions.conjuncts(one))
    for key, row in coq_held.claims_with_theorems().items():
        for theorem in row["theorems"]:
            found[f"{key} | {theorem}"] = set(coq_conditions.hypotheses(theorems.find(theorem)))
    return {name: own for name, own in found.items() if own}


def entered() -> dict[str, dict[str, Any]]:
    """The entries of the table, by rule and theorem."""
    both = (*TABLE["rule"].items(), *TABLE["claim"].items())
    return {f"{rule} | {name}": own for rule, of in both for name, own in of.items()} | TABLE["definition"]


class Entry(NamedTuple):
    """What stands in Python for a hypothesis, and the example of a rule in which it is seen."""

    rule: str
    kind: str
    case: str
    says: str

    @property
    def example(self) -> str:
        """The name of the example."""
        return f"{self.rule} ({self.case})" if self.case else self.rule


def entries() -> Iterator[Entry]:
    """The entries of the table, one by one."""
    for name, own in entered().items():
        rule = name.partition(" | ")[0] if " | " in name else SOUND
        for values in own.values():
            for value in [values] if isinstance(values, str) else values:
                found = re.fullmatch(r"(\w+)(?: \((.*?)\))?: (.+)", value)
                assert found, value
                yield Entry(rule, found[1], found[2] or "", found[3])


def missing(theorems: coq_held.Theorems) -> list[tuple[str, str]]:
    """The hypotheses without an entry."""
    found = entered()
    return [(name, one) for name, own in needed(theorems).items() for one in own - found.get(name, {}).keys()]


ENTRIES = list(dict.fromkeys(entries()))


def of_kind(*kinds: str) -> list[Any]:
    return [
        pytest.param(one, id=f"{one.rule.rpartition('.')[2]}: {one.says}")
        for one in ENTRIES
        if one.kind in kinds
    ]


def test_every_hypothesis_has_an_entry_and_every_entry_a_hypothesis() -> None:
    assert missing(THEOREMS) == []
    listed = {(name, one) for name, own in entered().items() for one in own}
    assert listed == {(name, one) for name, own in needed(THEOREMS).items() for one in own}
    assert {one.kind for one in ENTRIES} <= {
        "asks",
        "refuses",
        "premise",
        "part",
        "supposes",
        "tested",
        "type",
        *("states", "assumes", "declares", "checks", "derives"),
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "chain.v",
            "  span near near' K K' f -> span",
            "  (forall r, f r <= 2) -> span near near' K K' f -> span",
            "f r <= 2",
        ),
        ("contract.v", "Hypothesis u0 :", "Hypothesis F0 : F 0 = 1.\nHypothesis u0 :", "F 0 = 1"),
        ("tables.v", "  rest_ge0 :", "  few : (node_count <= 9)%N;\n  rest_ge0 :", "few"),
        ("sequences.v", "Variables n b : nat.", "Variables n b epochs : nat.", "epochs : nat"),
        (
            "composition.v",
            "sound (f : atoms) := [/\\ ",
            "sound (f : atoms) := [/\\ beyond f < 1, ",
            "beyond f < 1",
        ),
    ],
    ids=["chain", "contract", "table", "cyclic", "sound"],
)
def test_another_hypothesis_in_coq_is_noticed(tmp_path: Path, file: str, old: str, new: str, says: str) -> None:
    for path in coq_held.COQ.rglob("*.v"):
        (tmp_path / path.relative_to(coq_held.COQ)).parent.mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(coq_held.COQ))
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
    assert {one.removeprefix("forall r, ") for _, one in missing(coq_held.Theorems(tmp_path))} == {says}


def test_every_rule_with_a_theorem_has_an_example() -> None:
    rules = {rule for rule in coq_held.rules_with_theorems() if rule.startswith("symbolic.")}
    assert rules | {SOUND} == {name.partition(" (")[0] for name in RULES}


@pytest.mark.parametrize("entry", of_kind("asks"))
def test_a_condition_is_asked(entry: Entry) -> None:
    example = RULES[entry.example]
    assert entry.says in asked(example)
    with pytest.raises(UnprovedError):
        asked(example, entry.says)


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused(name: str) -> None:
    with pytest.raises(UnprovedError):
        asked(REFUSED[name])


def test_every_refused_call_is_in_the_table() -> None:
    assert {one.says for one in ENTRIES if one.kind == "refuses"} == REFUSED.keys()


def _function(rule: str) -> Any:
    module = re.match(r"[a-z_.]+(?=\.[A-Z]|\.[a-z_]+$)", rule)
    assert module, rule
    return attrgetter(rule.removeprefix(f"{module[0]}."))(import_module(f"lastiterate.{module[0]}"))


@pytest.mark.parametrize("entry", of_kind("premise", "part"))
def test_an_argument_is_a_judgement_or_a_part_of_a_step(entry: Entry) -> None:
    kind = "Span" if entry.kind == "premise" else entry.says.capitalize().replace("Outcome", "Coin")
    assert kind in str(inspect.signature(_function(entry.rule)).parameters[entry.says].annotation)


@pytest.mark.parametrize("rule", sorted({one.rule for one in ENTRIES if one.kind == "premise"}))
def test_a_premise_that_no_rule_made_is_refused(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def forged(span: Span) -> Span:
        return record(span)

    monkeypatch.setattr(coq_examples, "hook", forged)
    with pytest.raises(UnprovedError, match="made by the rules"):
        asked(RULES[rule])


@pytest.mark.parametrize("entry", of_kind("supposes"))
def test_the_conclusion_supposes_what_is_not_shown(entry: Entry) -> None:
    found: list[Any] = []

    def example(kernel: Kernel) -> None:
        found.append(RULES[entry.example](kernel))

    asked(example)
    assert any(entry.says in one.says for one in found[0].hypotheses)


@pytest.mark.parametrize("entry", of_kind("tested"))
def test_a_test_of_certificates_is_there(entry: Entry) -> None:
    file, _, name = entry.says.partition("::")
    assert f"def {name}(" in (coq_held.ROOT / file).read_text(encoding="utf-8")


@cache
def _claim(key: str) -> Claim:
    (claim,) = of_ledger(keys=(key,))
    return claim


@cache
def _derived(key: str) -> frozenset[str]:
    """What the derivations of a claim suppose."""
    claim = _claim(key)
    ends = [judgements(check, claim.assumptions) for check in claim.checks if isinstance(check, Derived)]
    return frozenset(one.says for both in ends for end in both for one in end.hypotheses)


@pytest.mark.parametrize("entry", of_kind("states", "assumes", "declares", "checks", "derives"))
def test_a_claim_says_what_its_theorem_supposes(entry: Entry) -> None:
    claim = _claim(entry.rule)
    match entry.kind:
        case "states":
            assert entry.says in str(claim.statement)
        case "assumes":
            assert entry.says in map(str, claim.assumptions)
        case "declares":
            letter, fact = entry.says.split()
            assert getattr(notation, letter).assumptions0.get(fact)
        case "checks":
            assert any(entry.says in str(check) for check in claim.checks)
        case "derives":
            assert any(entry.says in one for one in _derived(entry.rule))
