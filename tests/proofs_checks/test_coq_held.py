"""A rule in Python and its theorem in Coq are held together: a change of one side alone is noticed; without Coq."""

import shutil
from pathlib import Path

import pytest

from benchmarks import coq_held

NOW = coq_held.computed()
FOLDERS = (
    "symbolic/kernel",
    "symbolic/formulas",
    "symbolic/derivations",
    "proofs_checks/certificates",
    "proofs_checks/coq",
)

EDITS = (
    ("symbolic/kernel/rules.py", "Le(made.far, other.near), ", "", "Kernel._linked"),
    ("symbolic/kernel/rules.py", ", Le(before.far, near.near)]", "]", "contract"),
    ("symbolic/kernel/rules.py", "Ge(far, expansion.at(near) - shift.length), ", "", "Kernel.step"),
    ("symbolic/kernel/profiles.py", ", Le(Add(*(m for _, m in profile.pairs)), 1))", ",)", "Kernel.weaken"),
    ("symbolic/kernel/profiles.py", "pairs = {S.One: S.One}", "pairs = {}", "Kernel._linked"),
    ("symbolic/formulas/divergences.py", "factor - 1 + rate", "factor", "poisson_coin"),
    ("symbolic/formulas/update.py", "return 2 * eta * K / b", "return eta * K / b", "Losses.other_data"),
    ("symbolic/derivations/losses.py", "(Ge(low, 0), Le(low, high))", "()", "Losses.same_data"),
    (
        "symbolic/kernel/profiles.py",
        "finite measures p and q with int p >= 1 >= int q",
        "measures p and q",
        "contract",
    ),
)
"""Edits of a rule, or of what it depends on: file, text, replacement, and the rule that each changes."""

WEAKENED = (
    ("chain.v", "span near near' K K' f -> span near' near'' L L'", "span near' near'' L L'", "Kernel._linked"),
    ("contract.v", "Hypothesis q1 : \\sum_i q i <= 1.\n", "", "contract"),
    ("step.v", "Hypothesis parts : forall d", "Hypothesis pieces : forall d", "Kernel.step"),
    ("tables.v", "  mass2_sum : \\sum_(j < node_count) mass2 j = 1;\n", "", "Kernel._linked"),
    ("laws.v", "(forall x y, near x y -> A x -> B y) -> probability", "probability", "Kernel.mean"),
    ("coins.v", "Hypothesis q1 : q <= 1.\n", "", "swap_coin"),
    ("expansions.v", "Hypothesis c_high : high * L - 1 <= c.\n", "", "Losses.same_data"),
)
"""Edits of a theorem or of a definition that it uses."""

UNCHANGED = (
    ("symbolic/kernel/rules.py", "From z -> z' at f and then z' -> z'' at J: z", "In short: z"),
    ("symbolic/kernel/rules.py", "A chain needs the same order, got", "The orders differ:"),
    ("proofs_checks/coq/chain.v", "(* The composition (f x N)(g). *)\n", "(* Another comment. *)\n\n"),
    (
        "proofs_checks/coq/chain.v",
        "Proof. by move=> H H' x y xy; apply: chain_laws (H x y xy) H'. Qed.",
        "Proof. Qed.",
    ),
)
"""Edits of comments, messages and proofs, which do not change a rule."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for name in FOLDERS:
        shutil.copytree(
            coq_held.ROOT / name, root / name, ignore=shutil.ignore_patterns("*.vo*", "*.glob", ".*")
        )
    return root


def after(root: Path, file: str, old: str, new: str, rule: str | None = None) -> list[str]:
    """The complaints after an edit of a copy, about one rule or about all."""
    path = root / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old)
    path.write_text(text.replace(old, new), encoding="utf-8")
    try:
        rules = None if rule is None else [one for one in NOW if one.endswith(f".{rule}")]
        return coq_held.complaints(coq_held.computed(root, rules), NOW)
    finally:
        path.write_text(text, encoding="utf-8")


def test_both_sides_are_as_they_were_when_they_were_last_read() -> None:
    before = coq_held.recorded()
    assert coq_held.complaints(NOW, before) == []
    assert NOW.keys() == before.keys()


@pytest.mark.parametrize(("file", "old", "new", "rule"), EDITS, ids=[one[-1] for one in EDITS])
def test_a_rule_changed_without_its_theorem_is_noticed(
    copy: Path, file: str, old: str, new: str, rule: str
) -> None:
    (said,) = after(copy, file, old, new, rule)
    assert "changed in Python: " in said
    assert ".v: " in said
    assert "--read-again" in said


@pytest.mark.parametrize(("file", "old", "new", "rule"), WEAKENED, ids=[one[0] for one in WEAKENED])
def test_a_theorem_changed_without_its_rule_is_noticed(
    copy: Path, file: str, old: str, new: str, rule: str
) -> None:
    (said,) = after(copy, f"proofs_checks/coq/{file}", old, new, rule)
    assert f"changed in Coq: {file}: " in said
    assert said.partition("Read the other side again: ")[2].startswith("symbolic.")


@pytest.mark.parametrize(("file", "old", "new"), UNCHANGED, ids=[one[1][:20] for one in UNCHANGED])
def test_words_and_proofs_are_no_change(copy: Path, file: str, old: str, new: str) -> None:
    assert after(copy, file, old, new) == []


def test_the_record_is_as_the_command_writes_it() -> None:
    assert coq_held.HELD.read_text(encoding="utf-8") == coq_held.written(NOW)
