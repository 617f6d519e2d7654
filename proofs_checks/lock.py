"""Lock file with the expected verdict of every claim, and the differences of a run from the file."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import digest, write_whole, writing
from lastiterate.proofs_checks.verdict import STANDS, ClaimReport, Grade, Verdict

FILE = "verdicts.lock.json"


class Said(NamedTuple):
    """Hash of a claim's statement and checks, and the statement in one line."""

    content: str = ""
    statement: str = ""


@dataclass(frozen=True)
class LockedVerdict:
    """Entry of the lock file: verdict, grade, numbers of checks, rejected mutants and close near misses.

    ``says`` and ``statement`` are those of `Said`; they are compared for a user's own claims, and a test
    compares them for the ledger. ``supposes`` is a hash of the premises of derivations; "" if there are none.
    """

    __pydantic_config__ = {"extra": "forbid", "strict": True}  # noqa: RUF012 - pydantic reads it

    verdict: Verdict
    grade: Grade | None
    checks: Annotated[int, Ge(0)]
    rejected: Annotated[int, Ge(0)]
    near_misses: Annotated[int, Ge(0)]
    says: str = ""
    statement: str = ""
    supposes: str = ""

    @classmethod
    def of(cls, report: ClaimReport, said: Said | None = None) -> "LockedVerdict":
        """Entry for a report."""
        counts = len(report.outcomes), report.rejected, report.near_close
        premises = [outcome.premises for outcome in report.outcomes if outcome.premises]
        return cls(
            report.verdict, report.grade, *counts, *(said or Said()), digest(premises)[:16] if premises else ""
        )


def lock_path() -> Path:
    """Path of the packaged lock file."""
    return Path(str(resources.files("lastiterate.proofs_checks") / FILE))


def read_lock(path: Path | None = None) -> dict[str, LockedVerdict]:
    """Entries of the lock file by claim key.

    Raises:
        InputError: the file is missing, is not JSON, or has other content.
    """
    from pydantic import ValidationError

    path, text = path or lock_path(), ""
    try:
        text = path.read_text(encoding="utf-8")
        entries: dict[str, LockedVerdict] = _reader().validate_json(text)
        return entries
    except ValidationError as error:
        place, what = error.errors()[0]["loc"], error.errors()[0]["msg"]
        numbered = enumerate(text.splitlines(), 1)
        line = next((number for number, line in numbered if place and f"{json.dumps(place[0])}:" in line), 1)
        got = f"{' '.join(map(str, place)) or 'text'} ({what}) in {path}:{line}"
    except (OSError, ValueError) as error:
        got = f"path={path} ({error})"
    raise InputError(
        f"The lock file must be readable, with a verdict, a grade and three counts for each claim, got {got}; "
        "restore it, or write it with `lastiterate check --update-lock`."
    )


@cache
def _reader() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, LockedVerdict])


def write_lock(entries: Mapping[str, LockedVerdict], path: Path | None = None) -> None:
    """Write the lock file, sorted by key, whole or not at all.

    Raises:
        InputError: the file cannot be written, as in an installed package.
    """
    path = path or lock_path()
    data = {
        key: {name: value for name, value in asdict(entries[key]).items() if value != ""}
        for key in sorted(entries)
    }
    with writing("The lock file needs", f"path={path}", "update it in a clone of the repository"):
        write_whole(path, (json.dumps(data, indent=1) + "\n").encode())


def drifts(
    reports: Iterable[ClaimReport],
    expected: Mapping[str, LockedVerdict],
    *,
    complete: bool = True,
    says: Mapping[str, Said] | None = None,
) -> tuple[str, ...]:
    """Sentences about differences between the reports and the expected entries.

    In a ``complete`` run every entry needs a report. ``says`` is compared if the lock file contains it.
    """
    found: list[str] = []
    seen: set[str] = set()
    for report in reports:
        seen.add(report.key)
        locked, here = expected.get(report.key), LockedVerdict.of(report)
        if locked is None:
            found.append(f"{report.key} is new, with {_words(here)}: the lock file does not have it.")
        else:
            found += _changed(report, locked, here)
            found += _resaid(report.key, locked, (says or {}).get(report.key))
        found += _not_rejected(report)
    if complete:
        found += [
            f"{key} is missing: the lock file says {_words(entry)}."
            for key, entry in expected.items()
            if key not in seen
        ]
    return tuple(found)


def _changed(report: ClaimReport, locked: LockedVerdict, here: LockedVerdict) -> Iterator[str]:
    if here.verdict is not locked.verdict:
        left = f" (left open: {report.left_open})" if report.left_open else ""
        yield f"{report.key} is {here.verdict}{left}, but the lock file says {locked.verdict}."
    elif here.grade is not locked.grade:
        yield (
            f"{report.key} is {here.grade or 'ungraded'}, but the lock file says {locked.grade or 'ungraded'}."
        )
    elif locked.supposes and here.supposes != locked.supposes:
        yield (
            f"{report.key} has other premises than when it was locked; `lastiterate show` lists them, "
            "and --update-lock accepts them."
        )
    if here.checks != locked.checks:
        yield f"{report.key} has {here.checks} checks, but the lock file says {locked.checks}."
    for now, before, tried, kind in (
        (here.rejected, locked.rejected, report.mutants, "mutants"),
        (here.near_misses, locked.near_misses, report.near_misses, "near misses"),
    ):
        if now != before:
            yield f"{report.key} rejects {now} of {len(tried)} {kind}, but the lock file says {before}."


def _resaid(key: str, locked: LockedVerdict, now: Said | None) -> Iterator[str]:
    if now is None or locked.says in ("", now.content):
        return
    if locked.statement == now.statement:
        yield f"{key} is checked differently than when it was locked, but its statement is the same."
    elif locked.statement:
        yield f"The statement of {key} has changed: now '{now.statement}', before '{locked.statement}'."
    else:
        yield f"The statement of {key} has changed since it was locked."


def _words(entry: LockedVerdict) -> str:
    return f"{entry.verdict}{f' ({entry.grade})' if entry.grade else ''}, {entry.rejected} mutants rejected"


def failures(report: ClaimReport) -> tuple[str, ...]:
    """Sentences that say why a claim does not stand: its verdict, and wrong variants that are not rejected."""
    if report.verdict not in STANDS:
        return (
            f"{report.key} is {report.verdict}{f'; left open: {report.left_open}' if report.left_open else ''}.",
        )
    return tuple(_not_rejected(report))


def _not_rejected(report: ClaimReport) -> Iterator[str]:
    for kind, tried in (("mutant", report.mutants), ("near miss", report.near_misses)):
        for wrong in tried:
            if not wrong.rejected:
                said = f"{wrong.status} ({wrong.detail})" if wrong.detail else wrong.status
                yield f"{report.key} does not reject the {kind} '{wrong.check}': {wrong.engine} says {said}."
