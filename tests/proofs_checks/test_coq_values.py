"""On random finite chains the exact divergence is at most the kernel's bound, which equals the value in Coq."""

import re
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from coq_compiled import printed
from coq_values import FAULTS, Instance, instances
from sympy import true

from benchmarks import coq_conditions, coq_held
from lastiterate.symbolic.kernel.profiles import sound

HEAD = """From Coq Require Import QArith.
From mathcomp Require Import all_ssreflect.
From lastiterate Require Import values.
Delimit Scope Q_scope with QQ.
Open Scope Q_scope.
"""


@cache
def drawn(count: int, fault: str = "") -> tuple[Instance, ...]:
    return tuple(instances(count, 1, fault))


def differing(built: Path, folder: Path, *lists: tuple[Instance, ...]) -> list[list[int]]:
    """For each list of instances, those in which Coq has another value than Python or refuses a table."""
    text = HEAD
    for own in lists:
        values = ";\n".join(one.text() for one in own)
        text += f"Eval vm_compute in let held := [::\n{values}] in\n"
        text += "  [seq i <- iota 0 (size held) | ~~ nth true held i].\n"
    found = re.findall(r"= (\[::.*?\])\s+: seq nat", printed(built, folder, text), flags=re.DOTALL)
    assert len(found) == len(lists)
    return [[int(place) for place in re.findall(r"\d+(?=%N)", one)] for one in found]


def test_no_chain_exceeds_its_bound() -> None:
    assert [place for place, one in enumerate(drawn(200)) if one.exceeded()] == []


def test_the_profile_of_a_conclusion_is_sound() -> None:
    """The theorems suppose it of the profiles of premises, and no rule asks it of them again.

    Of a mean over an index the kernel does not tell whether its weights add up to 1, and no rule accepts it.
    """
    profiles = [one.profile for one in drawn(200) if one.profile]
    known = [one for one in profiles if "the mean over" not in str(one)]
    count = len(known)
    assert count > 100
    assert [str(one) for one in known if any(condition.doit() != true for condition in sound(one))] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_bound_is_noticed_by_brute_force(fault: str) -> None:
    assert any(one.exceeded() for one in instances(300, 4, fault))


@pytest.mark.long
def test_bounds_have_the_values_of_the_definitions_in_coq(rules: Path, tmp_path: Path) -> None:
    faulty = [tuple(islice(instances(20, 1, fault), 20)) for fault in FAULTS]
    none, *noticed = differing(rules, tmp_path, drawn(200), *faulty)
    assert none == []
    assert all(noticed), dict(zip(FAULTS, noticed, strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_thousand_more_chains(rules: Path, tmp_path: Path, seed: int) -> None:
    found = tuple(instances(1000, seed))
    assert [place for place, one in enumerate(found) if one.exceeded()] == []
    assert differing(rules, tmp_path, found) == [[]]


@pytest.mark.long
def test_the_hypotheses_that_are_read_are_those_of_coq(rules: Path, tmp_path: Path) -> None:
    """Coq adds the hypotheses of a section that are used, in the statement by name: `masses` of the laws in step.v."""
    theorems = coq_held.Theorems()
    names = dict.fromkeys(
        name for row in coq_held.rules_with_theorems().values() for name in row["theorems"] if "/" not in name
    )
    files = dict.fromkeys(name.partition(".v: ")[0] for name in names)
    text = f"From lastiterate Require Import {' '.join(files)}.\n"
    text += "Set Printing Width 100000.\nSet Printing Depth 10000.\n"
    text += "".join(f"Check @{name.replace('.v: ', '.')}.\n" for name in names)
    said = re.split(r"\n(?=\S)", printed(rules, tmp_path, text).strip())
    for name, one in zip(names, said, strict=True):
        own = " ".join(one.split()).partition(" : ")[2]
        by_name = len(re.findall(r"\(law\w*'? : masses", own))
        read = [each for each in coq_conditions.hypotheses(theorems.find(name)) if not each.endswith(" : nat")]
        assert len(coq_conditions.premises(own)) + by_name <= len(read), name
