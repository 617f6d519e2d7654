"""The command ``lastiterate verify``."""

import json
from pathlib import Path

import click

from lastiterate.commands.options import command_of
from lastiterate.commands.output import say_json


@command_of("verify")
@click.pass_context
def command(ctx: click.Context, certificate: Path, target: Path | None, as_json: bool) -> None:
    """Check a CERTIFICATE that `bound --certificate` wrote: all except the proof's free choices is recomputed."""
    from lastiterate.numeric.errors import InputError
    from lastiterate.numeric.store import write_whole
    from lastiterate.proofs_checks.certificates.checker import Refused, check

    try:
        text = certificate.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"A certificate must be readable text, got {certificate}: {error}; check the file."
        ) from error
    record = None
    try:
        if "lastiterate statement" in text:  # loads far more than the checker
            from lastiterate.proofs_checks.certificates.statements import read, verified

            record = read(text)
        holds, said = True, check(text) if record is None else verified(text, record)
    except Refused as refused:
        holds, said = False, str(refused)
    if holds and target is not None:
        from lastiterate.proofs_checks.certificates.coq import coq_file

        if target.suffix != ".v" or not target.stem.isidentifier():
            raise InputError(
                f"A Coq file needs a name of letters, digits and _ that ends in .v, got {target}; rename it."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, coq_file(record["certificate"] if record else json.loads(text), said).encode())
    if as_json:
        say_json({"holds": holds, "statement": said})
    else:
        click.echo(f"{'holds' if holds else 'refused'}: {said}")
    ctx.exit(0 if holds else 1)
