"""``lastiterate schema``: what the JSON of each command looks like, as a JSON schema."""

import json
from importlib import resources

import click

from lastiterate.commands.completion import commands
from lastiterate.numeric.errors import InputError, suggestion

__all__ = ["command", "schemas"]


def schemas() -> dict[str, dict[str, object]]:
    """Command -> the JSON schema (draft 2020-12) of what it prints under --json."""
    text = (resources.files("lastiterate.commands") / "schemas.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, object]] = json.loads(text)
    shared = found.pop("$defs")
    return {name: {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": shared} | one
            for name, one in found.items()}  # fmt: skip


@click.command(name="schema")
@click.argument("name", metavar="COMMAND", required=False, shell_complete=commands)
def command(name: str | None) -> None:
    r"""Print the JSON schema of what COMMAND prints under --json, or of every command.

    Numbers that JSON does not know are the texts "inf", "-inf" and "nan".

    \b
    Examples:
      lastiterate schema bound
      lastiterate bound run.toml --json | check-jsonschema --schemafile <(lastiterate schema bound) -
    """
    known = schemas()
    if name is None:
        click.echo(json.dumps(known, indent=2))
        return
    if name not in known:
        hint = suggestion(name, known, f"choose one of {', '.join(known)}.")
        raise InputError(f"schema needs a command that prints JSON, got command={name}; {hint}")
    click.echo(json.dumps(known[name], indent=2))
