"""The package as a whole: what imports what, what is documented, and that the tools have nothing to say."""

import ast
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import lastiterate

ROOT = Path(__file__).parents[1]
LAYERS = {
    "symbolic": set(),
    "numeric": {"symbolic"},
    "runtime": {"symbolic", "numeric"},
    "proofs_checks": {"symbolic", "numeric"},
}
"""What each folder may import of ours when it is imported itself."""


def _sources() -> list[Path]:
    folders = [*LAYERS, "src/lastiterate/commands"]
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [*found, *sorted((ROOT / "src/lastiterate").glob("*.py"))]


@cache
def _trees() -> dict[Path, ast.Module]:
    return {path.relative_to(ROOT): ast.parse(path.read_text()) for path in _sources()}


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            if node.module == "lastiterate":
                yield from (f"lastiterate.{alias.name}" for alias in node.names)


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module without the bodies of its functions and without what is there for type checkers alone."""
    checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    if checking or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _at_import(child)


def _ours(names: Iterable[str]) -> set[str]:
    """The folders of ours among what is imported."""
    return {name.split(".")[1] for name in names if name.startswith("lastiterate.")}


def test_import_direction() -> None:
    wrong = {}
    for path, tree in _trees().items():
        layer = path.parts[0]
        if layer not in LAYERS:
            continue
        names = list(_imports(ast.walk(tree)))
        anywhere, at_import = _ours(names), _ours(_imports(_at_import(tree)))
        lazily = {"runtime"} if layer == "proofs_checks" else set()
        forbidden = {*LAYERS, "commands"} - LAYERS[layer] - {layer}
        unnamed = set(LAYERS) & {name.split(".")[0] for name in names}
        if found := at_import & forbidden | anywhere & (forbidden - lazily) | unnamed:
            wrong[str(path)] = found
    assert wrong == {}


def test_no_two_classes_or_functions_have_one_name() -> None:
    """Of all modules: what an engine or a command answers to is called alike."""
    answers, homes = {"command", "decide", "near_misses"}, dict[tuple[str, type], list[str]]()
    for path, tree in _trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                homes.setdefault((node.name, type(node)), []).append(str(path))
    assert {name: paths for (name, _), paths in homes.items() if len(paths) > 1 and name not in answers} == {}


def test_the_map_leads_to_what_is_there() -> None:
    """A name in the table of CONTRIBUTING without a folder is beside the one before it."""
    rows = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| ")]
    for row in rows[1:]:
        folder = ROOT
        for name in re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", row):
            if "PAPER" not in name:
                path = next(
                    (one for one in (ROOT / name, folder / name, folder.parent / name) if one.exists()), None
                )
                assert path is not None, f"{name} in {row}"
                folder = path if path.is_dir() else path.parent


def test_only_runtime_imports_torch() -> None:
    elsewhere = {
        str(path): _imports(ast.walk(tree)) for path, tree in _trees().items() if path.parts[0] != "runtime"
    }
    torch = {"torch", "torchvision"}
    assert [path for path, names in elsewhere.items() if torch & {name.split(".")[0] for name in names}] == []


def test_nothing_is_printed() -> None:
    calls = (
        (path, node) for path, tree in _trees().items() for node in ast.walk(tree) if isinstance(node, ast.Call)
    )
    assert [f"{path}:{node.lineno}" for path, node in calls if ast.unparse(node.func) == "print"] == []


def test_docstrings_open_with_a_noun_or_an_imperative() -> None:
    asking = {"How", "What", "When", "Where", "Whether", "Which", "Who", "Why"}
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    documented = (
        (path, node, ast.get_docstring(node) or "")
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    )
    found = {
        f"{path}:{getattr(node, 'lineno', 1)}": doc.splitlines()[0] for path, node, doc in documented if doc
    }
    assert {place: line for place, line in found.items() if line.split()[0].rstrip(",:") in asking} == {}


_QUAINT = re.compile(
    r"\b(?:chances?|price[sd]?|alike|anew|told|hence|beside|(?<!there )(?:is|are) no (?!less|more|\w+er\b))\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"[\w./]*")  # of a file, or the name of a letter: in any words
_PROSE = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _prose() -> Iterator[tuple[Path, str]]:
    for path in _sources():
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                text = re.sub(r"``[^`]*``|\{[^{}]*\}", "", token.string.lstrip("rbfRBF").strip("\"'"))
                if token.type in _PROSE and not _KEY.fullmatch(text):
                    yield path, text
    for path in (*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))):
        yield path, path.read_text()


def test_prose_is_plain() -> None:
    found = [
        (str(path.relative_to(ROOT)), *_QUAINT.findall(text)) for path, text in _prose() if _QUAINT.search(text)
    ]
    assert found == []


def test_no_field_is_not_a_number_where_it_is_left_out() -> None:
    """From Python 3.13 on two dataclasses with a nan are never equal."""
    fields = (
        (path, node)
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
    )
    assert [
        f"{path}:{node.lineno}"
        for path, node in fields
        if node.value and "nan" in ast.unparse(node.value).split(".")
    ] == []


def _loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running these arguments."""
    report = "import sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    code = f"import sys; sys.argv = ['lastiterate', *{list(arguments)!r}]\n"
    if arguments:
        code += (
            "from lastiterate.__main__ import main\ntry:\n    main()\nexcept SystemExit as end:\n"
            "    assert not end.code, end.code\n"
        )
    else:
        code += "import lastiterate\n"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)], ids=["import", "--help", "--version"])
