"""Shell completion of claim keys and papers."""

import json
from importlib import resources

import click


def list_keys(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Keys of the ledger with this prefix, from the lock file, because importing claims takes seconds."""
    lock = resources.files("lastiterate.proofs_checks") / "verdicts.lock.json"
    return [key for key in json.loads(lock.read_text(encoding="utf-8")) if key.startswith(incomplete)]


def list_papers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Papers of the keys with this prefix."""
    return list(dict.fromkeys(key.partition("/")[0] for key in list_keys(context, parameter, incomplete)))
