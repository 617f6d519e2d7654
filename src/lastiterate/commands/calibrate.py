"""The command ``lastiterate calibrate``."""

from pathlib import Path
from typing import Any

import click

from lastiterate.commands.output import progress, say_result


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--epsilon", type=float, required=True, help="Target epsilon.")
@click.option("--order", type=float, help="Order alpha > 1 of a Renyi target.")
@click.option("--delta", type=float, help="Delta of an (epsilon, delta) target.")
@click.option(
    "--vary",
    default="noise_std",
    show_default=True,
    help="What to change: noise_std, steps, diameter or batch_size.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, vary: str, as_json: bool, **target: Any) -> None:
    """Adjust one number of the run in RUN_FILE until the run just meets the target, erring on the safe side."""
    from lastiterate.numeric.calibrate import calibrate
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress(vary):
        found = calibrate(run, assumption, vary=vary, **target)
    say_result(found, str(found), as_json=as_json)
