"""Shell completion of keys of claims and of papers, looked up on request."""

import json
from collections.abc import Callable, Iterable
from importlib import resources

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


claims = _among(_keys)
papers = _among(lambda: dict.fromkeys(key.partition("/")[0] for key in _keys()))
