"""The command ``lastiterate advise``."""

from pathlib import Path

import click

from lastiterate.commands.output import progress, say_result

_EXAMPLES = """\b
Example:
  lastiterate advise run.toml --delta 1e-5
"""


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--delta", type=float, default=1e-5, show_default=True, help="Delta for every epsilon.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run_file: Path, delta: float, as_json: bool) -> None:
    """Advise on the run in RUN_FILE before training: what its last iterate costs compared with all iterates.

    The advice gives the reason, the step from which the last iterate costs less, the number of steps after
    which releasing all iterates costs the same, and the effects of a domain, weight decay, fewer steps or
    another order of batches.
    """
    from lastiterate.numeric.advice import advise
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress("advice"):
        advice = advise(run, assumption, delta=delta)
    say_result(advice, str(advice), as_json=as_json)
    if not as_json:
        click.echo("A narrow domain, decay and few steps may also cost accuracy: check it, too.")
