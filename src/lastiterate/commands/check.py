"""The command ``lastiterate check``."""

import os
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import click

from lastiterate.commands.claims import Book, book, checked_jobs
from lastiterate.commands.options import command_of
from lastiterate.commands.output import console, progress, say_text
from lastiterate.proofs_checks import lock
from lastiterate.proofs_checks.engines.time_limit import SECONDS
from lastiterate.proofs_checks.report import formats
from lastiterate.proofs_checks.verdict import ClaimReport, Status, with_noun


@command_of("check", jobs={"callback": checked_jobs}, time_limit={"default": SECONDS})
def command(
    path: Path | None,
    paper: str | None,
    keys: tuple[str, ...],
    jobs: int,
    style: str,
    time_limit: float,
    no_cache: bool,
    update_lock: bool,
) -> int:
    """Decide every claim of the ledger, or of the folder or file PATH, and compare with the lock file."""
    chosen = book(path)
    complete = paper is None and not keys
    expected = {} if update_lock and complete else chosen.expected()
    cache = None if no_cache else chosen.cache
    whole = cache if complete and path is None else None
    choose = partial(chosen.choose, paper=paper, keys=keys)
    try:
        reports = whole.read_ledger() if whole else ()
        if not reports:
            from lastiterate.proofs_checks.runner import run

            if whole:
                whole.prepare()
            with progress("deciding claims") as told:
                reports = run(choose(), jobs=chosen.jobs(jobs), cache=cache, seconds=time_limit, on_claim=told)
            if whole:
                whole.write_ledger(choose())
    except KeyboardInterrupt:
        if not no_cache:
            raise
        click.echo("interrupted: nothing is kept under --no-cache.", err=True)
        return 130
    if update_lock:
        expected |= chosen.entries(reports)
        lock.write_lock(expected, chosen.file)
        locked = chosen.file or lock.lock_path()
        click.echo(
            f"locked {with_noun(len(reports), 'claim')} in {locked}, which has {len(expected)}", err=True
        )
    found = chosen.drifts(reports, expected, complete=complete)
    if style == "json":
        click.echo(formats.as_json(reports, found))
    elif style == "markdown":
        from lastiterate.proofs_checks.report.pages import entries, ledger_page

        click.echo(ledger_page(entries(choose(), reports), found, template="ledger.md.j2"))
    elif style in ("junit", "sarif"):
        drifts: dict[str, list[str]] = {}
        for sentence in found:
            drifts.setdefault(_key(sentence), []).append(sentence)
        seconds = {report.key: report.seconds for report in reports}
        names = list(dict.fromkeys((*seconds, *drifts)))
        here = {"names": names, "drifts": drifts, "seconds": seconds, "places": chosen.places}
        say_text(f"check.{style}.j2", version=version("lastiterate"), **here)
    else:
        console().print(formats.table(reports))
        for line in formats.limits(reports):
            click.echo(line)
        _say_drifts(chosen, reports, found)
        click.echo(formats.summary(reports))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for sentence in found:
            file, _, line = chosen.places.get(_key(sentence), "").rpartition(":")
            click.echo(f"::error{f' file={file},line={line}' if file else ''}::{sentence}", err=True)
    return 1 if found else 0


def _key(sentence: str) -> str:
    return sentence.split(" ")[0]


def _say_drifts(chosen: Book, reports: Sequence[ClaimReport], found: Sequence[str]) -> None:
    kind = "drift" if chosen.locked else "fails"
    known = {report.key: report for report in reports}
    for key, sentences in groupby(found, _key):
        for sentence in sentences:
            click.echo(f"{kind}: {sentence}")
        if key in known and any(outcome.status is not Status.HELD for outcome in known[key].outcomes):
            from lastiterate.proofs_checks.describe import evidence

            (claim,) = chosen.choose(keys=(key,))
            for line in evidence(claim, known[key]):
                click.echo(f"  {line}")
    if found:
        click.echo(
            "`lastiterate show KEY` prints all details; `lastiterate check --update-lock` records this as intended."
        )
