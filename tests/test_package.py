"""The package as a whole: what imports what, what is documented, and that the tools have nothing to say."""

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
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

_LONG, _TOO_LONG = 330, 420
_FORBIDDEN = {"eval", "exec", "parse_expr", "print", "__import__"}
_NEEDS_TORCH = {"lastiterate.runtime", "lastiterate.opacus"}


def _sources() -> list[Path]:
    folders = [*LAYERS, "src/lastiterate/commands"]
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [*found, *sorted((ROOT / "src/lastiterate").glob("*.py"))]


_SOURCES = pytest.mark.parametrize("path", _sources(), ids=lambda path: str(path.relative_to(ROOT)))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            if node.module == "lastiterate":
                yield from (f"lastiterate.{alias.name}" for alias in node.names)


def _at_import(tree: ast.Module) -> ast.Module:
    """The module without the bodies of its functions and without what is there for type checkers alone."""

    class Outer(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

        def visit_If(self, node: ast.If) -> ast.AST | None:
            checking = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            return None if checking else self.generic_visit(node)

    return Outer().visit(tree)  # type: ignore[no-any-return]


@_SOURCES
def test_import_direction(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    if layer not in LAYERS:
        return
    tree = ast.parse(path.read_text())
    anywhere = {name.split(".")[1] for name in _imports(tree) if name.startswith("lastiterate.")}
    at_import = {name.split(".")[1] for name in _imports(_at_import(tree)) if name.startswith("lastiterate.")}
    assert at_import & set(LAYERS) <= LAYERS[layer] | {layer}
    assert "commands" not in anywhere
    if layer != "proofs_checks":  # proofs_checks may import runtime, lazily
        assert anywhere & set(LAYERS) <= LAYERS[layer] | {layer}
    assert not set(LAYERS) & {name.split(".")[0] for name in _imports(tree)}


@_SOURCES
def test_only_runtime_imports_torch(path: Path) -> None:
    packages = {name.split(".")[0] for name in _imports(ast.parse(path.read_text()))}
    if path.relative_to(ROOT).parts[0] != "runtime":
        assert not packages & {"torch", "torchvision"}


@_SOURCES
def test_nothing_is_evaluated_unpickled_or_printed(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert not {name.split(".")[0] for name in _imports(tree)} & {"pickle", "dill", "cloudpickle", "shelve"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        plain = isinstance(node.func, ast.Name) or name == "parse_expr"
        assert not (plain and name in _FORBIDDEN), f"{name} at line {node.lineno}"
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name == "sympify":  # strict refuses text, which it would otherwise evaluate
            assert given.get("strict") == "True", f"sympify at line {node.lineno}"
        if name == "load" and ast.unparse(node.func) == "torch.load":
            assert given.get("weights_only") == "True", f"torch.load at line {node.lineno}"


@_SOURCES
def test_files_are_short(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= _TOO_LONG
    if lines > _LONG:
        warnings.warn(f"{path.relative_to(ROOT)} has {lines} lines; a file has one purpose", stacklevel=1)


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
    for path in _sources():
        assert (path.parent / "__init__.py").exists(), path.parent


def test_links_are_relative() -> None:
    for layer in LAYERS:
        link = ROOT / "src/lastiterate" / layer
        assert link.is_symlink()
        assert str(link.readlink()) == f"../../{layer}"


def _modules() -> list[str]:
    return ["lastiterate", *(found.name for found in pkgutil.walk_packages(lastiterate.__path__, "lastiterate."))]


@pytest.mark.parametrize("name", _modules())
def test_public_names_are_documented(name: str) -> None:
    if name.startswith(tuple(_NEEDS_TORCH)):
        pytest.importorskip("torch")
    if "opacus" in name:
        pytest.importorskip("opacus")
    module = import_module(name)
    assert inspect.getdoc(module), name
    for public in getattr(module, "__all__", []):
        member = getattr(module, public)
        if not (inspect.isclass(member) or inspect.isroutine(member)):
            continue
        assert _has_doc(member), f"{name}.{public}"
        if inspect.isclass(member) and member.__module__ == name:
            for method, value in vars(member).items():
                if not method.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                    assert _inherited_doc(member, method), f"{name}.{public}.{method}"


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


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--check", "--no-cache", "."),
        ("mypy",),
        ("pyright",),
    ],
    ids=" ".join,
)
def test_the_tools_have_nothing_to_say(command: tuple[str, ...]) -> None:
    tool = Path(sys.executable).parent / command[0]
    if not tool.exists():
        pytest.skip(f"{command[0]} is not installed; it is in the dev extra")
    done = subprocess.run(  # noqa: S603
        [str(tool), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
