"""Imports among the modules of formulas, derivations and claims."""

import ast
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

_ROOT: Final = "lastiterate.symbolic"
_STAY: Final = (f"{_ROOT}.kernel", f"{_ROOT}.ledger")
"""The kernel holds no formula but by a function, whose code is changed in its place."""


@cache
def _imported() -> Mapping[str, frozenset[str]]:
    """Module -> what it names in its imports, modules and what is in them."""
    folder = Path(import_module(_ROOT).__path__[0])
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join((_ROOT, *(parts[:-1] if parts[-1] == "__init__" else parts)))
        nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)]
        named = {node.module for node in nodes} | {f"{node.module}.{one.name}" for node in nodes for one in node.names}
        found[name] = frozenset(map(str, named))
    return found


@cache
def dependents(module: str) -> tuple[str, ...]:
    """The modules that import a module, directly or by others that would be built anew with it."""
    reached = {module}
    while True:
        more = {
            name
            for name, named in _imported().items()
            if named & reached and name not in reached and not name.startswith(_STAY)
        }
        if not more:
            return tuple(sorted(reached - {module}))
        reached |= more
