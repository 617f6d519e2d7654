"""The command ``lastiterate schema``."""

import json
from functools import lru_cache
from typing import Any

import click

from lastiterate.commands.printed import PRINTED
from lastiterate.numeric.errors import InputError, suggestion


@lru_cache(maxsize=1)
def schemas() -> dict[str, dict[str, Any]]:
    """Command -> the JSON schema (draft 2020-12) of what it prints."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class Schema(GenerateJsonSchema):
        """Schemas in which numbers may be "inf", "-inf" or "nan", and records have only the named keys."""

        def float_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ARG002
            return {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}

        def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
            return super().typed_dict_schema(schema) | {"additionalProperties": False}

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            return super().dataclass_schema(schema) | {"additionalProperties": False}

    return {
        name: {"$schema": Schema.schema_dialect}
        | TypeAdapter(record).json_schema(schema_generator=Schema, mode="serialization")
        for name, record in PRINTED.items()
    }


@click.command(name="schema")
@click.argument("name", metavar="COMMAND", required=False)
def command(name: str | None) -> None:
    r"""Print the JSON schema of what COMMAND prints with --json, or the schemas of all commands.

    Numbers that JSON cannot represent are the strings "inf", "-inf" and "nan".

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
