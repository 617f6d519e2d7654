"""Response of an activation to inputs that are known as a ball: its values, its slopes and its second derivative.

Source: docs/proofs/network_constants.md, "Balls" (claims ours/certified/network/*).
"""

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

import numpy as np
from flint import arb

from lastiterate.numeric.losses.activations import PiecewiseLinear, SmoothActivation
from lastiterate.numeric.networks.bounds import Spread
from lastiterate.numeric.networks.matrices import Floats, MatrixBall, Slopes, as_float, raised
from lastiterate.numeric.rounding import exact


class Bends(Protocol):
    """The second derivative of an activation on a ball of its inputs."""

    @property
    def finite(self) -> bool:
        """True if it is bounded: no kink lies in the ball."""

    def largest(self, each: Floats, total: arb) -> arb:
        """At least |m . phi''(u, u)| for |u| = 1 and every m, |m_i| <= each[i], shape (width,), and |m| <= total."""

    def form(self, at: Floats, off: Spread) -> Slopes | MatrixBall:
        """All quadratic forms u -> m . phi''(u, u), m within ``off`` of ``at``."""


@dataclass(frozen=True)
class Response:
    """Values and derivatives of an activation on a ball of inputs.

    Attributes:
        values: at the centre, shape (width,).
        off: how far from there the exact values may be, shape (width,).
        slopes: its derivative, wherever in the ball.
        bends: its second derivative.
        most: how far from ``values`` it may be anywhere; None where that is not bounded.
    """

    values: Floats
    off: Floats
    slopes: Slopes | MatrixBall
    bends: Bends
    most: Spread | None = None


@dataclass(frozen=True)
class _EntryBends:
    """phi'' of an activation that acts entry by entry."""

    ranges: Slopes

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.ranges.spread).all())

    def largest(self, each: Floats, total: arb) -> arb:  # noqa: ARG002
        return exact(float(raised((each * self.ranges.above).max(), 2)))

    def form(self, at: Floats, off: Spread) -> Slopes:
        middle = at * self.ranges.middle
        spread = np.abs(at) * self.ranges.spread + off.each * self.ranges.above + np.abs(middle) * 2.0**-52
        return Slopes(middle, raised(spread, 4))


def entrywise(phi: SmoothActivation | PiecewiseLinear, center: Floats, spread: Spread) -> Response:
    """Response of an activation that acts entry by entry, to inputs within ``spread`` of ``center``."""
    ends = [
        (exact(a) - exact(off), exact(a) + exact(off))
        for a, off in zip(center.tolist(), spread.each.tolist(), strict=True)
    ]
    slopes, curved = (_around([curve(*one) for one in ends]) for curve in (phi.slopes, phi.curvatures))
    return Response(*rounded([phi.value(exact(a)) for a in center.tolist()]), slopes, _EntryBends(curved))


def rounded(exactly: list[arb]) -> tuple[Floats, Floats]:
    """The middles of balls as floats, and at least the distance of each from the numbers in the ball."""
    values = np.array([float(value.mid()) for value in exactly])
    return values, np.array([as_float(abs(v - exact(c))) for v, c in zip(exactly, values.tolist(), strict=True)])


def _around(ranges: list[tuple[arb, arb]]) -> Slopes:
    middles, radii = [], []
    for least, most in ranges:
        middle = float(((least + most) / 2).mid())
        middles.append(middle if isfinite(middle) else 0.0)
        radii.append(as_float((most - exact(middles[-1])).max(exact(middles[-1]) - least)))
    return Slopes(np.array(middles), np.array(radii))
