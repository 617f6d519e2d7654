"""The command ``lastiterate statement``."""

import json
from pathlib import Path

import click

from lastiterate.commands.options import command_of
from lastiterate.commands.output import progress


@command_of("statement")
def command(
    source: Path,
    order: float | None,
    delta: float | None,
    form: str,
    as_json: bool,
    out: Path | None,
    **declared: str | None,
) -> None:
    """State the privacy of a run for an auditor or a model card."""
    from lastiterate.numeric.bound import bound
    from lastiterate.numeric.errors import InputError
    from lastiterate.numeric.run_file import load_run
    from lastiterate.numeric.store import write_whole
    from lastiterate.proofs_checks.certificates.statements import write_statement

    if source.suffix == ".json":
        if order is not None or delta is not None:
            raise InputError(
                f"A certificate already has its order or delta, got order={order}, delta={delta}; leave them out."
            )
        try:
            certificate = json.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"A certificate must be a readable JSON file, got {source}: {error}; check the file."
            ) from error
    else:
        run, assumption = load_run(source)
        with progress("bound"):
            certificate = bound(run, assumption, order=order, delta=delta).certificate(weaker=True)
    given = {name: said for name, said in declared.items() if said is not None}
    text = write_statement(certificate, given, "json" if as_json else form)
    if out is None:
        click.echo(text, nl=False)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, text.encode())
