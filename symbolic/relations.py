"""The relations that stand between the two sides of a check."""

from enum import StrEnum
from typing import Literal, Never


class Relation(StrEnum):
    """The relation of the left side of a check to its right side."""

    EQUAL = "=="
    AT_MOST = "<="
    BELOW = "<"
    TIGHT = "<= and attained"
    UP_TO_CONSTANT = "<~"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        mend = "swap the sides" if value in (">", ">=") else "write one of them"
        raise ValueError(f"A sign needs to be one of {', '.join(cls)}, got sign={value!r}; {mend}.")


Sign = Literal["==", "<=", "<", "<= and attained", "<~"]
"""How a claim writes a `Relation`."""


class Signed:
    """A sign between two sides, for checks to inherit."""

    sign: Sign

    def __post_init__(self) -> None:
        """Refuse a sign that there is not."""
        self.relation  # noqa: B018  # which raises an error

    @property
    def relation(self) -> Relation:
        """The sign as a member of `Relation`."""
        return Relation(self.sign)
