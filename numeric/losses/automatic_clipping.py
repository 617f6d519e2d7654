"""Automatic clipping, K g / (|g| + gamma), and the assumption that is left of one on the losses.

The map is K / gamma-Lipschitz, so that a modulus omega becomes K / gamma omega, which for a small gamma is far more.
Ordinary clipping is a projection and changes no modulus. Convexity is lost: `Convex` and `StronglyConvex` have no
counterpart. Of `Blocks` it holds for the whole gradient alone: a block is divided by a norm that changes with all.

Source: docs/proofs/expansions.md; claim ours/projection/automatic_clipping. D2P2-SGD does not discuss it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Holder,
    Measured,
    Minimum,
    Sum,
    Tabulated,
)
from lastiterate.numeric.rounding import exact, precision, upper


@teaches()
def automatic_clipping(
    assumption: Assumption | Measured, *, stability: float, clip_norm: float = 1.0
) -> Assumption | Measured:
    """The assumption on automatically clipped gradients that follows from one on the gradients, rounded up.

    Args:
        assumption: on the losses, or on their measured constants.
        stability: gamma, a gradient.
        clip_norm: K, a gradient.

    Raises:
        InputError: an argument is out of range, or the assumption is convexity, which does not survive.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> automatic_clipping(Smooth(2.0), stability=0.5)
    Smooth(L=4.0, lam=1.0)
    """
    clip_norm, stability = positive("clip_norm", clip_norm), positive("stability", stability)

    def up(value: float) -> float:
        with precision():
            return upper(exact(value) * exact(clip_norm) / exact(stability))

    if isinstance(assumption, Measured):
        return replace(assumption, assumption=_steepened(assumption.assumption, up))
    found: Assumption = _steepened(assumption, up)
    return found


@dataclass(frozen=True, init=False)
class _ClippedBlocks(Blocks):
    """The modulus of an automatically clipped gradient, as if each block were steepened by itself."""

    @property
    def statement(self) -> str:
        parts = "; ".join(part.statement for part in self.parts)
        return f"automatically clipped gradients have the root of the sum of squares of moduli for one: {parts}"


def _steepened(assumption: Assumption, up: Callable[[float], float]) -> Any:
    """K / gamma times every modulus in it."""
    match assumption:
        case Clipped():
            return assumption
        case Holder():
            return replace(assumption, L=up(assumption.L))
        case Tabulated():
            return replace(assumption, values=tuple(up(value) for value in assumption.values))
        case Minimum() | Sum() | Blocks():
            kind = _ClippedBlocks if isinstance(assumption, Blocks) else type(assumption)
            return kind(*(_steepened(part, up) for part in assumption.parts))
    raise InputError(
        f"Automatic clipping keeps known moduli of continuity alone, got assumption={type(assumption).__name__}; "
        "assume Smooth, Holder or Clipped, or tabulate a modulus of your own."
    )