def test_what_is_light_stays_light(arguments: tuple[str, ...]) -> None:
    loaded = _loaded_by(*arguments)
    assert "lastiterate" in loaded
    assert not loaded & {"sympy", "torch", "scipy", "matplotlib", "z3", "flint", "numpy"}


def test_the_listed_packages_are_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {"lastiterate"}
    folders |= {
        ".".join(["lastiterate", *init.parent.relative_to(base).parts])
        for base, below in [(ROOT, list(LAYERS)), (ROOT / "src/lastiterate", ["commands"])]
        for folder in below
        for init in (base / folder).rglob("__init__.py")
    }
    assert len(listed) == len(set(listed))
    assert set(listed) == folders


def test_every_folder_of_code_is_a_package() -> None:
    assert [str(path) for path in _sources() if not (path.parent / "__init__.py").exists()] == []


def test_links_are_relative() -> None:
    for layer in LAYERS:
        link = ROOT / "src/lastiterate" / layer
        assert link.is_symlink()
        assert str(link.readlink()) == f"../../{layer}"


def _modules() -> list[str]:
    return [
        "lastiterate",
        *(found.name for found in pkgutil.walk_packages(lastiterate.__path__, "lastiterate.")),
    ]


def _undocumented(name: str) -> Iterator[str]:
    """The module and its public names, as far as they have no docstring."""
    module = import_module(name)
    if not inspect.getdoc(module):
        yield name
    for public, member in vars(module).items():
        defined = (inspect.isclass(member) or inspect.isroutine(member)) and member.__module__ == name
        if public.startswith("_") or not defined:
            continue
        if not _has_doc(member):
            yield f"{name}.{public}"
        if inspect.isclass(member):
            for method, value in vars(member).items():
                routine = inspect.isroutine(value) or isinstance(value, property)
                if routine and not method.startswith("_") and not _inherited_doc(member, method):
                    yield f"{name}.{public}.{method}"


@pytest.mark.parametrize("package", ["", *LAYERS, "opacus"])
def test_public_names_are_documented(package: str) -> None:
    if package in ("runtime", "opacus"):
        pytest.importorskip("torch")
        pytest.importorskip("opacus")
    names = [name for name in _modules() if _package(name) == package]
    assert names
    assert [one for name in names for one in _undocumented(name)] == []


def _package(name: str) -> str:
    """The folder or module that needs the packages of an extra, or nothing."""
    second = name.partition(".")[2].partition(".")[0]
    return second if second in (*LAYERS, "opacus") else ""


def _has_doc(member: object) -> bool:
    """Written by hand: a dataclass without a docstring shows its signature instead."""
    text = inspect.getdoc(member) or ""
    return bool(text) and not text.startswith(f"{getattr(member, '__name__', '')}(")


def _inherited_doc(owner: type, method: str) -> str:
    docs = (inspect.getdoc(vars(base)[method]) for base in owner.__mro__ if method in vars(base))
    return next((doc for doc in docs if doc), "")


def test_the_lazy_names_are_the_public_names() -> None:
    for name in lastiterate.__all__:
        assert getattr(lastiterate, name).__name__ == name
    assert set(lastiterate.__all__) <= set(dir(lastiterate))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lastiterate.nothing


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("pyright",), marks=pytest.mark.nightly),
        ("mypy",),
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--check", "--no-cache", "."),
    ],
    ids=" ".join,
)
def test_the_tools_have_nothing_to_say(command: tuple[str, ...]) -> None:
    tool = Path(sys.executable).parent / command[0]
    if not tool.exists():
        pytest.skip(f"{command[0]} is not installed; it is in the extras dev and nightly")
    done = subprocess.run(  # noqa: S603
        [str(tool), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
