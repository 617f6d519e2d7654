"""The command ``lastiterate sweep``."""

from pathlib import Path

import click

from lastiterate.commands.output import OutputFile, progress, say_json


@click.command()
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--out", type=OutputFile(), required=True, help="Table to write, .csv or .parquet.")
@click.option("--jobs", default=-1, show_default=True, help="Worker processes; -1 for one per core.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the file and the row count.")
def command(sweep_file: Path, out: Path, jobs: int, as_json: bool) -> None:
    """Bound every run of the grid in SWEEP_FILE.

    Computed rows are kept in OUT.rows.jsonl. An interrupted sweep continues from this file, and a finished
    sweep returns at once. A changed sweep is refused until the file is deleted. A refused row states the
    reason.
    """
    from lastiterate.numeric.sweeps import load_sweep, sweep

    plan = load_sweep(sweep_file)
    with progress("rows") as told:
        table = sweep(plan.run, plan.assumption, plan.axes, out=out, jobs=jobs, on_row=told)
    if as_json:
        say_json({"out": str(out), "rows": plan.rows, "refused": table.refused})
        return
    refused = f", {table.refused} of them without a number (see the error column)" if table.refused else ""
    click.echo(f"{out}: {plan.rows} rows{refused}")
