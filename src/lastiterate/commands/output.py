"""Output of the commands: JSON that any reader takes, and a quiet end where the reader goes away."""

import json
import os
import sys
from math import isfinite
from typing import Any, NoReturn

import click


def plain(value: Any) -> Any:
    """The same with every number that JSON does not know as a text: "inf", "-inf" or "nan".

    >>> plain({"epsilon": float("inf"), "window": (0, 5)})
    {'epsilon': 'inf', 'window': [0, 5]}
    """
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def say_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON value; its schema is in `schemas`, under the command's name."""
    click.echo(dumped(value, indent))


def dumped(value: Any, indent: int | None) -> str:
    """The text that `say_json` prints."""
    return json.dumps(plain(value), indent=indent, allow_nan=False)


def end_quietly() -> NoReturn:
    """Nobody reads stdout any more, as under ``| head``: end as other tools do, without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)
