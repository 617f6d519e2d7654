"""The assumption that a setting describes, and the schemes of batches that are attacked."""

from typing import Final

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.proofs_checks.attacks.record import Assumed, Setting

__all__ = ["SCHEMES", "assumption_of"]

SCHEMES: Final = ("full", "cyclic", "shuffled", "without_replacement", "poisson")


def assumption_of(setting: Setting, assumed: Assumed) -> Assumption:
    """The assumption with the setting's constants; of the sensitivity alone, clipping."""
    if assumed is Assumed.HOLDER:
        return Holder(setting["L"], setting["lam"])
    if assumed is Assumed.SMOOTH:
        return Smooth(setting["L"])
    if assumed is Assumed.CONVEX:
        return Convex(setting["L"])
    if assumed is Assumed.STRONGLY_CONVEX:
        return StronglyConvex(setting["L"], setting["m"])
    return Clipped()
