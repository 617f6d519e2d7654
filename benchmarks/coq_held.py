"""The rules in Python and their theorems in Coq, held together by hashes of both sides.

    python -m benchmarks.coq_rules --read-again

For every rule of proofs_checks/coq/rules.toml that has a theorem, proofs_checks/coq/held.toml records hashes of its
parts. In Python these are the rule, and the functions, classes and constants on which it depends; in Coq the statements
of its theorems, with the hypotheses of their sections and the definitions that they use. If a part changes on one side,
whoever changes it reads the other side again and renews the record by the command above.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
COQ = ROOT / "proofs_checks" / "coq"
HELD = COQ / "held.toml"

_HEAD = """# Hashes of every rule and of its theorems, with all parts on which they depend; see docs/proofs/coq.md.
# Written by `python -m benchmarks.coq_rules --read-again`, by whoever changes a part and reads the other side again.
"""

_FOLDERS = ("symbolic/kernel", "symbolic/formulas", "symbolic/derivations", "proofs_checks/certificates")
_SEALED = "symbolic.kernel.sealed"
"""The module that keeps judgements from being forged, which decides no conclusion."""


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


# ---- Python ----


@dataclass(frozen=True)
class _Module:
    parts: dict[str, ast.AST]
    names: dict[str, str]
    """What a name stands for: a part of this or another module, or a module."""


def _module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _of_rules(node: ast.ClassDef) -> bool:
    """Tell whether methods of a class are rules, each of which is a part by itself."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    return any("rule" in map(ast.unparse, one.decorator_list) for one in methods)


