"""The command ``lastiterate report``."""

from pathlib import Path

import click

from lastiterate.commands.claims import book, folder_argument, jobs_option, no_cache, paper_option
from lastiterate.commands.output import progress, say_json
from lastiterate.proofs_checks.runner import run


@click.command(name="report")
@folder_argument
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to."
)
@paper_option
@jobs_option
@no_cache
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as one JSON object.")
def command(path: Path | None, out: Path, paper: str | None, jobs: int, no_cache: bool, as_json: bool) -> None:
    """Write the ledger, or the claims of the folder or file PATH, as pages that can be read offline.

    Write index.html with every claim, a page for each paper that maps its lines to claims, ledger.md and
    ledger.json.
    """
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
        click.echo(page)
