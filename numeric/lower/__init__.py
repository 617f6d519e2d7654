"""Certified lower bounds: what some run that meets the assumptions really loses."""

from lastiterate.numeric.lower.bounds import LowerBound, lower_bound, lower_bounds

__all__ = ["LowerBound", "lower_bound", "lower_bounds"]
