"""The theorems of proofs_checks/coq: no axiom, a complete table, and planted weakenings, which do not compile."""

import os
import re
import shutil
import subprocess
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest
from coq_compiled import copy, make
from mpmath import mp
from shared import made_once

from benchmarks import coq_rules, coq_run
from lastiterate.proofs_checks.selection import of_ledger

COQ = coq_rules.COQ
RULES = coq_rules.read(COQ / "rules.toml", "rule")
GROUPS = coq_rules.read(COQ / "rules.toml", "group")
CLAIMS = coq_rules.read(COQ / "rules.toml", "claim")
CERTIFICATES = coq_rules.read(COQ / "rules.toml", "certificate")
WEAKENINGS = coq_rules.read(coq_rules.WEAKENINGS, "weakening")
REALS = "reals/"
STANDARD = re.compile(
    r"ClassicalDedekindReals\.|FunctionalExtensionality\.|Classical_Prop\.|Epsilon\.|boolp\.|\w*[Ii]nt63\."
)
"""Axioms of Coq's real numbers, classical logic with a choice, and machine integers."""


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with the rules and the README's run compiled."""

    def build(folder: Path) -> None:
        copy(folder)
        (folder / "log").write_text(make(folder, "run"))

    return made_once(tmp_path_factory, "coq-run", build)


