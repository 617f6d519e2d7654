"""Options and checks shared by the commands that train networks."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.run import NoisySGD


option: Final = partial(click.option, show_default=True)
"""An option whose help ends with its default."""


def computing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options for device, precision, memory, threads and seed."""
    options = (
        option("--device", default="cpu", help="Device: cpu, cuda or cuda:INDEX."),
        option("--dtype", default="float64", help="Precision: float64 or float32."),
        click.option(
            "--memory", type=int, help="Maximum bytes per chunk; by default, chosen from the available memory."
        ),
        option("--threads", default=1, help="Number of CPU threads."),
        option("--seed", default=0, help="Seed of all random numbers."),
    )
    for one in reversed(options):
        command = one(command)
    return command


from_checkpoint: Final = click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    help="Weights to start from: saved by torch or safetensors, the index of weights in several files, or their "
    "folder. Nothing in a file is executed.",
)
resuming: Final = click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for finished parts; by default, the user's cache folder.",
)
"""Options that load weights into a network, and name the folder of results."""


def print_table(title: str, headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table."""
    from lastiterate.numeric.display import TextTable

    click.echo(str(TextTable(title, tuple(headings), tuple(rows))))


def require_torch() -> None:
    """Raise an `InputError` if torch is not installed."""
    if find_spec("torch") is None:
        raise InputError(
            "Training a network needs torch, which is not installed; run pip install 'lastiterate[runtime]'."
        )


def not_given(option: str) -> bool:
    """True if an option has its default value because the user has not given it."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT


def read_run_file(path: Path) -> tuple["NoisySGD", "Assumption"]:
    """The run and the assumption of a run file; clipping alone if the file has no [assumption]."""
    from lastiterate.numeric.run_file import described_tables, read_toml

    tables = read_toml(path)
    if "assumption" not in tables:
        click.echo(
            f"{path} has no [assumption], so only clipping is assumed of the losses.",
            err=True,
        )
        tables["assumption"] = {"kind": "clipped"}
    return described_tables(tables, str(path))
