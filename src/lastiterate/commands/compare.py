"""``lastiterate compare``: every theorem that applies to a run, side by side."""

import json
from dataclasses import asdict
from pathlib import Path

import click


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--order", type=float, default=2.0, show_default=True, help="order alpha > 1")
@click.option("--json", "as_json", is_flag=True, help="print a JSON list")
def command(run_file: Path, order: float, as_json: bool) -> None:
    """Show what each theorem claims for the run in RUN_FILE, with its verdict in the ledger."""
    from lastiterate.numeric.compare import compare
    from lastiterate.numeric.run_file import load_run
    from lastiterate.proofs_checks.lock import read_lock

    run, assumption = load_run(run_file)
    rows = compare(run, assumption, order=order)
    verdicts = {key: str(entry.verdict) for key, entry in read_lock().items()}
    if as_json:
        click.echo(json.dumps([asdict(row) | {"verdict": verdicts.get(row.claim)} for row in rows]))
        return
    from rich.console import Console
    from rich.table import Table

    from lastiterate.numeric.balls import printed_up

    table = Table("theorem", "epsilon", "verdict", "a bound", title=f"Renyi epsilon at order {order:g}")
    for row in rows:
        usable = "yes" if row.usable else "no"
        table.add_row(row.title, printed_up(row.epsilon), verdicts.get(row.claim, "not in the ledger"), usable)
    Console().print(table)
