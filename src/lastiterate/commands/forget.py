"""The command ``lastiterate forget``."""

from pathlib import Path
from typing import Any

import click

from lastiterate.commands.output import say_result


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--steps", type=int, help="Clean steps, on the data without the sample.")
@click.option("--epsilon", type=float, help="Target epsilon: find the number of clean steps that meets it.")
@click.option("--retrained", is_flag=True, help="Apply the target to the comparison with a retrained model.")
@click.option("--order", type=float, help="Order alpha > 1 of Renyi bounds.")
@click.option("--delta", type=float, help="Delta of (epsilon, delta) bounds.")
@click.option("--step-size", type=float, help="Step size of the clean steps; by default that of the last step.")
@click.option("--noise-std", type=float, help="Noise of the clean steps; by default that of the last step.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    run_file: Path, steps: int | None, epsilon: float | None, retrained: bool, as_json: bool, **target: Any
) -> None:
    """Bound what the last iterate of the run in RUN_FILE reveals about a deleted sample after clean steps."""
    from lastiterate.numeric.errors import InputError
    from lastiterate.numeric.forgetting import forgetting, steps_to_forget
    from lastiterate.numeric.run_file import load_run

    if (steps is None) == (epsilon is None):
        raise InputError(
            f"forget needs a number of steps or a target, got steps={steps}, epsilon={epsilon}; pass exactly one of "
            "--steps and --epsilon."
        )
    run, assumption = load_run(run_file)
    if epsilon is None:
        found = forgetting(run, assumption, steps or 0, **target)
    else:
        found = steps_to_forget(run, assumption, epsilon=epsilon, retrained=retrained, **target)
    say_result(found, str(found.table()), as_json=as_json)
