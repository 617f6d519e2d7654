"""The command ``lastiterate new-claim``."""

from importlib import resources
from pathlib import Path

import click

from lastiterate.commands.options import command_of
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import write_whole, writing


@command_of("new-claim")
def command(path: Path) -> None:
    """Write a commented module of claims to PATH, for ``pytest --lastiterate`` to decide."""
    if path.suffix != ".py":
        raise InputError(f"A module of claims needs a name that ends in .py, got path={path}; add the ending.")
    if path.exists() or path.is_symlink():
        raise InputError(f"A new module needs a path that does not exist yet, got path={path}; choose another.")
    text = (resources.files("lastiterate.commands") / "claim.py.template").read_bytes()
    with writing("A new module needs", f"path={path}", "choose another"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    click.echo(path)
