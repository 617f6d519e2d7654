"""Maps that come after the noise of a step, such as proximal steps, and a trial of what the theorems ask of them.

The theorems speak of steps W <- P(phi(W) + noise), P any map that is 1-Lipschitz, the same in both runs and blind to
the data (docs/proofs/shift_program.md). The proximal map of a convex function is one; so is a projection after it.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.random_streams import stream

Proximal = Callable[[Tensor], Tensor]
"""Takes all parameters one after the other, shape (dimension,), to such a vector."""

_PURPOSE: Final = 2**50
_SCALES: Final = 10.0 ** torch.arange(-6.0, 3.0)
_PAIRS: Final = 8
_ITERATIONS: Final = 12
_FLOOR: Final = 64.0
"""Rounding that is assumed of a map, in units of the last place of the longest vector."""


@torch.no_grad()
def check_nonexpansive(proximal: Proximal, start: Tensor, radius: float) -> None:
    """Refuse a map that moves two points apart, with these points; what is not refused is not proved.

    Pairs are drawn at many distances around many points. Each of them is turned to where the map stretches more, by the
    powers of its derivative, which is symmetric for the proximal map of a convex function.

    Args:
        proximal: the map.
        start: shape (dimension,), a point around which it is tried.
        radius: of the ball around it on which points are drawn, a length.

    Raises:
        InputError: the map is none of vectors of this shape, is random, or expands.
    """
    generator = stream(0, purpose=_PURPOSE)

    def drawn(length: float) -> Tensor:
        one = generator.normals(1, len(start), start, torch.float64)[0]
        return one.mul_(length / float(one.norm()))

    if not torch.equal(_mapped(proximal, start), _mapped(proximal, start)):
        raise InputError(
            "proximal needs a map without randomness, got other values at the same point; draw nothing in it."
        )
    for scale in _SCALES.tolist():
        for _ in range(_PAIRS):
            x = start + drawn(radius * float(generator.uniform(1, 1)))
            direction = drawn(scale * radius)
            for _ in range(_ITERATIONS):
                y = x + direction
                there, here = _mapped(proximal, y), _mapped(proximal, x)
                moved, apart = float((there - here).double().norm()), float((y - x).double().norm())
                longest = max(float(one.norm()) for one in (x, y, here, there))
                floor = _FLOOR * torch.finfo(start.dtype).eps * longest
                if moved > apart + floor:
                    raise InputError(
                        f"proximal needs a map that moves no two points apart, got images {moved:.6g} apart of points "
                        f"{apart:.6g} apart; take the proximal map of a convex function, or a projection onto a convex "
                        "set."
                    )
                if not moved > floor:
                    break
                direction = (there - here) * (scale * radius / moved)


def _mapped(proximal: Proximal, point: Tensor) -> Tensor:
    found = proximal(point.clone())
    if not isinstance(found, Tensor) or found.shape != point.shape or not bool(torch.isfinite(found).all()):
        got = type(found).__name__
        if isinstance(found, Tensor):
            got = "nan or inf" if found.shape == point.shape else f"shape {tuple(found.shape)}"
        raise InputError(
            f"proximal needs to return {len(point)} finite numbers, got {got}; it takes all parameters one after the "
            "other."
        )
    return found
