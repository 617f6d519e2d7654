"""``lastiterate report``: the ledger as pages."""

from pathlib import Path

import click

from lastiterate.commands.completion import papers
from lastiterate.commands.output import progress, say_json
from lastiterate.proofs_checks import lock
from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import of_ledger


@click.command(name="report")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to.")
@click.option("--paper", metavar="ID", shell_complete=papers, help="Only the claims of this paper.")
@click.option("--jobs", default=-1, show_default="all cores", help="Worker processes.")
@click.option("--no-cache", is_flag=True, help="Decide everything afresh, and keep nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as one JSON object.")
def command(out: Path, paper: str | None, jobs: int, no_cache: bool, as_json: bool) -> None:
    r"""Write the ledger as pages that need no network.

    Writes index.html with every claim, a page of lines and claims for each paper, ledger.md, ledger.json and
    junit.xml.

    \b
    Example:
      lastiterate report --out report
    """
    from lastiterate.proofs_checks.report.pages import files, write_folder

    if jobs == 0 or jobs < -1:
        raise click.BadParameter(f"jobs needs a number of at least 1, or -1 for all cores, got jobs={jobs}.")
    claims = of_ledger(paper=paper)
    cache = None if no_cache else ReportCache()
    with progress("deciding claims") as told:
        reports = run(claims, jobs=jobs, cache=cache, on_claim=told)
    found = lock.drifts(reports, lock.read_lock(), complete=paper is None)
    written = write_folder(out, files(claims, reports, found))
    if as_json:
        say_json({"files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)
