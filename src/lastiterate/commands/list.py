"""``lastiterate list``: the claims of the ledger with the verdicts of the lock file, without deciding them."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click
from rich.table import Table

from lastiterate.commands.claims import book, folder_argument
from lastiterate.commands.completion import papers
from lastiterate.commands.output import console, progress, say_json
from lastiterate.proofs_checks.selection import counted, paper_title
from lastiterate.proofs_checks.verdict import Verdict


@click.command(name="list")
@folder_argument
@click.option("--paper", metavar="ID", shell_complete=papers, help="Only the claims of this paper.")
@click.option(
    "--verdict", type=click.Choice(Verdict), help="Only the claims to which the lock file gives this verdict."
)
@click.option("--counts", "count", is_flag=True, help="Count the claims of each paper by verdict, ours apart.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(path: Path | None, paper: str | None, verdict: Verdict | None, count: bool, as_json: bool) -> None:
    r"""List the claims of the ledger, or of the folder or file PATH: key, verdict that is locked, and title.

    \b
    Examples:
      lastiterate list --paper chien_li --verdict REFUTED
      lastiterate list --counts
      lastiterate list claims
    """
    with progress("building the claims"):
        chosen = book(path)
        expected = {key: entry.verdict for key, entry in chosen.expected().items()}
        found = [(c, expected.get(c.key)) for c in chosen.choose(paper=paper)]
    if verdict is not None:
        found = [(claim, one) for claim, one in found if one is verdict]
    if count:
        _counts(counted((claim, one) for claim, one in found if one is not None), as_json=as_json)
    elif as_json:
        say_json([{"key": c.key, "title": c.title, "paper": c.key.split("/")[0], "verdict": one} for c, one in found])
    else:
        width = max((len(claim.key) for claim, _ in found), default=0)
        verdicts = 9 if all(one for _, one in found) else 10
        for claim, one in found:
            click.echo(f"{claim.key:{width}}  {one or 'not locked':{verdicts}}  {claim.title}")
        if any(one is None for _, one in found):
            click.echo("`lastiterate check` decides the claims; its --update-lock locks what it finds.", err=True)


def _counts(counts: Mapping[str, Counter[Verdict]], *, as_json: bool) -> None:
    if as_json:
        say_json({paper: {verdict: own[verdict] for verdict in Verdict} for paper, own in counts.items()})
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = [verdict for verdict in Verdict if any(own[verdict] for own in counts.values())]
    for name in ("paper", *shown):
        grid.add_column(name, justify="left" if name == "paper" else "right", no_wrap=True)
    for paper, own in counts.items():
        grid.add_row(paper_title(paper), *(str(own[verdict]) for verdict in shown))
    console().print(grid)
