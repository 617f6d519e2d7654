"""``lastiterate show KEY``: one claim with its evidence."""

import click

from lastiterate.proofs_checks.cache import ReportCache, default_folder
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.recompute import recompute
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import select
from lastiterate.symbolic.ledger import CLAIMS

__all__ = ["command"]


@click.command(name="show")
@click.argument("key")
@click.option("--no-cache", is_flag=True, help="Decide it afresh.")
@click.option("--recompute", "again", is_flag=True, help="Compute the counterexamples again from their parameters.")
@click.option("--digits", default=50, show_default=True, help="Significant digits of --recompute.")
def command(key: str, no_cache: bool, again: bool, digits: int) -> None:
    """Show the claim KEY: source, assumptions, formulas, outcomes, counterexample, mutants, remark."""
    claims = select(CLAIMS, keys=(key,))
    cache = None if no_cache else ReportCache(default_folder())
    (report,) = run(claims, jobs=1, cache=cache)
    if not again:
        click.echo(describe(claims[0], report))
        return
    found = recompute(claims[0], report, digits)
    if not found:
        click.echo(f"{key} is {report.verdict}: there is no counterexample.")
    for one in found:
        at = ", ".join(f"{name} = {value}" for name, value in one.found.at.items())
        click.echo(f"{one.check}{f' at {at}' if at else ''}")
        click.echo(f"  left   {one.found.left}\n  {one.found.relation}\n  right  {one.found.right}")
        click.echo(
            f"  {'fails' if one.certain else 'NOT shown to fail'}{f'; {one.found.note}' if one.found.note else ''}"
        )
