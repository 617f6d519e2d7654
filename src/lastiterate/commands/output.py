"""Output of the commands: JSON, a progress bar, a silent exit if stdout is closed."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lastiterate.numeric.errors import Interrupted

if TYPE_CHECKING:
    from rich.console import Console

    from lastiterate.numeric.display import Displayed


def say_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON value; `schemas` describes it."""
    click.echo(dumped(value, indent))


def dumped(value: Any, indent: int | None) -> str:
    """String that `say_json` prints."""
    from lastiterate.numeric.display import plain

    return json.dumps(plain(value), indent=indent, allow_nan=False)


def say_result(found: "Displayed", text: str, *, as_json: bool) -> None:
    """Print a result as JSON or as text."""
    if as_json:
        say_json(found.as_dict())
    else:
        click.echo(text)


def print_table(title: str, headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table."""
    from lastiterate.numeric.display import TextTable

    click.echo(str(TextTable(title, tuple(headings), tuple(rows))))


def say_text(template: str, **values: Any) -> None:
    """Print a text from a template in this folder; the filters ``up`` and ``down`` round numbers outwards."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from lastiterate.numeric.rounding import printed_down, printed_up

    folder = PackageLoader("lastiterate.commands", ".")
    texts = Environment(loader=folder, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - text
    texts.filters |= {"up": printed_up, "down": printed_down}
    click.echo(texts.get_template(template).render(values).rstrip())


def end_quietly() -> NoReturn:
    """Exit silently because stdout is closed, as under ``| head``; the exit status is 141."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


def console() -> "Console":
    """Console for tables, with WIDTH columns if there is no terminal."""
    from rich.console import Console

    from lastiterate.numeric.display import WIDTH

    made = Console()
    return made if made.is_terminal else Console(width=WIDTH)


class OutputFile(click.Path):
    """Option type of an output file; a file that cannot be written fails before the work begins."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, if its folder or the nearest existing folder above can be written."""
        from lastiterate.numeric.store import writing

        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        option = param.opts[0] if param else "the file"
        folder = next(folder for folder in path.absolute().parents if folder.exists())
        with writing(f"{option} needs", f"{option.strip('-')}={path}"), TemporaryFile(dir=folder):
            return path


@contextmanager
def progress(words: str, kept: str = "") -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yields the function to call with (finished, all).

    Raises:
        Interrupted: after Ctrl-C, with a sentence that ends with ``kept``, unless ``kept`` is "".
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(words, total=None)

        def tell(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        try:
            yield tell
        except KeyboardInterrupt:
            if not kept:
                raise
            done, total = (int(number or 0) for number in (bar.tasks[0].completed, bar.tasks[0].total))
            raise Interrupted(f"{done} of {total} {kept}") from None
