"""Shell completion of keys of claims and of papers, looked up on request."""

import json
from importlib import resources

import click


def list_keys(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Keys of the ledger that begin so, by its lock file: importing the claims takes seconds, and a key press waits."""
    lock = resources.files("lastiterate.proofs_checks") / "verdicts.lock.json"
    return [key for key in json.loads(lock.read_text(encoding="utf-8")) if key.startswith(incomplete)]


def list_papers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The papers of these keys."""
    return list(dict.fromkeys(key.partition("/")[0] for key in list_keys(context, parameter, incomplete)))
