"""Places that are off and not noticed, kept beside the lock file with their reasons, so that a new one is seen.

The entry of a claim holds as long as its checks, its assumptions and its statement are the same; one that has changed
is tried again.
"""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Final, TypedDict

from lastiterate.numeric.store import write_whole
from lastiterate.proofs_checks.cache import content
from lastiterate.proofs_checks.places.record import PlacesReport, State
from lastiterate.proofs_checks.places.summary import CONDITIONS, reason
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim

FILE: Final = "survivors.lock.json"


class Entry(TypedDict):
    """Hash of what a claim says, and its places that may be live and are not noticed."""

    says: str
    survivors: dict[str, str]


def location() -> Path:
    """The packaged file."""
    return Path(str(resources.files("lastiterate.proofs_checks") / FILE))


def read_survivors() -> Mapping[str, Entry]:
    """The entries of the file by claim key."""
    entries: Mapping[str, Entry] = json.loads(location().read_text(encoding="utf-8"))
    return entries


def survivors_of(report: PlacesReport) -> dict[str, str]:
    """The numbers and symbols of a claim that may be live and are not noticed, with the reasons."""
    return {
        f"{place.check}, {place.kind} {place.words}": reason(place)
        for place in report.places
        if place.state in (State.IDLE, State.UNDECIDED) and place.kind not in CONDITIONS
    }


def changed(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims that the file knows, and that say something else now."""
    known = read_survivors()
    return tuple(claim for claim in claims if claim.key in known and known[claim.key]["says"] != content(claim))


def update_survivors(reports: Iterable[PlacesReport]) -> None:
    """Put what the reports found in the place of what was known of these claims, and forget claims that are no more."""
    claims = {claim.key: claim for claim in ledger.claims()}
    entries = {key: entry for key, entry in read_survivors().items() if key in claims}
    entries |= {one.key: Entry(says=content(claims[one.key]), survivors=survivors_of(one)) for one in reports}
    write_whole(location(), (json.dumps(entries, indent=1, sort_keys=True) + "\n").encode())
