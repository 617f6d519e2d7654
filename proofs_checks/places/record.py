"""Records of the places of a claim, and of what became of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from lastiterate.proofs_checks.places.occurrences import Kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class State(StrEnum):
    """State of a place: what notices that it is off.

    LIVE: by one percent, the least that a digit or a range can be, or a length. ROOM: not by one percent, for the
    claim is shown to hold there, too, but by more. UNUSED: the claim is shown without the premise or the assumption.
    IDLE: by nothing that was tried. UNDECIDED: an engine neither shows nor refutes it one percent off.
    """

    LIVE = "live"
    ROOM = "room"
    UNUSED = "unused"
    IDLE = "idle"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Tried:
    """A place and what became of it.

    Attributes:
        check: name of the check in which it stands, "" for an assumption.
        kind: where it stands there.
        words: what is there, for a reader.
        state: whether it is noticed.
        detail: for ROOM, by how much it must be off; for UNDECIDED, what the engine says.
    """

    check: str
    kind: Kind
    words: str
    state: State
    detail: str = ""


@dataclass(frozen=True)
class PlacesReport:
    """The places of a claim.

    Attributes:
        key: the claim's key.
        places: each place of the checks that hold, and of the assumptions where all do.
        seconds: time it took.
    """

    key: str
    places: tuple[Tried, ...]
    seconds: float

    @property
    def errs(self) -> bool:
        """Tell whether it is not to be kept; what an engine does not answer within its time is a state."""
        return False

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PlacesReport":
        """The report from what `to_json` gave.

        Raises:
            ValueError: the data is not a report.
        """
        return _adapter().validate_python(data)


@cache
def _adapter() -> "TypeAdapter[PlacesReport]":
    from pydantic import TypeAdapter

    return TypeAdapter(PlacesReport)
