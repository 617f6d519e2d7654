"""The statements that claims make beside their checks, one percent off: the checks must no longer conclude them.

A statement that is made of its checks is off where they are. One that its checks conclude has each number, each letter
and each condition off, and what its checks choose for their own letters; what no conclusion notices says more, or less,
than is shown.
"""

from collections.abc import Iterator
from copy import copy
from time import process_time
from typing import Any, Final, cast

from lastiterate.proofs_checks.conclusion import left_open
from lastiterate.proofs_checks.engines.time_limit import limited
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.places.generate import Place, choices, places
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried
from lastiterate.proofs_checks.places.sweep import ONE_PERCENT
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic.claim import Claim, Deduced
from lastiterate.symbolic.statement import ForAll

NAME: Final = "statement"
"""What stands in the place of a check's name."""

SECONDS: Final = 10
"""A statement that is off for whose conclusion more is needed is undecided."""


def try_statement(claim: Claim) -> PlacesReport:
    """Try every place of the statement of a claim that is proved and makes one beside its checks."""
    started = process_time()
    entry = read_lock().get(claim.key)
    proved = claim.statement is not None and entry is not None and entry.verdict is Verdict.PROVED
    return PlacesReport(claim.key, tuple(_all(claim)) if proved else (), process_time() - started)


def _all(claim: Claim) -> Iterator[Tried]:
    whole = Deduced(cast("ForAll", claim.statement), derivation="", name=NAME)
    for place in places(claim, [whole]):
        if place.check == NAME:
            wrong = (check for share in ONE_PERCENT for check, _ in place.off(share))
            yield _tried(place, (_with(claim, statement=one.statement) for one in wrong if isinstance(one, Deduced)))
    for place, at in choices(claim):
        wrong = (check for share in ONE_PERCENT for check, _ in place.off(share))
        yield _tried(place, (_with(claim, checks=(*claim.checks[:at], one, *claim.checks[at + 1 :])) for one in wrong))


def _tried(place: Place, wrong: Iterator[Claim]) -> Tried:
    """Fate of a place of a claim that is off in it."""
    try:
        with limited(SECONDS):
            state = State.LIVE if any(map(left_open, wrong)) else State.ROOM
    except TimeoutError as late:
        return Tried(place.check, place.kind, place.words, State.UNDECIDED, str(late))
    return Tried(place.check, place.kind, place.words, state)


def _with(claim: Claim, **changed: Any) -> Claim:
    """The claim with something else in it, mutants and keys unchecked."""
    other = copy(claim)
    vars(other).update(changed)
    return other
