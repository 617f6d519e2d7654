"""The command ``lastiterate participation``."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from lastiterate.commands.output import progress, say_result


def _numbers(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"The list needs whole numbers separated by commas, got {text!r}; write for example 3,4,20."
        ) from None


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option(
    "--steps",
    type=_numbers,
    metavar="STEPS",
    help="Steps that use the sample, counted from 0, in increasing order, such as 3,4,20.",
)
@click.option("--position", type=int, help="Batch of an epoch that holds the sample, counted from 0.")
@click.option("--order", type=float, help="Order alpha > 1 of Renyi bounds.")
@click.option("--delta", type=float, help="Delta of (epsilon, delta) bounds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, order: float | None, delta: float | None, as_json: bool, **uses: Any) -> None:
    """Bound what the last iterate of the run in RUN_FILE reveals about a sample, given the steps that use it.

    Without --steps and --position, the loss is bounded for the samples of every batch of an epoch: the
    worst, the 90 % quantile, the median and the best.
    """
    from lastiterate.numeric.participation import by_position, participation
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress("batches of an epoch"):
        every = all(one is None for one in uses.values())
        find: Any = by_position if every else partial(participation, **uses)
        found = find(run, assumption, order=order, delta=delta)
    say_result(found, str(found.table()), as_json=as_json)
