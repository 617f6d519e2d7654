"""Guards, each switched off by an edit of its text: a false claim then stands, or a true one falls.

The module is executed anew with the edit, and what other modules have taken from it is replaced.
"""

import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from lastiterate.symbolic import ledger

ROOT = Path(__file__).parents[3]


class Guard(NamedTuple):
    """An edit of a file that switches a guard off, and the planted claim that then stands or falls."""

    path: str
    old: str
    new: str
    by: str


@cache
def guards() -> list[Guard]:
    """The guards of the table."""
    return [
        Guard(**entry) for entry in tomllib.loads(Path(__file__).with_name("guards.toml").read_text())["guard"]
    ]


def edited(guard: Guard) -> str:
    """The text of the module without the guard."""
    text = (ROOT / guard.path).read_text(encoding="utf-8")
    found = text.count(guard.old)
    assert found == 1, f"{guard.path} needs the guard's text {guard.old!r} once, got {found} times; rewrite it."
    return text.replace(guard.old, guard.new)


def switch_off(guard: Guard) -> None:
    """Do without the guard in this process, for good, and forget what was answered with it."""
    ledger.claims()
    name = "lastiterate." + guard.path.removesuffix(".py").replace("/", ".")
    module = import_module(name)
    before = {key: value for key, value in vars(module).items() if getattr(value, "__module__", None) == name}
    exec(compile(edited(guard), str(ROOT / guard.path), "exec"), vars(module))  # noqa: S102
    after = {id(value): vars(module)[key] for key, value in before.items()}
    for other in [one for key, one in sys.modules.items() if key.startswith("lastiterate")]:
        for key, value in list(vars(other).items()):
            if id(value) in after and other is not module:
                vars(other)[key] = after[id(value)]
            elif hasattr(value, "cache_clear"):
                value.cache_clear()
