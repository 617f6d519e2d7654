"""``lastiterate forget``: what clean steps leave of a deleted sample."""

from pathlib import Path
from typing import Any

import click

from lastiterate.commands.output import say_result

_EXAMPLES = """\b
Examples:
  lastiterate forget run.toml --steps 20 --delta 1e-5
  lastiterate forget run.toml --steps 20 --order 2 --json
"""


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--steps", type=int, required=True, help="Clean steps, on the data without the sample.")
@click.option("--order", type=float, help="Order alpha > 1 of Renyi numbers.")
@click.option("--delta", type=float, help="Delta of (epsilon, delta) numbers.")
@click.option("--step-size", type=float, help="Step size of the clean steps; by default that of the last step.")
@click.option("--noise-std", type=float, help="Noise of the clean steps; by default that of the last step.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, steps: int, as_json: bool, **target: Any) -> None:
    """Bound what the last iterate still reveals of a deleted sample of the run in RUN_FILE, after clean steps."""
    from lastiterate.numeric.forgetting import forgetting
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    found = forgetting(run, assumption, steps, **target)
    say_result(found, str(found.table()), as_json=as_json)
