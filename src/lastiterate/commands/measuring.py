"""Tables, checks and run files of the commands that train networks."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.run import NoisySGD


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
