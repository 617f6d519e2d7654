"""``lastiterate advise``: does releasing only the last iterate help a planned run, from when on, and what would."""

from pathlib import Path

import click

from lastiterate.commands.output import OutputFile, progress, say_json

_EXAMPLES = """\b
Examples:
  lastiterate advise run.toml --delta 1e-5
  lastiterate advise run.toml --delta 1e-5 --plot advice.png
"""


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--delta", type=float, default=1e-5, show_default=True, help="Delta of all numbers.")
@click.option("--plot", type=OutputFile(".png"), help="Picture to write, .png, with its CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, delta: float, plot: Path | None, as_json: bool) -> None:
    """Advise on the run in RUN_FILE before it is trained: what its last iterate costs beside all iterates, and why.

    It also says from which step on the last iterate costs less, after how many steps one might stop and release
    everything at the same cost, and what a domain, weight decay, fewer steps or another order of batches would change.
    """
    from lastiterate.numeric.advice import advise
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress("advice, bounds") as told:
        advice = advise(run, assumption, delta=delta, on_bound=told)
    files: tuple[Path, ...] = ()
    if plot is not None:
        from lastiterate.commands.pictures import figure_advice
        from lastiterate.numeric.plotting import write_figure

        with progress("picture, lengths") as told:
            drawn = figure_advice(advice, on_length=told)
        files = write_figure(drawn, plot.parent, plot.stem)
    if as_json:
        say_json(advice.as_dict() | ({"files": [str(path) for path in files]} if files else {}))
        return
    click.echo(str(advice))
    click.echo("A narrow domain, decay and few steps also hold the model back: look at what they do to its accuracy.")
    for path in files:
        click.echo(str(path))
