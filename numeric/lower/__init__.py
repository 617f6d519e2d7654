"""Certified lower bounds: the privacy loss of an explicit run that satisfies the assumptions."""

from lastiterate.numeric.lower.bounds import LowerBound, lower_bound, lower_bounds
from lastiterate.numeric.lower.witness import Witness, replay

__all__ = ["LowerBound", "Witness", "lower_bound", "lower_bounds", "replay"]
