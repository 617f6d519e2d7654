"""Shell completion of keys of claims, papers, workloads and theorems, looked up when asked for."""

import json
from collections.abc import Callable, Iterable
from importlib import import_module, resources
from typing import Any

import click
from click.shell_completion import CompletionItem

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _among(names: Callable[[], Iterable[str]]) -> _Complete:
    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin with what is typed."""
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def _keys() -> Iterable[str]:
    """The ledger's keys by its lock file: importing the claims takes seconds, and a key press waits."""
    lock = resources.files("lastiterate.proofs_checks") / "verdicts.lock.json"
    return dict(json.loads(lock.read_text(encoding="utf-8")))


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"lastiterate.{module}"), name)


def _workloads() -> Iterable[str]:
    """The built-in ones; nothing without torch."""
    try:
        return [f"builtin:{name}" for name in _found("runtime.workloads.loading", "BUILTIN")]
    except ImportError:
        return []


claims = _among(_keys)
papers = _among(lambda: dict.fromkeys(key.partition("/")[0] for key in _keys()))
workloads = _among(_workloads)
theorems = _among(lambda: _found("numeric.published.theorems", "THEOREMS"))
commands = _among(lambda: _found("__main__", "COMMANDS"))
