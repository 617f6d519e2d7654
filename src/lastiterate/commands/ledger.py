"""Commands that read the ledger, or a user's own folder of claims: list, show and report."""

from pathlib import Path

import click

from lastiterate.commands.claims import book, checked_jobs
from lastiterate.commands.options import command_of
from lastiterate.commands.output import progress, say_json
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import mending
from lastiterate.proofs_checks.verdict import STANDS, Verdict
from lastiterate.symbolic import ledger


@command_of("list", verdict={"type": click.Choice(Verdict)})
def list_command(path: Path | None, paper: str | None, verdict: Verdict | None, as_json: bool) -> None:
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


@command_of("show")
def show_command(key: str, path: Path | None, no_cache: bool, as_json: bool, html: Path | None) -> None:
    """Show the claim KEY of the ledger, or of the folder or file PATH: statement, failure, evidence."""
    with progress(f"deciding {key}") as told:
        chosen = book(path)
        claims = chosen.choose(keys=(key,))
        (report,) = run(claims, jobs=1, cache=None if no_cache else chosen.cache, on_claim=told)
    near = () if report.verdict in STANDS else ledger.naming(key) if path is None else chosen.choose()
    instead = mending(near).get(key, ())
    if html is not None:
        from lastiterate.proofs_checks.report.pages import Entry, claim_page, write_folder

        write_folder(html.parent, {html.name: claim_page(Entry(claims[0], report, instead, replayed=True))})
    if as_json:
        say_json(report.to_json() | {"rejected": report.rejected}, indent=1)
        return
    click.echo(describe(claims[0], report, instead))


@command_of("report", jobs={"callback": checked_jobs})
def report_command(
    path: Path | None, out: Path, paper: str | None, jobs: int, no_cache: bool, as_json: bool
) -> None:
    """Write the ledger, or the claims of the folder or file PATH, as pages that can be read offline."""
    from lastiterate.proofs_checks.report.pages import files, write_folder

    chosen = book(path)
    claims = chosen.choose(paper=paper)
    with progress("deciding claims") as told:
        reports = run(claims, jobs=chosen.jobs(jobs), cache=None if no_cache else chosen.cache, on_claim=told)
    found = chosen.drifts(reports, chosen.expected(), complete=paper is None)
    written = write_folder(out, files(claims, reports, found, own=path is not None))
    if as_json:
        say_json({"files": [str(page) for page in written]})
        return
    for page in written:
        if page.parent == out:
            click.echo(page)
