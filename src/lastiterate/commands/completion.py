"""Shell completion of keys of claims, papers, figures, workloads and theorems, looked up when asked for."""

import json
from collections.abc import Iterable
from importlib import import_module, resources
from typing import Any

import click
from click.shell_completion import CompletionItem


def claims(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Keys of claims of the ledger."""
    return _among(_keys(), incomplete)


def papers(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Papers of the ledger."""
    return _among(dict.fromkeys(key.partition("/")[0] for key in _keys()), incomplete)


def figures(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of figures."""
    return _among(_found("commands.figure", "FIGURES"), incomplete)


def workloads(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Built-in workloads; nothing without torch."""
    try:
        known = _found("runtime.workloads.loading", "BUILTIN")
    except ImportError:
        return []
    return _among((f"builtin:{name}" for name in known), incomplete)


def theorems(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of printed theorems."""
    return _among(_found("numeric.published.registry", "THEOREMS"), incomplete)


def commands(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of commands."""
    return _among(_found("__main__", "COMMANDS"), incomplete)


def _keys() -> Iterable[str]:
    """The ledger's keys by its lock file: importing the claims takes seconds, and a key press waits."""
    lock = resources.files("lastiterate.proofs_checks") / "verdicts.lock.json"
    return dict(json.loads(lock.read_text(encoding="utf-8")))


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"lastiterate.{module}"), name)


def _among(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