def _split(node: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    rest = [one for one in node.body if not isinstance(one, ast.FunctionDef)]
    yield node.name, ast.ClassDef(node.name, node.bases, node.keywords, rest, node.decorator_list)
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            yield f"{node.name}.{one.name}", one


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _parts(tree: ast.Module) -> dict[str, ast.AST]:
    return dict(_found(tree))


def _found(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _of_rules(node):
            yield from _split(node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for one in ast.walk(target):
                    if isinstance(one, ast.Name):
                        yield one.id, node


class Sources:
    """The parts of the modules below a root."""

    def __init__(self, root: Path = ROOT) -> None:
        paths = [path for folder in _FOLDERS for path in sorted((root / folder).glob("*.py"))]
        trees = {
            _module_name(path, root): _parsed(path.read_text(encoding="utf-8"))
            for path in paths
            if path.stem != "__init__"
        }
        trees.pop(_SEALED, None)
        self.modules = {name: _Module(_parts(tree), {}) for name, tree in trees.items()}
        for name, tree in trees.items():
            self._import(name, tree)
        methods = (name.partition(".") for name in self.modules["symbolic.kernel.rules"].parts)
        self._kernel = {method for kind, _, method in methods if kind == "Kernel" and method}

    def _import(self, module: str, tree: ast.Module) -> None:
        names = self.modules[module].names
        for node in tree.body:
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("lastiterate."):
                continue
            origin = str(node.module).removeprefix("lastiterate.")
            for one in node.names:
                if one.name == "*":
                    names |= {part: f"{origin}.{part}" for part in self._exported(origin)}
                else:
                    names[one.asname or one.name] = f"{origin}.{one.name}"
        names |= {part: f"{module}.{part}" for part in self.modules[module].parts}

    def _exported(self, module: str) -> Iterable[str]:
        return self.modules[module].parts if module in self.modules else ()

    def node(self, name: str) -> ast.AST:
        """The syntax tree of a part."""
        module, part = self._where(name) or ("", "")
        return self.modules[module].parts[part]

    def _where(self, name: str) -> tuple[str, str] | None:
        words = name.split(".")
        for cut in range(1, len(words)):
            module, part = ".".join(words[:cut]), ".".join(words[cut:])
            if module in self.modules and part in self.modules[module].parts:
                return module, part
        return None

    def uses(self, name: str) -> set[str]:
        """The parts to which a part refers."""
        module, part = self._where(name) or ("", "")
        own, found = self.modules[module], set[str]()
        names, attributes, called = _mentioned(own.parts[part])
        found |= {own.names[one] for one in names if one in own.names}
        found |= {f"{own.names.get(of, '')}.{one}" for of, one in attributes}
        found |= {f"symbolic.kernel.rules.Kernel.{one}" for one in called if one in self._kernel}
        if "." in part:
            kind = f"{module}.{part.partition('.')[0]}"
            found |= {kind, *(f"{kind}.{one}" for of, one in attributes if of == "self")}
        return {one for one in found if one != name and self._where(one)}

    def closure(self, name: str) -> list[str]:
        """A part and all parts on which it depends."""
        found, todo = {name}, [name]
        while todo:
            new = self.uses(todo.pop()) - found
            found |= new
            todo += new
        return sorted(found)

    def digest(self, name: str) -> str:
        """The hash of a part."""
        return _hashed(self.node(name))


class _Strip(ast.NodeTransformer):
    """Drop docstrings of functions, annotations of functions, and the messages of errors.

    The docstring of a class stays: the terms of the kernel are defined there.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        node.returns = None
        for one in ast.walk(node.args):
            if isinstance(one, ast.arg):
                one.annotation = None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ast.Raise(raised, None)


@cache
def _stripped(node: ast.AST) -> ast.AST:
    made: ast.AST = _Strip().visit(deepcopy(node))
    return made


@cache
def _mentioned(node: ast.AST) -> tuple[set[str], set[tuple[str, str]], set[str]]:
    """The names in a part, the attributes of names, and the methods that it calls."""
    nodes = list(ast.walk(_stripped(node)))
    names = {one.id for one in nodes if isinstance(one, ast.Name)}
    attributes = [one for one in nodes if isinstance(one, ast.Attribute)]
    of_names = {(one.value.id, one.attr) for one in attributes if isinstance(one.value, ast.Name)}
    calls = (one.func for one in nodes if isinstance(one, ast.Call))
    return names, of_names, {one.attr for one in calls if isinstance(one, ast.Attribute)}


@cache
def _hashed(node: ast.AST) -> str:
    return _digest("".join(_written(_stripped(node))))


def _written(node: Any) -> Iterator[str]:
    """A syntax tree as text that is the same in every version of Python."""
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if value not in (None, []) and name not in {"ctx", "kind", "type_comment", "type_ignores"}:
                yield f" {name}="
                yield from _written(value)
        yield ")"
    elif isinstance(node, list):
        for one in node:
            yield from _written(one)
    else:
        yield repr(node)


# ---- Coq ----


class Item(NamedTuple):
    """A theorem or a definition: the words before it in its sections that it can use, and its own."""

    file: str
    name: str
    kind: str
    context: tuple[str, ...]
    text: str


_NAMED = re.compile(
    r"(?:Local |Global )?(Theorem|Corollary|Lemma|Definition|Fixpoint|Record|Inductive|Let)\s+([\w']+)"
)
_NOTATION = re.compile(r"Local Notation (?:\"([^\"]+)\"|([\w']+))")
_PROVED = ("Theorem", "Corollary", "Lemma")
_LOCAL = ("Let", "Notation")
_CONTEXT = ("Variable", "Variables", "Hypothesis", "Hypotheses", "Context")


def _without_comments(text: str) -> str:
    depth, kept = 0, []
    for piece in re.split(r"(\(\*|\*\))", text):
        depth += (piece == "(*") - (piece == "*)")
        if depth == 0 and piece != "*)":
            kept.append(piece)
    return "".join(kept)


def sentences(text: str) -> list[str]:
    """The sentences of a file, without comments and with single spaces."""
    return [" ".join(one.split()) for one in re.split(r"(?<=\.)\s", _without_comments(text)) if one.strip()]


def items(file: str, text: str) -> Iterator[Item]:
    """The theorems and definitions of a file."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for one in sentences(text):
        first, *others = one.rstrip(".").split()
        if first == "Section":
            sections.append((others[0], []))
        elif first == "End" and others == [sections[-1][0]]:
            sections.pop()
        elif first in _CONTEXT:
            sections[-1][1].append(one)
        elif found := _NAMED.match(one):
            context = tuple(said for _, own in sections for said in own)
            yield Item(file, found[2], found[1], context, one)
        elif found := _NOTATION.match(one):
            yield Item(file, found[1] or found[2], "Notation", (), one)


class Theorems:
    """The theorems and definitions of a folder."""

    def __init__(self, folder: Path = COQ) -> None:
        paths = [*sorted(folder.glob("*.v")), *sorted(folder.glob("reals/*.v"))]
        self.items: dict[str, dict[str, Item]] = {}
        self._imported: dict[str, list[str]] = {}
        for path in paths:
            file, text = str(path.relative_to(folder)), path.read_text(encoding="utf-8")
            self.items[file] = {}
            for one in items(file, text):
                self.items[file].setdefault(one.name, one)
            named = re.findall(
                r"^From lastiterate(\.reals)? Require (?:Import )?([\w ]+)\.", text, flags=re.MULTILINE
            )
            words = [(where, word) for where, line in named for word in line.split()]
            self._imported[file] = [f"{'reals/' * bool(where)}{word}.v" for where, word in reversed(words)]

    def find(self, name: str) -> Item:
        """The item of "file: name"."""
        file, _, own = name.partition(": ")
        return self.items[file][own]

    def _defined(self, word: str, file: str) -> Item | None:
        for where in (file, *self._imported[file]):
            one = self.items.get(where, {}).get(word)
            if one and one.kind not in _PROVED and (where == file or one.kind not in _LOCAL):
                return one
        return None

    def closure(self, name: str) -> list[Item]:
        """A theorem and the definitions on which its statement depends."""
        first = self.find(name)
        found, todo = {(first.file, first.name): first}, [first]
        while todo:
            one = todo.pop()
            for word in re.findall(r"[\w']+", " ".join((*one.context, one.text))):
                own = self._defined(word, one.file)
                if own and (own.file, own.name) not in found:
                    found[own.file, own.name] = own
                    todo.append(own)
        return list(found.values())


def statement(one: Item) -> str:
    """The statement of an item, preceded by the context of its sections."""
    return " ".join((*one.context, one.text))


# ---- Both ----


def _table(path: Path, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[key]
    return found


Parts = dict[str, str]


def rules_with_theorems(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """The rows of the rules that have a theorem."""
    return {one["python"]: one for one in _rows(root)["rule"] if one["theorems"]}


def claims_with_theorems(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """The rows of the claims that have a theorem."""
    return {one["key"]: one for one in _rows(root)["claim"]}


def _rows(root: Path) -> dict[str, list[dict[str, Any]]]:
    path = root / "proofs_checks" / "coq" / "rules.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def computed(root: Path = ROOT, rules: Iterable[str] | None = None) -> dict[str, dict[str, Parts]]:
    """For each of these rules, or for all that have a theorem, the hashes of its parts in Python and in Coq."""
    sources, theorems = Sources(root), Theorems(root / "proofs_checks" / "coq")
    made = {}
    for rule, own in rules_with_theorems(root).items():
        if rules is None or rule in rules:
            python = {name: sources.digest(name) for name in own.get("parts", sources.closure(rule))}
            parts = {
                (one.file, one.name): one for theorem in own["theorems"] for one in theorems.closure(theorem)
            }
            coq = {": ".join(name): _digest(statement(one)) for name, one in sorted(parts.items())}
            made[rule] = {"python": python, "coq": coq}
    return made


def recorded(path: Path = HELD) -> dict[str, dict[str, Parts]]:
    """What was recorded when the two sides were last read."""
    stored = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        rule: {side: {part: stored[side][part] for part in own[side]} for side in ("python", "coq")}
        for rule, own in stored["rule"].items()
    }


def written(now: dict[str, dict[str, Parts]]) -> str:
    """The text of held.toml."""
    text = _HEAD
    for side in ("python", "coq"):
        parts = {part: value for own in now.values() for part, value in own[side].items()}
        text += f"\n[{side}]\n" + "".join(f'"{part}" = "{value}"\n' for part, value in sorted(parts.items()))
    for rule, own in now.items():
        text += f'\n[rule."{rule}"]\n'
        for side in ("python", "coq"):
            text += f"{side} = [\n" + "".join(f'  "{part}",\n' for part in own[side]) + "]\n"
    return text


def _differences(before: Parts, now: Parts) -> list[str]:
    return [
        *(part for part in now if part in before and before[part] != now[part]),
        *(f"{part} (new)" for part in now if part not in before),
        *(f"{part} (no longer used)" for part in before if part not in now),
    ]


def complaints(now: dict[str, dict[str, Parts]], before: dict[str, dict[str, Parts]]) -> list[str]:
    """What changed and what to do, for every rule with a part that changed since both sides were last read."""
    found, rules = [], rules_with_theorems()
    for rule, own in now.items():
        for side, other in (("python", ", ".join(rules[rule]["theorems"])), ("coq", rule)):
            changed = _differences(before.get(rule, {}).get(side, {}), own[side])
            if changed:
                found.append(
                    f"{rule} changed in {side.capitalize()}: {', '.join(changed)}. Read the other side again: {other}. "
                    "If both still say the same, run python -m benchmarks.coq_rules --read-again."
                )
    return found
