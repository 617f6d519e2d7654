"""Assumptions and premises without which the checks of a claim are shown as well."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, Final

from sympy.logic.boolalg import Boolean, true

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.places.occurrences import Kind
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried
from lastiterate.proofs_checks.unneeded import part, read_unneeded, write_unneeded
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Check, Claim, Derived, Engine, Role

SECONDS: Final = 5
_SHOWN: Final = (Grade.PROVED, Grade.CERTIFIED)


def find_unneeded(claim: Claim) -> PlacesReport:
    """The conditions that a claim is shown without: all those of the assumptions, or of one check, at once.

    An attack beside a derivation does not count. Where other evidence is no proof, no condition is found.
    """
    started = process_time()
    found = () if claim.role is Role.CODE else tuple(_found(claim))
    return PlacesReport(claim.key, found, process_time() - started)


def update_unneeded(reports: Sequence[PlacesReport]) -> None:
    """Put what the reports found in the place of what was known of these claims, and forget claims that are no more."""
    known = {claim.key for claim in ledger.claims()} - {report.key for report in reports}
    found: dict[str, Mapping[str, tuple[str, ...]]] = {
        key: entry for key, entry in read_unneeded().items() if key in known
    }
    for report in reports:
        found[report.key] = {
            name: tuple(place.words for place in report.places if place.detail == name)
            for name in dict.fromkeys(place.detail for place in report.places)
        }
    write_unneeded(found)


def _found(claim: Claim) -> Iterator[Tried]:
    derived = any(isinstance(check, Derived) for check in claim.checks)
    checks = {
        number: replace(check, mutants=())
        for number, check in enumerate(claim.checks, 1)
        if not (derived and check.engine is Engine.ATTACK)
    }
    if not all(_shown(check, claim.assumptions) for check in checks.values()):
        return
    for one in _dropped(claim.assumptions, lambda rest: all(_shown(check, rest) for check in checks.values())):
        yield Tried("", Kind.ASSUMPTION, str(one), State.UNUSED, part(0))
    for number, check in checks.items():
        given: tuple[Boolean, ...] = getattr(check, "given", ())
        for one in _dropped(given, partial(_shown_under, check, claim.assumptions)):
            yield Tried(check.name, Kind.PREMISE, str(one), State.UNUSED, part(number))


def _shown_under(check: Check, assumptions: tuple[Boolean, ...], given: tuple[Boolean, ...]) -> bool:
    changes: dict[str, Any] = {"given": given}
    return _shown(replace(check, **changes), assumptions)


def _shown(check: Check, assumptions: tuple[Boolean, ...]) -> bool:
    outcome = decide_check(check, assumptions, SECONDS)
    return outcome.status is Status.HELD and outcome.grade in _SHOWN


def _dropped(conditions: tuple[Boolean, ...], shown: Callable[[tuple[Boolean, ...]], bool]) -> Iterator[Boolean]:
    """Conditions that can go one after the other, the first of them first."""
    rest = conditions
    for one in conditions:
        if one == true:
            continue
        fewer = tuple(other for other in rest if other is not one)
        if len(fewer) < len(rest) and shown(fewer):
            rest = fewer
            yield one
