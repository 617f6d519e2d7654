"""The relations that stand between the two sides of a check."""

from enum import StrEnum
from typing import Literal


class Relation(StrEnum):
    """The relation of the left side of a check to its right side."""

    EQUAL = "=="
    AT_MOST = "<="
    BELOW = "<"
    TIGHT = "<= and attained"
    UP_TO_CONSTANT = "<~"


Sign = Literal["==", "<=", "<", "<= and attained", "<~"]
"""How a claim writes a `Relation`."""


class Signed:
    """A sign between two sides, for checks to inherit."""

    sign: Sign

    @property
    def relation(self) -> Relation:
        """The sign as a member of `Relation`."""
        return Relation(self.sign)
