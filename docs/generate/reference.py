"""The reference: the command line as it prints its help, and the pages that mkdocstrings fills from docstrings."""

import click
from click.testing import CliRunner
from subjects import SUBJECTS

from lastiterate.__main__ import cli

__all__ = ["claim_page", "command_help", "subject_pages"]


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


def subject_pages() -> dict[str, str]:
    """Path -> page of every subject: its public names, each under the name by which it is imported."""
    return {f"reference/{subject.path}.md": subject.page() for subject in SUBJECTS}


def claim_page() -> str:
    """The records of which a claim consists."""
    modules = ("claim", "checks")
    return "# Claims\n\n" + "\n".join(f"::: lastiterate.symbolic.{module}\n" for module in modules)
