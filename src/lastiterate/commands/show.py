"""The command ``lastiterate show``."""

from pathlib import Path

import click

from lastiterate.commands.claims import book, folder_argument
from lastiterate.commands.output import progress, say_json
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import mending
from lastiterate.proofs_checks.verdict import STANDS
from lastiterate.symbolic import ledger


@click.command(name="show")
@click.argument("key")
@folder_argument
@click.option("--no-cache", is_flag=True, help="Decide the claim again, without the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict with its evidence as one JSON object.")
def command(key: str, path: Path | None, no_cache: bool, as_json: bool) -> None:
    """Show the claim KEY of the ledger, or of the folder or file PATH: statement, failure, evidence."""
    with progress(f"deciding {key}") as told:
        chosen = book(path)
        claims = chosen.choose(keys=(key,))
        (report,) = run(claims, jobs=1, cache=None if no_cache else chosen.cache, on_claim=told)
    if as_json:
        say_json(report.to_json() | {"rejected": report.rejected}, indent=1)
        return
    near = () if report.verdict in STANDS else ledger.naming(key) if path is None else chosen.choose()
    click.echo(describe(claims[0], report, mending(near).get(key, ())))
