"""The reference: the command line as it prints its help, and the pages that mkdocstrings fills from docstrings."""

from itertools import groupby

import click
from click.testing import CliRunner

import lastiterate
from lastiterate.__main__ import cli

__all__ = ["claim_page", "command_help", "python_page"]

_OPACUS = ("accountant.LastIterateAccountant", "projection.project", "projection.Projection")


def command_help() -> str:
    """Every command with its help, as ``lastiterate COMMAND --help`` prints it."""
    parts = [f"## lastiterate\n\n{_help()}"]
    parts += [f"## {name}\n\n{_help(name)}" for name in cli.list_commands(click.Context(cli))]
    return "\n".join(parts)


def _help(*names: str) -> str:
    done = CliRunner().invoke(cli, [*names, "--help"], prog_name="lastiterate", terminal_width=80)
    if done.exit_code:
        raise RuntimeError(f"no help for {names}: {done.output}")
    return f"```text\n{done.output}```\n"


def python_page() -> str:
    """Every public name of the package, under the module that defines it, and what Opacus users import."""
    parts = ["# Python\n\nAll of these are imported from `lastiterate`; each is loaded when it is first used.\n"]
    homes = {name: lastiterate._HOME[name] for name in lastiterate.__all__}
    for home, group in groupby(sorted(homes, key=lambda name: (_place(homes[name]), name)), key=homes.__getitem__):
        parts.append(f"## {home.removeprefix('lastiterate.')}\n")
        parts += [f"::: {home}.{name}\n" for name in group]
    parts.append("## opacus\n\nThese are imported from `lastiterate.opacus`; see [train with privacy](../train.md).\n")
    parts += [f"::: lastiterate.runtime.opacus.{name}\n" for name in _OPACUS]
    return "\n".join(parts)


def _place(home: str) -> int:
    return list(dict.fromkeys(lastiterate._HOME.values())).index(home)


def claim_page() -> str:
    """The records that a claim is made of."""
    modules = ("claim", "checks")
    return "# Claims\n\n" + "\n".join(
        f"::: lastiterate.symbolic.{module}\n    options:\n      heading_level: 2\n" for module in modules
    )
