"""``lastiterate figure``: a figure of a paper, or one of ours, as a PNG with the CSV it is drawn from."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.completion import figures
from lastiterate.commands.measuring import require_torch, resuming
from lastiterate.commands.output import progress, say_json
from lastiterate.numeric.errors import InputError, suggestion

if TYPE_CHECKING:
    from lastiterate.numeric.plotting.drawing import Figure


@dataclass(frozen=True)
class _Entry:
    """One figure, as in figures.toml.

    Attributes:
        shows: what is in it, in a few words.
        draws: "module:function" below ``lastiterate``; the function returns the figure.
        quick: arguments of the function for a rough picture in seconds.
        measures: whether a network is trained for it.
    """

    shows: str
    draws: str
    quick: Mapping[str, Any] = field(default_factory=dict)
    measures: bool = False


def _read() -> Mapping[str, _Entry]:
    text = (resources.files("lastiterate.commands") / "figures.toml").read_text(encoding="utf-8")
    return {name: _Entry(**entry) for name, entry in tomllib.loads(text).items()}


FIGURES: Final = _read()
"""Every figure by its name."""


def measured_2a(
    inits: int = 20, folder: Path | None = None, on_part: Callable[[int, int], None] = lambda _done, _parts: None
) -> "Figure":
    """Figure 2 (a) of Chien & Li, with a network measured from this many initialisations."""
    from lastiterate.commands.estimate import measured
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.figures.chien_li_2a import ORDERS, figure_2a
    from lastiterate.runtime.workloads.loading import load_workload

    folder = folder or cache_folder("estimate")
    draws = ("uniform", "log-uniform")
    iris = load_workload("builtin:iris-mlp")
    uniform, logarithmic = (measured(iris, ORDERS, {"inits": inits, "draw": one}, folder, on_part) for one in draws)
    return figure_2a(uniform, logarithmic)


@click.command()
@click.argument("name", required=False, shell_complete=figures)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to.")
@click.option("--quick", is_flag=True, help="A rough picture much sooner: fewer points, fewer and shorter runs.")
@resuming("measurements")
@click.option("--list", "listed", is_flag=True, help="Say which figures there are.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files, or of all figures, as JSON.")
def command(name: str | None, out: Path | None, quick: bool, resume: Path | None, listed: bool, as_json: bool) -> None:
    r"""Write the figure NAME as a PNG and the CSV behind it.

    Figures that measure a network take a few minutes; what was measured is kept for the next time, also where
    the command is interrupted. The others take seconds.

    \b
    Examples:
      lastiterate figure --list
      lastiterate figure chien_li/1a --out figures
    """
    if listed and as_json:
        say_json({"files": [], "figures": {key: entry.shows for key, entry in FIGURES.items()}})
        return
    if listed:
        width = max(map(len, FIGURES))
        for key, entry in FIGURES.items():
            click.echo(f"{key:{width}}  {entry.shows}{' (measures a network)' if entry.measures else ''}")
        return
    if name is None:
        raise InputError("A figure needs a name, got none; choose one of lastiterate figure --list.")
    if name not in FIGURES:
        hint = suggestion(name, FIGURES, f"choose one of {', '.join(FIGURES)}.", cutoff=0.5)
        raise InputError(f"There is no such figure, got name={name}; {hint}")
    if out is None:
        raise InputError("A figure needs a folder to be written to, got out=None; name one with --out.")
    entry = FIGURES[name]
    module, _, function = entry.draws.partition(":")
    budget = dict(entry.quick) if quick else {}
    if entry.measures:
        require_torch()
        budget["folder"] = resume
    with progress(f"figure {name}, parts") as told:
        budget |= {"on_part": told} if entry.measures else {}
        figure = getattr(import_module(f"lastiterate.{module}"), function)(**budget)

    from lastiterate.numeric.plotting.canvas import write_figure

    written = write_figure(figure, out, name.replace("/", "-"))
    if as_json:
        say_json({"files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)
