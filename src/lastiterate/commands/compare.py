"""The command ``lastiterate compare``."""

from dataclasses import asdict
from pathlib import Path

import click

from lastiterate.commands.output import progress, say_json


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--order", type=float, default=2.0, show_default=True, help="Order alpha > 1.")
@click.option(
    "--theorem", "name", help="Name of one theorem: show its verdict, the reason, and what is true instead."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(run_file: Path, order: float, name: str | None, as_json: bool) -> None:
    """Show what each theorem claims for the run in RUN_FILE, with its verdict in the ledger.

    The first row is a certified lower bound; the last column is the ratio to this bound. The papers state
    Renyi divergences, so theorems are compared at an order; for an epsilon at a delta, use bound.
    """
    from lastiterate.numeric.compare import compare
    from lastiterate.numeric.run_file import load_run
    from lastiterate.proofs_checks.lock import read_lock
    from lastiterate.proofs_checks.stated import theorem

    run, assumption = load_run(run_file)
    if name is not None:
        stated = theorem(name, run, assumption, order=order)
        if as_json:
            say_json(asdict(stated))
        else:
            click.echo(str(stated))
        return
    with progress("theorems"):
        rows = compare(run, assumption, order=order)
    verdicts = {key: str(entry.verdict) for key, entry in read_lock().items()}
    if as_json:
        say_json([row.as_dict() | {"verdict": verdicts.get(row.claim)} for row in rows])
    else:
        click.echo(str(rows.table().beside("verdict", [verdicts.get(row.claim, "") for row in rows])))
