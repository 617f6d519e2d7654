"""The table of the rules of the kernel and their theorems in Coq, proofs_checks/coq/RULES.md.

    python -m benchmarks.coq_rules
    python -m benchmarks.coq_rules --read-again

It is made of proofs_checks/coq/rules.toml and of the planted weakenings in tests/proofs_checks/coq_weakenings.toml. The
list of what is still prose, in docs/proofs/trusted.md, is renewed as well. No
Coq is needed. With --read-again, you state that you have read the rules that changed and their theorems: the hashes of
both in proofs_checks/coq/held.toml are renewed (`benchmarks.coq_held`).
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import coq_held

ROOT = Path(__file__).parents[1]
COQ = ROOT / "proofs_checks" / "coq"
TRUSTED = ROOT / "docs" / "proofs" / "trusted.md"
WEAKENINGS = ROOT / "tests" / "proofs_checks" / "coq_weakenings.toml"

_WEAKENINGS = """
## Planted weakenings

Each of these edits (`tests/proofs_checks/coq_weakenings.toml`) makes the named theorem false, for the reason given.
The tests make the edit and compile the file, which must fail inside a proof.

"""

_ASKED = """>>> for line in prose():
...     print(line)
"""

_CLAIMS = """
## Claims that are theorems, with their derivation

| claim | theorems | page | open | weakenings |
|---|---|---|---|---|
"""

_CERTIFICATES = """
## Claims whose certificates Coq accepts

For a certificate by such a claim `lastiterate verify --coq` writes a file that applies these theorems and proves their
hypotheses, except those about the run itself, which *open* names.

| claim | theorems | page | open | weakenings |
|---|---|---|---|---|
"""

_HEAD = """# The rules of the kernel and their theorems

Written by `python -m benchmarks.coq_rules`; do not edit. Each rule of the Python kernel with its theorems in this
folder, the page of its proof, what is still open, and the planted weakenings of its theorems (numbers of the list at
the end). *Open* says where a theorem says less than the rule, or why there is none. `make coq` prints the axioms of
every theorem: none. The files in `reals/` use the axioms of Coq's real numbers.

"""


def read(path: Path, key: str) -> list[dict[str, Any]]:
    """The entries of a table."""
    found: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[key]
    return found


def rules_of(folder: Path) -> Iterator[str]:
    """The name of every function below a folder that has the decorator ``rule``: module.function."""
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        places: list[tuple[str, ast.AST]] = [(module, ast.parse(path.read_text(encoding="utf-8")))]
        for name, node in places:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ClassDef | ast.FunctionDef):
                    places.append((f"{name}.{child.name}", child))
                if isinstance(child, ast.FunctionDef) and "rule" in map(ast.unparse, child.decorator_list):
                    yield f"{name}.{child.name}"


def rows(key: str, name: str) -> Iterator[str]:
    """The lines of a table of rules.toml; ``name`` is the key of their names."""
    weakened = [(one["file"], one["theorem"]) for one in read(WEAKENINGS, "weakening")]
    for one in read(COQ / "rules.toml", key):
        theorems = [tuple(name.split(": ")) for name in one["theorems"]]
        named = ", ".join(f"[{file}]({file}) `{theorem}`" for file, theorem in theorems) or "none"
        page = f"[{one['page']}](../../docs/proofs/{one['page']})"
        page += f", {one['place']}" if "place" in one else ""
        own = ", ".join(str(number) for number, theorem in enumerate(weakened, 1) if theorem in theorems)
        yield f"| `{one[name]}` | {named} | {page} | {one.get('open', '')} | {own} |"


def groups() -> Iterator[str]:
    """The lines of rules that have no theorem, by module."""
    for one in read(COQ / "rules.toml", "group"):
        count = sum(name.startswith(one["module"]) for name in rules_of(ROOT / "symbolic"))
        yield f"| `{one['module']}`, {count} rules | none | | {one['open']} | |"


def weakenings() -> Iterator[str]:
    """The lines of the list of weakenings."""
    for number, one in enumerate(read(WEAKENINGS, "weakening"), 1):
        yield f"{number}. `{one['theorem']}`: {one['reason']}"


def page() -> str:
    """The text of RULES.md."""
    head = "| rule | theorems | page | open | weakenings |\n|---|---|---|---|---|\n"
    rules = "\n".join((*rows("rule", "python"), *groups()))
    claims, certified = ("\n".join(rows(kind, "key")) + "\n" for kind in ("claim", "certificate"))
    tables = head + rules + "\n" + _CLAIMS + claims + _CERTIFICATES + certified
    return _HEAD + tables + _WEAKENINGS + "\n".join(weakenings()) + "\n"


def prose() -> Iterator[str]:
    """What no theorem of Coq says: of rules in traces, of rules in Python, of claims, and of certificates."""
    traces = tomllib.loads((ROOT / "proofs_checks" / "rules.toml").read_text(encoding="utf-8"))
    yield from (f"{name}: {one['none']}" for name, one in sorted(traces.items()) if "none" in one)
    for table, name in (("rule", "python"), ("group", "module"), ("claim", "key")):
        rows = read(COQ / "rules.toml", table)
        yield from (f"{one[name].removeprefix('symbolic.')}: {one['open']}" for one in rows if "open" in one)
    certificates = read(COQ / "rules.toml", "certificate")
    yield from (f"a certificate by {one['key']}: {one['open']}" for one in certificates)


def trusted() -> str:
    """The text of docs/proofs/trusted.md, with the list of what is prose as it is now."""
    head, asked, rest = TRUSTED.read_text(encoding="utf-8").partition(_ASKED)
    return head + asked + "".join(f"{line}\n" for line in prose()) + rest[rest.index("\n```") :]


if __name__ == "__main__":
    if "--read-again" in sys.argv[1:]:
        coq_held.HELD.write_text(coq_held.written(coq_held.computed()), encoding="utf-8")
    (COQ / "RULES.md").write_text(page(), encoding="utf-8")
    TRUSTED.write_text(trusted(), encoding="utf-8")