def _printed(file: str) -> list[str]:
    return re.findall(r"^Print Assumptions (\w+)\.$", (COQ / file).read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("file", ["assumptions.v", "reals/assumptions_of_reals.v"])
def test_every_printed_theorem_stands_in_an_imported_file(file: str) -> None:
    folder = (COQ / file).parent
    imported = " ".join(
        re.findall(r"Require Import ([^.]+)\.$", (COQ / file).read_text(), re.MULTILINE)
    ).split()
    texts = [path.read_text() for name in imported if (path := folder / f"{name}.v").exists()]
    stated = set(re.findall(r"^(?:Theorem|Lemma|Corollary|Fact) (\w+)", "\n".join(texts), re.MULTILINE))
    assert set(_printed(file)) <= stated


@pytest.mark.long
def test_no_rule_has_an_axiom(rules: Path) -> None:
    log = (rules / "log").read_text()
    assert "Axioms:" not in log
    assert log.count("Closed under the global context") == len(_printed("assumptions.v")) > 50


@pytest.mark.nightly
def test_the_run_of_the_readme_has_the_axioms_of_the_real_numbers(everything: Path) -> None:
    log = (everything / "log").read_text()
    closed, *axioms = log.partition("COQC assumptions_of_reals.v")[2].split("Axioms:")
    assert closed.count("Closed under the global context") == 1  # the check of the table
    assert len(axioms) + 1 == len(_printed("reals/assumptions_of_reals.v"))
    named = re.findall(r"^([\w.]+)\s*:|^([\w.]+)$", "\n".join(axioms), flags=re.MULTILINE)
    assert {"".join(one) for one in named if not STANDARD.match("".join(one))} == set()


@pytest.mark.nightly
def test_coqchk_accepts(rules: Path) -> None:
    axioms = make(rules, "check").partition("* Axioms:")[2].partition("* Constants")[0]
    assert "Int63" in axioms  # primitives of libraries, which none of our theorems uses
    assert "lastiterate" not in axioms


def _in_a_proof(text: str, line: int) -> bool:
    """True if the line is between "Proof" and "Qed", where a false statement is noticed."""
    before, own = "\n".join(text.splitlines()[: line - 1]), text.splitlines()[line - 1]
    return "Proof" in own or before.rfind("Proof") > max(before.rfind("Qed."), before.rfind("Defined."))


def _compile(built: Path, folder: Path, file: str, text: str) -> str:
    """Compile a text in place of a file, next to the other compiled files, and return the error of coqc, or nothing."""
    for path in built.rglob("*.vo"):
        link = folder / path.relative_to(built)
        link.parent.mkdir(exist_ok=True)
        if link.with_suffix(".v") != folder / file:
            link.symlink_to(path)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    done = subprocess.run(  # noqa: S603
        ["coqc", "-q", "-Q", ".", "lastiterate", "-w", "none", file], cwd=folder,  # noqa: S607
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


def _cases(*, reals: bool) -> list[object]:
    return [
        pytest.param(one, id=f"{one['theorem']}, {place}", marks=() if one.get("day") else pytest.mark.nightly)
        for place, one in enumerate(WEAKENINGS)
        if one["file"].startswith(REALS) is reals
    ]


def _refused(built: Path, folder: Path, one: dict[str, str]) -> None:
    text = (COQ / one["file"]).read_text().replace(one["old"], one["new"])
    said = _compile(built, folder, one["file"], text)
    assert said, f"{one['file']} compiles with {one['new']!r}"
    lines = re.findall(r'^File "[^"]*", line (\d+)', said, flags=re.MULTILINE)
    assert "Syntax error" not in said, said
    assert _in_a_proof(text, int(lines[-1])), said


@pytest.mark.parametrize("one", _cases(reals=False))
def test_a_weakened_rule_does_not_compile(rules: Path, tmp_path: Path, one: dict[str, str]) -> None:
    _refused(rules, tmp_path, one)


@pytest.mark.parametrize("one", _cases(reals=True))
def test_a_weakened_run_does_not_compile(everything: Path, tmp_path: Path, one: dict[str, str]) -> None:
    _refused(everything, tmp_path, one)


def test_every_weakening_is_an_edit_of_the_text_as_it_is() -> None:
    for one in WEAKENINGS:
        assert (COQ / one["file"]).read_text().count(one["old"]) == 1, one
        assert one["old"] != one["new"]
        assert one["reason"]
    assert sum(one.get("day", False) for one in WEAKENINGS) == 7
    assert len(WEAKENINGS) > 40


def test_every_rule_of_the_kernel_is_in_the_table_of_theorems() -> None:
    listed = [one["python"] for one in RULES]
    assert len(listed) == len(set(listed))
    groups = [f"{one['module']}." for one in GROUPS]
    for name in coq_rules.rules_of(coq_rules.ROOT / "symbolic"):
        assert (name in listed) + sum(map(name.startswith, groups)) == 1, name
    for name in listed:
        module = re.match(r"[a-z_.]+(?=\.[A-Z]|\.[a-z_]+$)", name)
        assert module, name
        found = import_module(f"lastiterate.{module[0]}")
        assert callable(attrgetter(name.removeprefix(f"{module[0]}."))(found)), name


def test_every_theorem_of_the_table_is_there_and_its_axioms_are_printed() -> None:
    named = [tuple(name.split(": ")) for one in (*RULES, *CLAIMS, *CERTIFICATES) for name in one["theorems"]]
    named += [(one["file"], one["theorem"]) for one in WEAKENINGS]
    for file, theorem in named:
        stated = rf"^(Theorem|Corollary|Lemma) {theorem}\b"
        assert re.search(stated, (COQ / file).read_text(), flags=re.MULTILINE), (file, theorem)
    printed = {
        *_printed("assumptions.v"),
        *_printed("reals/assumptions_of_reals.v"),
        "readme_run",
        "table_cost",
    }
    assert {theorem for _, theorem in named} <= printed
    for one in (*RULES, *CLAIMS, *CERTIFICATES):
        assert one["theorems"] or one["open"], one
        assert (coq_rules.ROOT / "docs" / "proofs" / one["page"]).exists(), one


def test_every_file_with_theorems_is_in_the_table() -> None:
    """Except for definitions and numbers, and for the run of the README."""
    cited = {name.partition(": ")[0] for one in (*RULES, *CLAIMS, *CERTIFICATES) for name in one["theorems"]}
    of_the_readme = {
        f"reals/{one}.v" for one in ("gauss_numbers", "readme_numbers", "readme_table", "readme_run")
    }
    bases = {"laws.v", "tables.v", "values.v", "assumptions.v", "reals/assumptions_of_reals.v"}
    bases |= {f"reals/{one}.v" for one in ("measures", "enclose", "small", "table_costs")}
    files = {str(path.relative_to(COQ)) for path in COQ.rglob("*.v")}
    assert files - cited == of_the_readme | bases


def test_the_claims_of_certificates_are_in_the_ledger() -> None:
    keys = {one["key"] for one in CERTIFICATES}
    assert keys == {claim.key for claim in of_ledger(keys=tuple(keys))}


def test_the_table_of_rules_is_up_to_date() -> None:
    assert (COQ / "RULES.md").read_text() == coq_rules.page(), "run python -m benchmarks.coq_rules"


def test_the_generated_lemmas_are_up_to_date() -> None:
    with mp.workprec(120):
        for file, text in zip(("gauss_numbers.v", "readme_numbers.v"), coq_run.lemmas(), strict=True):
            assert (COQ / "reals" / file).read_text().endswith(f"\n{text}\n"), (
                "run python -m benchmarks.coq_run"
            )


def test_nothing_is_admitted() -> None:
    for path in COQ.rglob("*.v"):
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", path.read_text()), path


def test_every_file_is_compiled() -> None:
    for folder in (COQ, COQ / "reals"):
        listed = {line for line in (folder / "_CoqProject").read_text().split() if line.endswith(".v")}
        assert listed == {path.name for path in folder.glob("*.v")}


@pytest.mark.parametrize("target", ["coq", "coq-run"])
def test_make_says_which_packages_are_missing(target: str, tmp_path: Path) -> None:
    """With a PATH that has make and a shell but no Coq."""
    for name in ("make", "sh", "echo", "grep"):
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    shutil.copytree(
        COQ, tmp_path / "proofs_checks/coq", ignore=shutil.ignore_patterns("*.vo*", "Makefile.coq*")
    )
    shutil.copy(coq_rules.ROOT / "Makefile", tmp_path)
    done = subprocess.run(  # noqa: S603
        [tmp_path / "make", target], cwd=tmp_path, env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "apt-get install coq libcoq-mathcomp-ssreflect" in done.stderr


def test_make_says_for_which_coq_the_files_are_written(tmp_path: Path) -> None:
    folder, other = tmp_path / "coq", tmp_path / "bin"
    shutil.copytree(COQ, folder, ignore=shutil.ignore_patterns("*.vo*", "Makefile.coq*"))
    other.mkdir()
    for name, does in (("coqc", "echo 9.0.0"), ("coqtop", "cat")):
        (other / name).write_text(f"#!/bin/sh\n{does}\n")
        (other / name).chmod(0o755)
    done = subprocess.run(
        ["make", "rules"],  # noqa: S607
        cwd=folder, env=os.environ | {"PATH": f"{other}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "written for Coq 8.16 with mathcomp 1.15, as in Debian 12; got Coq 9.0.0" in done.stderr
