"""Assumptions whose constants were measured; what follows from them is an estimate and never a bound."""

from dataclasses import dataclass

from lastiterate.numeric.losses.assumptions import Assumption


@dataclass(frozen=True)
class Measured:
    """An assumption whose constants were measured, not proved.

    Attributes:
        assumption: the assumption with the measured constants in it.
        conditional_on: what a number made from it is conditional on, in one sentence.
    """

    assumption: Assumption
    conditional_on: str
