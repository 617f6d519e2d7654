"""``lastiterate places``: numbers and symbols of the claims one percent off, and those that no engine notices."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import click

from lastiterate.commands.completion import claims as keys_of_claims
from lastiterate.commands.completion import papers
from lastiterate.commands.output import progress, say_json

_Drawn = TypeVar("_Drawn")


@click.command(name="places")
@click.option(
    "--of",
    "where",
    type=click.Choice(["claims", "statements", "formulas", "definitions", "code"]),
    default="claims",
    show_default=True,
    help="The checks of claims, what claims state beside them, formulas that they share, what their modules define, "
    "or the code of `bound`.",
)
@click.option("--paper", metavar="ID", shell_complete=papers, help="Only the claims of this paper.")
@click.option("--claim", "keys", metavar="KEY", multiple=True, shell_complete=keys_of_claims, help="Only this claim.")
@click.option("--sample", type=click.IntRange(min=1), help="Draw so many claims, or places of the source.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option("--jobs", default=-1, show_default="all cores", help="Worker processes.")
@click.option("--no-cache", is_flag=True, help="Try the places of claims afresh, and keep nothing.")
@click.option("--update", is_flag=True, help="Write down which conditions no check needs, and try nothing else.")
@click.option("--lock", is_flag=True, help="Write down what may be live and is not noticed in the checks of claims.")
@click.option("--json", "as_json", is_flag=True, help="Print every place with what became of it as JSON.")
def command(
    where: str,
    paper: str | None,
    keys: tuple[str, ...],
    sample: int | None,
    seed: int,
    jobs: int,
    no_cache: bool,
    update: bool,
    lock: bool,
    as_json: bool,
) -> int:
    r"""Change every number, symbol, premise and assumption of the claims by one percent, and list what stays unnoticed.

    A place is live where the claim is false with it one percent more or less; it has room where the claim is proved
    both ways. All claims take some half an hour of one core, formulas a quarter; what is finished is kept. Exit status
    0 when 95% of the live numbers and symbols in checks are noticed, or when no formula can be changed that claims
    share and all of them still hold.

    With --update the assumptions and premises without which claims are shown as well go into the file from which `show`
    and `report` print them as such. With --lock the places that may be live and are not noticed go into another, so
    that a new one in a claim that changes is a failing test.

    \b
    Examples:
      lastiterate places --claim chien_li/theorem_3_12
      lastiterate places --paper liang --jobs 2
      lastiterate places --of formulas --sample 50
      lastiterate places --update
    """
    from lastiterate.proofs_checks.places.summary import LEAST, as_text, by_module, dead, share, survivors, table

    if where not in ("claims", "statements"):
        from lastiterate.proofs_checks.places.everywhere import sweep

        if paper is not None or keys:
            raise click.UsageError(f"--paper and --claim choose claims, got --of {where} too; leave one out.")
        if update:
            raise click.UsageError(f"--update is for claims, got --of {where} too; leave one out.")
        with progress("planting faults", "places are kept") as told:
            planted = sweep(where, lambda places: _drawn(places, sample, seed), jobs=jobs, on_place=told)
        if as_json:
            say_json([one.to_json() for one in planted], indent=1)
        else:
            click.echo("\n".join((*survivors(planted), "", *as_text(by_module(planted)))))
        return 0 if where == "code" or not any(one.kept for one in planted) else 1

    from lastiterate.proofs_checks.places.conditions import find_unneeded, update_unneeded
    from lastiterate.proofs_checks.places.kept import PlaceCache, StatementCache, UnneededCache
    from lastiterate.proofs_checks.places.statements import try_statement
    from lastiterate.proofs_checks.places.survivors import update_survivors
    from lastiterate.proofs_checks.places.sweep import try_places
    from lastiterate.proofs_checks.runner import find_all
    from lastiterate.proofs_checks.selection import of_ledger

    find, kept = (try_places, PlaceCache) if where == "claims" else (try_statement, StatementCache)
    if update:
        find, kept = find_unneeded, UnneededCache
    claims = _drawn(of_ledger(paper=paper, keys=keys), sample, seed)
    with progress("trying places", "" if no_cache else "claims are kept") as told:
        reports = find_all(find, claims, jobs=jobs, cache=None if no_cache else kept(), on_claim=told)
    if update:
        update_unneeded(reports)
    elif lock and where == "claims":
        update_survivors(reports)
    if as_json:
        say_json([report.to_json() for report in reports], indent=1)
    else:
        click.echo("\n".join((*dead(reports), *(() if update else ("", *as_text(table(reports)))))))
    return 0 if update or share(reports) >= LEAST else 1


def _drawn(these: Sequence[_Drawn], sample: int | None, seed: int) -> list[_Drawn]:
    """All of these, or a sample of them."""
    found = list(these)
    if sample is not None:
        Random(seed).shuffle(found)  # noqa: S311 no secret is drawn
    return found[:sample]
