"""``lastiterate advise``: does releasing only the last iterate help a planned run, from when on, and what would."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lastiterate.commands.output import console, progress, say_json

if TYPE_CHECKING:
    from lastiterate.numeric.advice import Advice

_EXAMPLES = """\b
Examples:
  lastiterate advise run.toml --delta 1e-5
  lastiterate advise run.toml --delta 1e-5 --plot advice.png
"""


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--delta", type=float, default=1e-5, show_default=True, help="Delta of all numbers.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Picture to write, .png, with its CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, delta: float, plot: Path | None, as_json: bool) -> None:
    """Advise on the run in RUN_FILE before it is trained: what its last iterate costs beside all iterates, and why.

    It also says from which step on the last iterate costs less, after how many steps one might stop and release
    everything at the same cost, and what a domain, weight decay, fewer steps or another order of batches would change.
    """
    from lastiterate.numeric.advice import advise
    from lastiterate.numeric.errors import InputError
    from lastiterate.numeric.run_file import load_run

    if plot is not None and plot.suffix != ".png":
        raise InputError(f"A picture is a PNG, got plot={plot}; name it {plot.stem}.png.")
    run, assumption = load_run(run_file)
    with progress("advice, bounds") as told:
        advice = advise(run, assumption, delta=delta, on_bound=told)
    files: tuple[Path, ...] = ()
    if plot is not None:
        from lastiterate.numeric.figures.advice import figure_advice
        from lastiterate.numeric.plotting.canvas import write_figure

        with progress("picture, lengths") as told:
            drawn = figure_advice(advice, on_length=told)
        files = write_figure(drawn, plot.parent, plot.stem)
    if as_json:
        say_json(advice.as_dict() | ({"files": [str(path) for path in files]} if files else {}))
        return
    _say(advice)
    for path in files:
        click.echo(str(path))


def _say(advice: "Advice") -> None:
    from rich.table import Table

    from lastiterate.numeric.rounding import printed_down, printed_up

    below = f", at least {printed_down(advice.below)}" if advice.below > 0 else ""
    click.echo(f"epsilon at delta = {advice.delta:g}, {advice.run.steps} steps")
    click.echo(f"last iterate    {printed_up(advice.found.epsilon)}{below} (route {advice.found.route})")
    click.echo(f"all iterates    {printed_up(advice.composed)}")
    click.echo(
        f"linear losses   {advice.linear:.6g}, an estimate and no bound: what they alone would lose, without a domain"
    )
    click.echo(f"\n{advice.in_words}")
    table = Table("change", "last iterate", "all iterates", "", title="What would change it")
    for knob in advice.knobs:
        gain = 1 - knob.epsilon / advice.found.epsilon
        said = f"{gain:.0%} less" if gain >= 0.01 else "no help"
        table.add_row(knob.change, printed_up(knob.epsilon), printed_up(knob.composed), said)
    console().print(table)
    click.echo("A narrow domain, decay and few steps also hold the model back: look at what they do to its accuracy.")
