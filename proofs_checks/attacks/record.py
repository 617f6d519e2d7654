"""An attack: a run whose last-iterate law is known well enough to bound its divergence from below."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Final

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.record import Setting as Setting

JUST_BELOW: Final = 1 - 1e-13
"""A factor that covers the rounding of a few operations on floats."""


class Assumed(StrEnum):
    """Assumption of a privacy bound on the losses, beyond gradients of norm at most K."""

    SENSITIVITY = "sensitivity"
    """Maps: |psi(x) - psi'(x)| <= s at every x, nothing else."""
    CLIPPED = "clipped"
    """Nothing: clipping alone."""
    HOLDER = "holder"
    """(L, lam)-Hoelder gradients of every sample."""
    SMOOTH = "smooth"
    """L-Lipschitz gradients of every sample."""
    CONVEX = "convex"
    """Convex, L-smooth and K-Lipschitz losses, eta <= 2/L."""
    STRONGLY_CONVEX = "strongly_convex"
    """m-strongly convex, L-smooth and K-Lipschitz losses."""


LOSSES: Final[dict[Assumed, tuple[Callable[..., Assumption], str]]] = {
    Assumed.CLIPPED: (Clipped, ""),
    Assumed.HOLDER: (Holder, "L lam"),
    Assumed.SMOOTH: (Smooth, "L"),
    Assumed.CONVEX: (Convex, "L"),
    Assumed.STRONGLY_CONVEX: (StronglyConvex, "L m"),
}
"""The class of each assumption on losses, and its constants in a setting."""


def assumption_at(setting: Setting, assumed: Assumed) -> Assumption:
    """The assumption with the setting's constants; of the sensitivity alone, clipping."""
    losses, letters = LOSSES.get(assumed, LOSSES[Assumed.CLIPPED])
    return losses(*(setting[letter] for letter in letters.split()))


def target_at(setting: Setting, *, dp: bool) -> dict[str, float]:
    """The delta of the setting, or its order, as `bound` and `lower_bound` take them."""
    return {"delta": setting["delta"]} if dp else {"order": setting["alpha"]}


@dataclass(frozen=True)
class BothDirections:
    """Certified lower bounds of the two divergences, rounded down.

    P is the law of the last iterate on the data whose replaced sample pushes the iterate up, Q the law on the
    data whose replaced sample pushes it down; ``forward`` is D_alpha(P || Q), ``backward`` D_alpha(Q || P).
    """

    forward: float
    backward: float


@dataclass(frozen=True)
class ExactRun:
    """An exactly solvable pair of runs.

    Attributes:
        meets: the assumptions under which it is admissible, for settings where `lower` gives an answer.
        solve: lower bounds at a setting of its kind of domain, None where it is not admissible there.
        bounded: whether it needs a bounded domain or D = inf; None where it takes either.
        maps: whether it is a pair of update maps with the expansion that the theorem uses, not of K-Lipschitz losses
            (a quadratic is not Lipschitz on an unbounded domain): it tests the theorem's argument at the level
            of maps, |psi(x) - psi'(y)| <= e(|x - y|).
        quantity: the quantity bounded from below, in words.
    """

    name: str
    run: str
    meets: frozenset[Assumed]
    solve: Callable[[Setting, Assumed], BothDirections | None]
    bounded: bool | None = None
    maps: bool = False
    quantity: str = "D_alpha"

    def lower(self, setting: Setting, assumed: Assumed) -> BothDirections | None:
        """Lower bounds at a setting under an assumption, None where it is not admissible there."""
        if self.bounded not in (None, isfinite(setting["D"])):
            return None
        return self.solve(setting, assumed)
