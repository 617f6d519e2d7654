"""``lastiterate participation``: what the samples of each batch lose, or one that is used at listed steps."""

from pathlib import Path

import click

from lastiterate.commands.output import progress, say_json

_EXAMPLES = """\b
Examples:
  lastiterate participation run.toml --delta 1e-5
  lastiterate participation run.toml --steps 3,4,20 --batch-sizes 8,8,16 --delta 1e-5
  lastiterate participation run.toml --at-most 2 --order 2 --json
"""


def _numbers(name: str, text: str | None) -> list[int] | None:
    from lastiterate.numeric.errors import InputError

    try:
        return None if text is None else [int(one) for one in text.split(",")]
    except ValueError:
        raise InputError(f"--{name} needs whole numbers with commas between, got {text!r}; write 3,4,20.") from None


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--steps", help="Steps that use the sample, from 0, rising, with commas between.")
@click.option("--batch-sizes", help="With --steps the size of the batch at each of them; by default that of the run.")
@click.option("--position", type=int, help="The batch of an epoch that holds the sample, from 0.")
@click.option("--at-most", type=int, help="How often the sample is used at most, at steps that are not known.")
@click.option("--order", type=float, help="Order alpha > 1 of Renyi numbers.")
@click.option("--delta", type=float, help="Delta of (epsilon, delta) numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    run_file: Path,
    steps: str | None,
    batch_sizes: str | None,
    position: int | None,
    at_most: int | None,
    order: float | None,
    delta: float | None,
    as_json: bool,
) -> None:
    """Bound what the last iterate of the run in RUN_FILE tells of a sample, by the steps that use it.

    Without --steps, --position and --at-most it is the samples of every batch of an epoch: the worst, nine of ten, the
    median and the best. `python examples/figures ours/position` draws them.
    """
    from lastiterate.numeric.participation import ByPosition, Participation, by_position, participation
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    uses, sizes = _numbers("steps", steps), _numbers("batch-sizes", batch_sizes)
    found: ByPosition | Participation
    if all(one is None for one in (uses, sizes, position, at_most)):
        with progress("batches of an epoch"):
            found = by_position(run, assumption, order=order, delta=delta)
    else:
        found = participation(
            run, assumption, steps=uses, batch_sizes=sizes, position=position, at_most=at_most, order=order, delta=delta
        )
    if as_json:
        say_json(found.as_dict())
    else:
        click.echo(str(found.table()))
