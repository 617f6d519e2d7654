"""``lastiterate list``: the claims of the ledger, without deciding them."""

import click

from lastiterate.commands.completion import papers
from lastiterate.commands.output import say_json
from lastiterate.proofs_checks import lock
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.proofs_checks.verdict import Verdict


@click.command(name="list")
@click.option("--paper", metavar="ID", shell_complete=papers, help="Only the claims of this paper.")
@click.option(
    "--verdict", type=click.Choice(Verdict), help="Only the claims to which the lock file gives this verdict."
)
@click.option("--dominance", "compare", is_flag=True, help="List instead which theorem claims less than which.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(paper: str | None, verdict: Verdict | None, compare: bool, as_json: bool) -> None:
    r"""List the claims of the ledger, one a line: key and title.

    With --dominance: every two theorems for full batches that speak of common runs, the smallest and the largest
    ratio of what they claim there, and whether a claim of the ledger proves the relation.

    \b
    Examples:
      lastiterate list --paper chien_li --verdict REFUTED
      lastiterate list --json
    """
    if compare and as_json:
        raise click.UsageError("--dominance is a list for readers, got --json too; leave one out.")
    if compare:
        _dominance(paper)
        return
    claims = of_ledger(paper=paper)
    if verdict is not None:
        expected = lock.read_lock()
        claims = tuple(c for c in claims if c.key in expected and expected[c.key].verdict is verdict)
    if as_json:
        say_json([{"key": c.key, "title": c.title, "paper": c.key.split("/")[0]} for c in claims])
        return
    width = max((len(claim.key) for claim in claims), default=0)
    for claim in claims:
        click.echo(f"{claim.key:{width}}  {claim.title}")


def _dominance(paper: str | None) -> None:
    from lastiterate.proofs_checks.dominance import dominance

    if paper is not None:
        raise click.UsageError("--dominance compares the theorems of all papers, got --paper too; leave one out.")
    for pair in dominance():
        one, other = (f"{t.name}{'' if t.usable else f' ({t.kind})'}" for t in (pair.lower, pair.higher))
        click.echo(
            f"{one:38} {pair.relation:6}  {other:38} ratio {pair.least:.3g} to {pair.greatest:.3g}; {pair.basis}"
            f"{'; hypotheses contained' if pair.contained else ''}"
        )
