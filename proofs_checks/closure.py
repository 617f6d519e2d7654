"""The import closure of modules, read from their syntax, and a hash of what it says.

Imports inside functions count as the others do. A string that names a data file beside its module brings the file, and
one that is the key of a claim of the ledger the module in which that claim stands. Comments, docstrings and layout are
no part of the hash.
"""

import ast
import sys
import sysconfig
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from re import compile as compile_
from typing import Final

from lastiterate.symbolic import ledger

_PACKAGE: Final = "lastiterate"
_CITING: Final = tuple([_PACKAGE, "symbolic", folder] for folder in ("derivations", "kernel"))
"""Packages whose derivations rest on claims that they cite by key; elsewhere a key says where to read."""
_KEY: Final = compile_(r"[a-z0-9_]+(/[a-z0-9_]+)+")
_DATA: Final = compile_(r"[\w-]+(\.[\w-]+)*\.(toml|json|csv|txt|npy|npz)")
_LIBRARIES: Final = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@dataclass(frozen=True)
class _Text:
    """The part of a module's text that verdicts may depend on.

    Attributes:
        digest: hash of its syntax tree, without docstrings.
        imports: names of modules, or of what a module holds.
        strings: those that may name a file or a claim.
    """

    digest: str
    imports: frozenset[str]
    strings: frozenset[str]


@lru_cache(maxsize=4096)
def _read(text: bytes) -> _Text:
    tree = ast.parse(text)
    imports, strings, entries = set[str](), set[str](), set[object]()
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Dict):
            entries |= {key.value for key in node.keys if isinstance(key, ast.Constant)}  # these name what is defined
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    named = frozenset(one for one in strings - entries if _DATA.fullmatch(one) or _is_key(one))
    return _Text(sha256(ast.dump(tree).encode()).hexdigest(), frozenset(imports), named)


def _is_key(text: str) -> bool:
    return bool(_KEY.fullmatch(text)) and text.partition("/")[0] in ledger.ORDER


def _is_text(node: ast.stmt) -> bool:
    """Tell whether a statement is nothing but a string: a docstring, or one below a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def modules(roots: Iterable[str | Path], without: Collection[str] = ()) -> dict[str, Path]:
    """The modules of the closure with their files, by name: the package's, and those of a reader's own repository.

    Args:
        roots: names of modules, or files.
        without: packages that are left out, and with them what they import.
    """
    found: dict[str, Path] = {}
    ahead = [*roots]
    while ahead:
        root = ahead.pop()
        path = root if isinstance(root, Path) else _file(root)
        if path is None or str(root) in found or f"{root}.".startswith(tuple(f"{name}." for name in without)):
            continue
        found[str(root)] = path
        said = _read(path.read_bytes())
        parts = str(root).split(".") if isinstance(root, str) else []
        ahead += [*said.imports, *(".".join(parts[:length]) for length in range(1, len(parts)))]
        if parts[:3] in _CITING:
            ahead += [f"{_PACKAGE}.symbolic.{paper}.{module}" for paper, module in ledger.places(*said.strings)]
    return found


def _file(name: str) -> Path | None:
    """The file of a module of the package, or of one that a reader's own module has loaded from beside it."""
    first, *rest = name.split(".")
    if first == _PACKAGE:
        bases = [Path(folder).joinpath(*rest) for folder in import_module(_PACKAGE).__path__]
        tried = (path for base in bases for path in (base / "__init__.py", base.with_suffix(".py")))
        return next((path for path in tried if path.is_file()), None)
    path = Path(getattr(sys.modules.get(name), "__file__", None) or "")
    return path if path.suffix == ".py" and not any(path.is_relative_to(folder) for folder in _LIBRARIES) else None


def fingerprint(roots: Iterable[str | Path], without: Collection[str] = ()) -> str:
    """Hash of what the modules of a closure say and of their data files; arguments as of `modules`."""
    found = sha256()
    for name, path in sorted(modules(roots, without).items()):
        said = _read(path.read_bytes())
        found.update(f"{name}={said.digest};".encode())
        for file in sorted(path.parent / one for one in said.strings if _DATA.fullmatch(one)):
            if file.is_file():
                found.update(file.read_bytes() + b"\0")
    return found.hexdigest()
