"""``lastiterate show KEY``: one claim with its evidence."""

import click

from lastiterate.proofs_checks.cache import ReportCache, default_folder
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import select
from lastiterate.symbolic.ledger import CLAIMS

__all__ = ["command"]


@click.command(name="show")
@click.argument("key")
@click.option("--no-cache", is_flag=True, help="Decide it afresh.")
def command(key: str, no_cache: bool) -> None:
    """Show the claim KEY: source, assumptions, formulas, outcomes, counterexample, mutants, remark."""
    claims = select(CLAIMS, keys=(key,))
    cache = None if no_cache else ReportCache(default_folder())
    (report,) = run(claims, jobs=1, cache=cache)
    click.echo(describe(claims[0], report))
