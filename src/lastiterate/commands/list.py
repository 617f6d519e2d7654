"""The command ``lastiterate list``."""

from pathlib import Path

import click

from lastiterate.commands.claims import book, folder_argument, paper_option
from lastiterate.commands.output import progress, say_json
from lastiterate.proofs_checks.verdict import Verdict


@click.command(name="list")
@folder_argument
@paper_option
@click.option(
    "--verdict", type=click.Choice(Verdict), help="Only the claims to which the lock file gives this verdict."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(path: Path | None, paper: str | None, verdict: Verdict | None, as_json: bool) -> None:
    """List the claims of the ledger, or of the folder or file PATH: key, locked verdict and title."""
    with progress("building the claims"):
        chosen = book(path)
        expected = {key: entry.verdict for key, entry in chosen.expected().items()}
        found = [(c, expected.get(c.key)) for c in chosen.choose(paper=paper)]
    if verdict is not None:
        found = [(claim, one) for claim, one in found if one is verdict]
    if as_json:
        say_json(
            [{"key": c.key, "title": c.title, "paper": c.key.split("/")[0], "verdict": one} for c, one in found]
        )
    else:
        width = max((len(claim.key) for claim, _ in found), default=0)
        verdicts = 9 if all(one for _, one in found) else 10
        for claim, one in found:
            click.echo(f"{claim.key:{width}}  {one or 'not locked':{verdicts}}  {claim.title}")
        if any(one is None for _, one in found):
            click.echo("`lastiterate check --update-lock` decides the claims and locks the verdicts.", err=True)
