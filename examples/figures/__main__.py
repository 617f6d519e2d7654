"""Draw figures of the papers, and ours, each as PNG, SVG and PDF with the CSV that it is drawn from.

    python examples/figures --list
    python examples/figures chien_li/1a ours/path --out figures
    python examples/figures --quick --out figures        # all of them, with fewer points and shorter runs

Figures that measure or train a network take minutes; finished parts are kept, so that an interrupted run goes on where
it stopped. The others take seconds.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
from plotting import Figure, write_figure

from lastiterate.commands.output import progress
from lastiterate.numeric.errors import InputError


@dataclass(frozen=True)
class Entry:
    """An entry of figures.toml.

    Attributes:
        shows: what the figure shows.
        draws: "module:function"; the function returns the figure.
        quick: arguments of the function for a rough picture in seconds.
        measures: True if a network is measured or trained.
    """

    shows: str
    draws: str
    quick: Mapping[str, Any] = field(default_factory=dict)
    measures: bool = False

    def drawn(self, **arguments: Any) -> Figure:
        """The figure."""
        module, _, function = self.draws.partition(":")
        figure: Figure = getattr(import_module(module), function)(**arguments)
        return figure


FIGURES: Final = {
    name: Entry(**entry)
    for name, entry in tomllib.loads(
        Path(__file__).with_name("figures.toml").read_text(encoding="utf-8")
    ).items()
}
"""Every figure by its name."""


@click.command(help=__doc__.replace("\n\n    python", "\n\n\b\n    python"))
@click.argument("names", nargs=-1, type=click.Choice(tuple(FIGURES)), metavar="[NAME]...")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default="figures", help="Folder to write to."
)
@click.option("--quick", is_flag=True, help="Rough pictures much sooner: fewer points, fewer and shorter runs.")
@click.option("--list", "listed", is_flag=True, help="List the figures.")
def main(names: tuple[str, ...], out: Path, quick: bool, listed: bool) -> None:
    """Draw the figures of these names, or all."""
    for name in names or FIGURES:
        entry = FIGURES[name]
        if listed:
            click.echo(f"{name:17}{entry.shows}{' (measures a network)' * entry.measures}")
            continue
        try:
            with progress(f"figure {name}, parts") as told:
                figure = entry.drawn(
                    **entry.quick if quick else {}, **{"on_part": told} if entry.measures else {}
                )
            written = write_figure(figure, out, name.replace("/", "-"))
        except InputError as error:
            raise click.ClickException(str(error)) from error
        for path in written:
            click.echo(path)


if __name__ == "__main__":
    main()
