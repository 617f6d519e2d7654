"""The exact optimum for an affine expansion e(z) = c z + s, behind its feasibility test.

For a window of w steps that starts at distance Delta the optimum over shifts is

    (s V + Delta)^2 / W,  V = sum_{j=1..w} c^-j,  W = sum_{j=1..w} c^-2j,  a_j = lam c^-j,  lam = (s V + Delta) / W,

provided that z_t >= 0 on the way. For c <= 1 it always is. For c > 1 it is if and only if lam c^-w >= s; where
it is not, the formula *under-reports* the loss (c = 1.1, Delta = 0, T = 1000: 21 s^2 where the truth is 1000 s^2).

Over w the value is unimodal, so the best window is found in O(1):

    c = 1: w* = Delta / s;  c > 1: c^w* = 1 + Delta (c - 1) / s;  c < 1: c^w* = 1 - Delta (1 - c) / s.

Derivation: claims chien_li/theorem_3_1/... in `lastiterate.symbolic`. All costs are in units of the noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, isfinite, log, log1p

from flint import arb

from lastiterate.numeric.rounding import exact

__all__ = ["Window", "best_window", "geometric_sum", "untested", "window"]


@dataclass(frozen=True)
class Window:
    """A window of w steps: its cost (enclosed), and lam, so that a_j = lam c^-j."""

    length: int
    cost: arb
    lam: arb


def window(c: arb, s: arb, delta: arb, length: int) -> Window | None:
    """The optimum over ``length`` steps from distance ``delta``, or None where it is not certainly feasible.

    Args:
        c: contraction or expansion of one step, a ball above 0.
        s: sensitivity of one step, a length.
        delta: distance at the start, a length.
        length: w >= 1.

    >>> w = window(arb(1), arb("0.08"), arb(1), 13)
    >>> round(float(w.cost), 6)
    0.320123
    """
    found = untested(c, s, delta, length)
    return found if c <= 1 or found.lam * c**-length >= s else None


def untested(c: arb, s: arb, delta: arb, length: int) -> Window:
    """The closed form without its feasibility test: no bound where z_t < 0 on the way. Arguments as `window`."""
    V, W = geometric_sum(1 / c, length), geometric_sum(1 / c**2, length)
    return Window(length, (s * V + delta) ** 2 / W, (s * V + delta) / W)


def geometric_sum(ratio: arb, length: int) -> arb:
    """Ratio + ... + ratio^length, enclosed."""
    if (ratio - 1).contains(0):  # the ratio is 1, or too close to it for the quotient
        return length * ratio.union(ratio**length)
    return ratio * (1 - ratio**length) / (1 - ratio)


def best_window(c: arb, s: arb, delta: float, steps: int) -> Window | None:
    """The cheapest feasible window of at most ``steps`` steps; None where no window is certainly feasible.

    Args:
        c: contraction or expansion of one step, a ball above 0.
        s: sensitivity of one step, a length.
        delta: distance at the start of the window, a length.
        steps: the longest window allowed.
    """
    best: Window | None = None
    for length in _candidates(float(c), float(s), delta, steps):
        found = window(c, s, exact(delta), length)
        if found is not None and (best is None or found.cost.upper() < best.cost.upper()):
            best = found
    return best


def _candidates(c: float, s: float, delta: float, steps: int) -> Iterator[int]:
    """Lengths around the real optimum; floats suffice, since any feasible length gives a valid bound."""
    grow = delta * (c - 1) / s
    if grow <= -1:
        stationary = inf
    elif abs(grow) < 1e-12 or c == 1:
        stationary = delta / s
    else:
        stationary = log1p(grow) / log(c)
    centre = ceil(stationary) if isfinite(stationary) and stationary < steps else steps
    yield from range(max(1, centre - 2), min(steps, centre + 2) + 1)
    if centre > 3:
        yield 1
