"""Attacks: runs whose last-iterate law is known well enough to bound their divergence from below."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Final

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.record import Setting as Setting

JUST_BELOW: Final = 1 - 1e-13
"""Factor that covers the rounding of a few floating-point operations."""


class Assumed(StrEnum):
    """Assumption of a privacy bound about the losses, besides gradients of norm at most K."""

    SENSITIVITY = "sensitivity"
    """Only that the update maps satisfy |psi(x) - psi'(x)| <= s at every x."""
    CLIPPED = "clipped"
    """Nothing except clipping."""
    HOLDER = "holder"
    """(L, lam)-Hoelder gradients of every sample."""
    SMOOTH = "smooth"
    """L-Lipschitz gradients of every sample."""
    CONVEX = "convex"
    """Convex, L-smooth and K-Lipschitz losses, and eta <= 2/L."""
    STRONGLY_CONVEX = "strongly_convex"
    """m-strongly convex, L-smooth and K-Lipschitz losses."""


LOSSES: Final[dict[Assumed, tuple[Callable[..., Assumption], str]]] = {
    Assumed.CLIPPED: (Clipped, ""),
    Assumed.HOLDER: (Holder, "L lam"),
    Assumed.SMOOTH: (Smooth, "L"),
    Assumed.CONVEX: (Convex, "L"),
    Assumed.STRONGLY_CONVEX: (StronglyConvex, "L m"),
}
"""Class of each assumption about losses, and the names of its constants in a setting."""


def assumption_at(setting: Setting, assumed: Assumed) -> Assumption:
    """Assumption with the constants of the setting; `Clipped` for the sensitivity alone."""
    losses, letters = LOSSES.get(assumed, LOSSES[Assumed.CLIPPED])
    return losses(*(setting[letter] for letter in letters.split()))


@dataclass(frozen=True)
class BothDirections:
    """Certified lower bounds on D_alpha(P || Q), ``forward``, and D_alpha(Q || P), ``backward``.

    P and Q are the laws of the last iterate if the replaced sample pushes up (P) or down (Q).
    """

    forward: float
    backward: float


@dataclass(frozen=True)
class ExactRun:
    """Exactly solvable pair of runs.

    Attributes:
        meets: assumptions under which the run is admissible, at settings for which `lower` gives an answer.
        solve: lower bounds at a setting with its kind of domain; None if the run is not admissible.
        bounded: whether the run needs a bounded domain, or else D = inf; None if both are possible.
        maps: whether the run is a pair of maps with |psi(x) - psi'(y)| <= e(|x - y|), as in the theorem's
            proof, while its losses are not K-Lipschitz (a quadratic is not Lipschitz on an unbounded domain).
        quantity: quantity bounded from below, in words.
    """

    name: str
    run: str
    meets: frozenset[Assumed]
    solve: Callable[[Setting, Assumed], BothDirections | None]
    bounded: bool | None = None
    maps: bool = False
    quantity: str = "D_alpha"

    def lower(self, setting: Setting, assumed: Assumed) -> BothDirections | None:
        """Lower bounds at a setting under an assumption; None if the run is not admissible."""
        if self.bounded not in (None, isfinite(setting["D"])):
            return None
        return self.solve(setting, assumed)
