"""``lastiterate figure``: a figure of a paper as a PNG, with the CSV it is drawn from."""

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.drawing import Figure

__all__ = ["FIGURES", "command"]


def _1a(_inits: int) -> "Figure":
    from lastiterate.numeric.figures import figure_1a

    return figure_1a()


def _1b(_inits: int) -> "Figure":
    from lastiterate.numeric.figures import figure_1b

    return figure_1b()


def _2a(inits: int) -> "Figure":
    from lastiterate.commands.estimate import measured
    from lastiterate.runtime.figures import ORDERS, figure_2a

    draws = ("uniform", "log-uniform")
    uniform, logarithmic = (measured("builtin:iris-mlp", ORDERS, {"inits": inits, "draw": draw}) for draw in draws)
    return figure_2a(uniform, logarithmic)


FIGURES: dict[str, Callable[[int], "Figure"]] = {"chien_li/1a": _1a, "chien_li/1b": _1b, "chien_li/2a": _2a}
"""Every figure by its name; each takes the number of initialisations that a measurement uses."""


@click.command()
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to.")
@click.option("--inits", default=20, show_default=True, help="Initialisations measured (chien_li/2a only).")
def command(name: str, out: Path, inits: int) -> None:
    r"""Write the figure NAME as a PNG and the CSV behind it.

    NAME is chien_li/1a, chien_li/1b or chien_li/2a. The last one measures a network first (some minutes, kept
    for the next time); the others take seconds.

    \b
    Example:
      lastiterate figure chien_li/1a --out figures
    """
    if name not in FIGURES:
        near = get_close_matches(name, FIGURES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(FIGURES)}."
        raise InputError(f"There is no such figure, got name={name}; {hint}")
    figure = FIGURES[name](inits)

    from lastiterate.numeric.drawing import write_figure

    for path in write_figure(figure, out, name.replace("/", "-")):
        click.echo(path)
