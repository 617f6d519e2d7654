"""Certified lower bounds: what some run that meets the assumptions really loses."""

from lastiterate.numeric.lower.bounds import LowerBound, lower_bound, lower_bounds
from lastiterate.numeric.lower.witness import Witness, replay

__all__ = ["LowerBound", "Witness", "lower_bound", "lower_bounds", "replay"]
