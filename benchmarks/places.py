"""Numbers and symbols of claims and formulas one percent off: the share that is noticed, into `PLACES.md`.

python -m benchmarks.places             # all of it, an hour of one core
python -m benchmarks.places --claims 100 --seed 7
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import click

from lastiterate.commands.output import progress
from lastiterate.proofs_checks.places.everywhere import sweep
from lastiterate.proofs_checks.places.kept import PlaceCache, StatementCache
from lastiterate.proofs_checks.places.record import State
from lastiterate.proofs_checks.places.statements import try_statement
from lastiterate.proofs_checks.places.summary import CONDITIONS, by_module, reason, survivors, table
from lastiterate.proofs_checks.places.survivors import update_survivors
from lastiterate.proofs_checks.places.sweep import try_places
from lastiterate.proofs_checks.runner import find_all
from lastiterate.symbolic import ledger

RESULTS = Path(__file__).with_name("PLACES.md")

_LIVE = """A number or a symbol of a check that holds is live where the check is false with it one percent more or less:
an engine says so, or an exact point. It has room where an engine proves the check both ways and refutes it further off.
Idle is what is proved whatever stands there. The share is of all that are live, idle or undecided."""

_STATED = """A claim that is proved and states more than its checks is off in its statement: what the checks conclude
must no longer reach it. The statement of any other claim is made of its checks."""


def _markdown(rows: Iterable[tuple[str, ...]]) -> str:
    head, *rest = rows
    rule = ("---", *("---:" for _ in head[1:]))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rest))


@click.command()
@click.option("--claims", type=int, help="Draw so many claims; all of them if left out.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option("--jobs", default=-1, show_default=True, help="Processes side by side.")
def main(claims: int | None, seed: int, jobs: int) -> None:
    """Try the places of claims and of formulas and write PLACES.md."""
    every = list(ledger.claims())
    Random(seed).shuffle(every)  # noqa: S311 no secret is drawn
    drawn = every[:claims]
    with progress("trying places") as told:
        reports = find_all(try_places, drawn, jobs=jobs, cache=PlaceCache(), on_claim=told)
        statements = find_all(try_statement, drawn, jobs=jobs, cache=StatementCache(), on_claim=told)
    formulas = sweep("formulas", lambda places: places, jobs=jobs, on_place=lambda *_: None)
    update_survivors(reports)
    dead = [
        f"- {report.key}, {place.check}: {place.kind} {place.words}: {reason(place)}."
        for report in sorted((*reports, *statements), key=lambda report: report.key)
        for place in report.places
        if place.state is not State.LIVE and place.kind not in CONDITIONS
    ]
    said = f"{len(drawn)} of {len(every)} claims, drawn with seed {seed}," if claims else f"All {len(every)} claims"
    parts = [
        "# Places",
        f"Written by `make places` on {datetime.now(UTC):%Y-%m-%d}. {said} and all formulas that claims share.",
        "## Claims",
        _LIVE,
        _markdown(table(sorted(reports, key=lambda report: report.key))),
        "## Statements beside checks",
        _STATED,
        _markdown(table(sorted(statements, key=lambda report: report.key))),
        "## Formulas",
        _markdown(by_module(formulas)),
        "## Numbers and symbols of checks and statements that are not live or not noticed",
        "\n".join(dead),
        "## Formulas that are not noticed",
        "\n".join(f"- {line}" for line in survivors(formulas)),
    ]
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
