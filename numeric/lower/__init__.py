"""Certified lower bounds: what some run that meets the assumptions really loses.

| module | what |
|---|---|
| `bounds` | `lower_bound`: the best witness for a run, an assumption, and an order or a delta |
| `witnesses` | which losses meet an assumption |
| `line` | last iterates on the whole line: Gaussians and their mixtures |
| `walk` | last iterates on an interval, by certified propagation of a density |
| `masses` | divergences from below, by the masses of cells |
"""

from lastiterate.numeric.lower.bounds import LowerBound, lower_bound, lower_bounds

__all__ = ["LowerBound", "lower_bound", "lower_bounds"]
