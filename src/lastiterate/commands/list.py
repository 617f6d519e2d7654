"""``lastiterate list``: the claims of the ledger, without deciding them."""

import click

from lastiterate.proofs_checks.selection import select
from lastiterate.symbolic.ledger import CLAIMS

__all__ = ["command"]


@click.command(name="list")
@click.option("--paper", metavar="ID", help="Only the claims of this paper.")
def command(paper: str | None) -> None:
    """List the claims of the ledger, one a line: key and title."""
    claims = select(CLAIMS, paper=paper)
    width = max((len(claim.key) for claim in claims), default=0)
    for claim in claims:
        click.echo(f"{claim.key:{width}}  {claim.title}")
