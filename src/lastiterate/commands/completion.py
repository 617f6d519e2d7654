"""What the shell completes: keys of claims, papers, figures, workloads, theorems; each looked up when it is asked for.

A broken installation completes nothing: a shell has no place for an error.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = ["claims", "commands", "figures", "papers", "theorems", "workloads"]

_Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _of(names: Callable[[], Iterable[str]]) -> _Completer:
    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            return [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        except ImportError:
            return []

    return complete


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"lastiterate.{module}"), name)


def _claims() -> Iterable[str]:
    return [claim.key for claim in _found("symbolic.ledger", "CLAIMS")]


def _papers() -> Iterable[str]:
    return list(_found("proofs_checks.selection", "papers")(_found("symbolic.ledger", "CLAIMS")))


def _figures() -> Iterable[str]:
    return list(_found("commands.figure", "FIGURES"))


def _workloads() -> Iterable[str]:
    known: Mapping[str, object] = _found("runtime.workloads.loading", "BUILTIN")
    return [f"builtin:{name}" for name in known]


def _theorems() -> Iterable[str]:
    return list(_found("numeric.printed.catalogue", "THEOREMS"))


def _commands() -> Iterable[str]:
    return list(_found("__main__", "COMMANDS"))


claims, papers, figures, workloads, theorems, commands = map(
    _of, (_claims, _papers, _figures, _workloads, _theorems, _commands)
)
