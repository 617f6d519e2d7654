"""The command ``lastiterate verify``."""

from pathlib import Path

import click

from lastiterate.commands.output import say_json


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, certificate: Path, as_json: bool) -> None:
    r"""Check a CERTIFICATE that `bound --certificate` wrote: everything except the proof's free choices is recomputed.

    The exit status is 0 if the certificate holds, 1 if it is refused. The check needs only the
    file proofs_checks/certificates/checker.py.

    \b
    Examples:
      lastiterate verify run.json
      lastiterate bound run.toml --delta 1e-5 --certificate run.json && lastiterate verify run.json
    """
    from lastiterate.numeric.errors import InputError
    from lastiterate.proofs_checks.certificates.checker import Refused, check

    try:
        text = certificate.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"A certificate must be readable text, got {certificate}: {error}; check the file."
        ) from error
    try:
        holds, said = True, check(text)
    except Refused as refused:
        holds, said = False, str(refused)
    if as_json:
        say_json({"holds": holds, "statement": said})
    else:
        click.echo(f"{'holds' if holds else 'refused'}: {said}")
    ctx.exit(0 if holds else 1)
