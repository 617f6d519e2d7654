"""The best windows of shifts for random batches, whatever the expansion."""

from math import isfinite

from lastiterate.numeric.subsampling.noise_split import Shares, SplitWindow
from lastiterate.numeric.subsampling.noise_split_affine import straight_windows
from lastiterate.numeric.subsampling.noise_split_general import curved_windows

__all__ = ["split_windows"]


def split_windows(shares: Shares) -> list[SplitWindow]:
    """The best window found, or none where nothing bounds how far apart the runs are."""
    if not isfinite(float(shares.reach.max())) or not shares.reach[0] > 0:
        return []
    found = straight_windows(shares) if shares.contractions is not None else curved_windows(shares)
    return sorted(found, key=lambda one: one.estimate)[:1]
