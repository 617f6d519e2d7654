"""``lastiterate places``: numbers and symbols of the claims one percent off, and those that no engine notices."""

import click

from lastiterate.commands.completion import claims as keys_of_claims
from lastiterate.commands.completion import papers
from lastiterate.commands.output import progress, say_json


@click.command(name="places")
@click.option("--paper", metavar="ID", shell_complete=papers, help="Only the claims of this paper.")
@click.option("--claim", "keys", metavar="KEY", multiple=True, shell_complete=keys_of_claims, help="Only this claim.")
@click.option("--jobs", default=-1, show_default="all cores", help="Worker processes.")
@click.option("--no-cache", is_flag=True, help="Try everything afresh, and keep nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print every place with what became of it as JSON.")
def command(paper: str | None, keys: tuple[str, ...], jobs: int, no_cache: bool, as_json: bool) -> int:
    r"""Change every number, symbol, premise and assumption of the claims by one percent, and list what stays unnoticed.

    A place is live where an engine refutes the claim with it one percent more or less. The whole ledger takes some
    twenty minutes on one core; what is finished is kept. Exit status 0 when at least 95% of the numbers and symbols
    are live, and every other one has a reason.

    \b
    Examples:
      lastiterate places --claim chien_li/theorem_3_12
      lastiterate places --paper liang --jobs 2
    """
    from lastiterate.proofs_checks.cache import PlaceCache
    from lastiterate.proofs_checks.places.summary import LEAST, as_text, dead, share, table
    from lastiterate.proofs_checks.places.sweep import try_places
    from lastiterate.proofs_checks.runner import find_all
    from lastiterate.proofs_checks.selection import of_ledger

    cache = None if no_cache else PlaceCache()
    with progress("trying places", "" if no_cache else "claims are kept") as told:
        reports = find_all(try_places, of_ledger(paper=paper, keys=keys), jobs=jobs, cache=cache, on_claim=told)
    if as_json:
        say_json([report.to_json() for report in reports], indent=1)
    else:
        for line in (*dead(reports), "", *as_text(table(reports))):
            click.echo(line)
    return 0 if share(reports) >= LEAST else 1
