"""``lastiterate verify``: check the certificate of a bound, with the file that knows nothing of how it was made."""

from pathlib import Path

import click

from lastiterate.commands.output import progress, say_json


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--theorem", "by_theorem", is_flag=True, help="Evaluate the derived theorem behind it, too.")
@click.pass_context
def command(ctx: click.Context, certificate: Path, as_json: bool, by_theorem: bool) -> None:
    r"""Check a CERTIFICATE that `bound --certificate` wrote: everything but the choices in it is computed again.

    Exit status 0 where it holds, 1 where it is refused. The file proofs_checks/certificates/checker.py does the same
    alone. With --theorem all that the derived theorem supposes of each step is evaluated at the numbers of the
    certificate, and gives its cost.

    \b
    Examples:
      lastiterate verify run.json
      lastiterate bound run.toml --delta 1e-5 --certificate run.json && lastiterate verify run.json
    """
    import json

    from lastiterate.numeric.errors import InputError
    from lastiterate.proofs_checks.certificates.checker import Refused, check

    if by_theorem:
        from lastiterate.proofs_checks.engines.replay import replay_theorems
        from lastiterate.symbolic.kernel.judgement import UnprovedError

    try:
        text = certificate.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"A certificate needs to be readable text, got {certificate}: {error}; check it.") from error
    try:
        holds, said = True, check(text)
    except Refused as refused:
        holds, said = False, str(refused)
    told: list[dict[str, object]] = []
    if holds and by_theorem:
        try:
            with progress("evaluating the derived theorem"):
                found = replay_theorems(json.loads(text))
            holds = not any(one.exceeds() for one in found)
            told = [{"theorem": one.theorem, "cost": one.cost, "stated": one.stated} for one in found]
        except UnprovedError as error:
            holds, said = False, str(error)
    if as_json:
        say_json({"holds": holds, "statement": said} | ({"theorems": told} if by_theorem else {}))
    else:
        click.echo(f"{'holds' if holds else 'refused'}: {said}")
        for one in told:
            click.echo(f"{one['theorem']}: mu^2 = {one['cost']:.7g} of the shifts, stated {one['stated']:.7g}")
        if holds and by_theorem and not told:
            click.echo("No derived theorem is about one path of this certificate.")
    ctx.exit(0 if holds else 1)
