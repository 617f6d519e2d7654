"""Arguments and options of the commands, from ``options.toml``, and what a command asks of them."""

import tomllib
from collections.abc import Callable
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.output import OutputFile
from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.run import NoisySGD


def _steps(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"The list needs whole numbers separated by commas, got {text!r}; write for example 3,4,20."
        ) from None


_TYPES: Final[dict[str, Any]] = {
    "path": click.Path(path_type=Path),
    "existing": click.Path(exists=True, path_type=Path),
    "file": click.Path(path_type=Path, dir_okay=False),
    "folder": click.Path(path_type=Path, file_okay=False),
    "output": OutputFile(),
    "integer": int,
    "number": float,
    "positive": click.FloatRange(min=0, min_open=True),
    "steps": _steps,
}
_OPTIONS: Final = tomllib.loads((resources.files("lastiterate.commands") / "options.toml").read_text("utf-8"))


def command_of(command: str, **more: dict[str, Any]) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function; ``more`` adds what is computed to the options of these parameters."""
    params = [
        _parameter(name, _OPTIONS["shared"].get(name, {}) | own, more)
        for name, own in _OPTIONS[command].items()
    ]
    return click.command(command, params=params)


def _parameter(name: str, said: dict[str, Any], more: dict[str, dict[str, Any]]) -> click.Parameter:
    if not name.startswith("-"):
        return click.Argument([name], type=_TYPES.get(said.pop("type", "")), **said)
    called = said.pop("name", name.lstrip("-").replace("-", "_"))
    said["type"] = click.Choice(said.pop("choices")) if "choices" in said else _TYPES.get(said.get("type", ""))
    said |= more.get(called, {})
    return click.Option([name, called], **{"show_default": "default" in said} | said)


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
