"""``lastiterate figure``: a figure of a paper, or one of ours, as a PNG with the CSV it is drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.completion import figures
from lastiterate.commands.measuring import require_torch
from lastiterate.commands.output import say_json
from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.drawing import Figure

__all__ = ["FIGURES", "command"]


@dataclass(frozen=True)
class _Entry:
    """One figure.

    Attributes:
        shows: what is in it, in a few words.
        home: "module:function" below ``lastiterate``; the function returns the figure.
        quick: arguments of the function for a rough picture in seconds.
        measures: whether a network is trained for it.
    """

    shows: str
    home: str
    quick: Mapping[str, Any] = field(default_factory=dict)
    measures: bool = False


FIGURES: Final[Mapping[str, _Entry]] = MappingProxyType(
    {
        "chien_li/1a": _Entry(
            "one bound for smooth, convex and strongly convex losses",
            "numeric.figures.chien_li_1:figure_1a",
            {"count": 12},
        ),
        "chien_li/1b": _Entry(
            "strongly convex losses, against earlier bounds", "numeric.figures.chien_li_1:figure_1b", {"count": 12}
        ),
        "chien_li/2a": _Entry(
            "Hölder gradients with constants measured on Iris",
            "commands.figure:measured_2a",
            {"inits": 1},
            measures=True,
        ),
        "d2p2/2": _Entry(
            "accuracy, loss and privacy loss of five optimisers, on digits",
            "runtime.figures.d2p2_2:figure_2",
            {"epochs": 2, "seeds": 1, "places": 2},
            measures=True,
        ),
        "d2p2/3": _Entry(
            "the same on breast cancer",
            "runtime.figures.d2p2_2:figure_3",
            {"epochs": 4, "seeds": 2, "places": 2},
            measures=True,
        ),
        "d2p2/4": _Entry(
            "accuracy against noise", "runtime.figures.d2p2_4:figure_4", {"epochs": 1, "seeds": 1}, measures=True
        ),
        "d2p2/5": _Entry("privacy loss against noise", "runtime.figures.d2p2_4:figure_5", {"epochs": 1}, measures=True),
        "d2p2/6": _Entry(
            "batch size and reduced dimension",
            "runtime.figures.d2p2_6:figure_6",
            {"epochs": 1, "seeds": 1},
            measures=True,
        ),
        "liang/1": _Entry(
            "what several works say of one run on a bounded domain",
            "numeric.figures.liang_1:figure_1",
            {"count": 5, "below": 2},
        ),
        "liang/2": _Entry(
            "attacks, certified bounds and Theorem 3.3 for several batch sizes",
            "runtime.figures.liang_2:figure_2",
            {"last": 2, "runs": 20},
            measures=True,
        ),
        "liang/3": _Entry(
            "attacks, certified bounds and Theorem 3.4 for several diameters of the domain",
            "runtime.figures.liang_3:figure_3",
            {"last": 4, "attacked_until": 1, "runs": 20},
            measures=True,
        ),
        "liang/4": _Entry(
            "training loss for several batch sizes",
            "runtime.figures.liang_4:figure_4",
            {"epochs": 1, "trials": 2, "rates": (0.03, 0.1)},
            measures=True,
        ),
        "liang/5": _Entry(
            "the trivial bound of a bounded domain, theirs and ours",
            "numeric.figures.liang_5:figure_5",
            {"count": 5, "below": 2},
        ),
        "ours/assumptions": _Entry(
            "what each assumption on the losses buys, from above and below",
            "numeric.figures.ours_assumptions:figure_assumptions",
            {"count": 12, "below": 4},
        ),
        "ours/path": _Entry("the cheapest paths of the shift program", "numeric.figures.ours_path:figure_path"),
    }
)
"""Every figure by its name."""


def measured_2a(inits: int = 20, folder: Path | None = None) -> "Figure":
    """Figure 2 (a) of Chien & Li, with a network measured from this many initialisations."""
    from lastiterate.commands.estimate import loaded, measured
    from lastiterate.runtime.figures.chien_li_2a import ORDERS, figure_2a

    draws = ("uniform", "log-uniform")
    iris = loaded("builtin:iris-mlp")
    uniform, logarithmic = (measured(iris, ORDERS, {"inits": inits, "draw": draw}, folder) for draw in draws)
    return figure_2a(uniform, logarithmic)


@click.command()
@click.argument("name", required=False, shell_complete=figures)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to.")
@click.option("--quick", is_flag=True, help="A rough picture in seconds: fewer points, fewer and shorter runs.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of finished measurements; the user's cache folder if left out.",
)
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
        near = get_close_matches(name, FIGURES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(FIGURES)}."
        raise InputError(f"There is no such figure, got name={name}; {hint}")
    if out is None:
        raise InputError("A figure needs a folder to be written to, got out=None; name one with --out.")
    entry = FIGURES[name]
    module, _, function = entry.home.partition(":")
    budget = dict(entry.quick) if quick else {}
    if entry.measures:
        require_torch()
        budget["folder"] = resume
    figure = getattr(import_module(f"lastiterate.{module}"), function)(**budget)

    from lastiterate.numeric.canvas import write_figure

    written = write_figure(figure, out, name.replace("/", "-"))
    if as_json:
        say_json({"files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)
