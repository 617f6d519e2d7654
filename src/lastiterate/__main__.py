"""The command line, ``lastiterate`` or ``python -m lastiterate``.

Exit status: 0 success, 1 a claim failed, 2 bad input, 130 interrupted, 141 if stdout was closed by its reader.
"""

import atexit
import gc
import os
import sys
import tomllib
import warnings
from importlib import import_module, resources
from inspect import getdoc
from typing import Final

import click
from click.shell_completion import CompletionItem

from lastiterate.commands.output import end_quietly
from lastiterate.numeric.errors import InputError, Interrupted, suggestion

_TEXTS: Final = tomllib.loads((resources.files("lastiterate.commands") / "commands.toml").read_text("utf-8"))
COMMANDS: Final[dict[str, str]] = {name: text["line"] for name, text in _TEXTS.items()}
"""Commands in the order of the help, each with its line there."""


def _with_texts(name: str, command: click.Command) -> click.Command:
    """Append its texts to a command's help: what it does, and examples and files, which click does not rewrap."""
    text = _TEXTS[name]
    command.help = "\n\n".join(filter(None, (getdoc(command.callback), text.get("about"))))
    examples = "\n  ".join(["Examples:", *text["examples"].splitlines()])
    command.epilog = "\n\n".join(f"\b\n{part}" for part in (examples, *text.get("more", ())))
    return command


class _LazyGroup(click.Group):
    """Group that lists each command in one line, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            own = cmd_name.replace("-", "_")
            shared = _TEXTS[cmd_name].get("module")
            module = import_module(f"lastiterate.commands.{shared or own}")
            return _with_texts(cmd_name, getattr(module, f"{own}_command" if shared else "command"))
        hint = suggestion(cmd_name, COMMANDS, f"choose one of {', '.join(COMMANDS)}.")
        raise click.UsageError(f"A known command is needed, got command={cmd_name}; {hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands, without importing them, and then options."""
        named = [
            CompletionItem(name, help=line) for name, line in COMMANDS.items() if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> object:
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # before click ends with status 1, which means that a claim failed
            end_quietly()
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExamples:\n  lastiterate check\n  lastiterate bound run.toml\n  lastiterate estimate builtin:iris-mlp",
)
@click.version_option(package_name="lastiterate")
@click.pass_context
def cli(context: click.Context) -> None:
    """Machine-checked theory for private training when only the last iterate is released."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _no_option(error: click.NoSuchOption) -> str:
    params = error.ctx.command.params if error.ctx else ()
    known = [name for one in params for name in one.opts if name.startswith("--")]
    hint = suggestion(error.option_name, known, f"the options are {', '.join(known)}.", cutoff=0.75)
    return f"A known option is needed, got {error.option_name}; {hint}"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input leads to one sentence on stderr and exit status 2."""
    os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")  # with its default of 1000, Sympy repeats much work
    gc.set_threshold(100_000, 20, 50)  # expressions are many and rarely cyclic
    atexit.register(gc.freeze)  # else Python scans all of them at exit, which takes up to a second
    for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
        warnings.simplefilter("ignore", kind)  # warnings between libraries are not for the user of a command
    try:
        status = cli.main(args=arguments, prog_name="lastiterate", standalone_mode=False)
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        message = _no_option(error) if isinstance(error, click.NoSuchOption) else message
        click.echo(f"error: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort, Interrupted) as interrupt:
        kept = str(interrupt) or "what was finished is kept"
        click.echo(f"interrupted: {kept}; the same command resumes from there.", err=True)
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
