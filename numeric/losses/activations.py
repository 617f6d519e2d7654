"""Ranges of the slope and the curvature of an activation on an interval.

For a smooth activation the extremes are at an end of the interval or at known zeros of a derivative. A
piecewise linear activation has zero curvature except at its kinks, where its slope jumps.

Source: docs/proofs/network_constants.md, "Activations".
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import inf
from types import MappingProxyType
from typing import Final

from flint import arb

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.rounding import exact

Curve = Callable[[arb], arb]


@dataclass(frozen=True)
class SmoothActivation:
    """An activation with a continuous curvature.

    Attributes:
        name: key in `SMOOTH`.
        value, slope, curvature: phi, phi', phi'' at a point.
        turns: absolute values of the zeros of phi''.
        bends: absolute values of the zeros of phi'''.
        bound: upper bound on |phi|; infinite if phi' tends to 1 at infinity.
    """

    name: str
    value: Curve
    slope: Curve
    curvature: Curve
    turns: Callable[[], tuple[arb, ...]]
    bends: Callable[[], tuple[arb, ...]]
    bound: float = inf

    @property
    def steepest(self) -> arb:
        """The maximum of |phi'|, at a zero of phi'' or at infinity."""
        return _largest(self.slope, self.turns(), far=1.0 if self.bound == inf else 0.0)

    @property
    def most_curved(self) -> arb:
        """The maximum of |phi''|, at a zero of phi''', since phi'' vanishes at infinity."""
        return _largest(self.curvature, self.bends(), far=0.0)

    def slopes(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on phi' over [low, high]."""
        return _ends(self.slope, low, high, self.turns())

    def curvatures(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on phi'' over [low, high]."""
        return _ends(self.curvature, low, high, self.bends())


@dataclass(frozen=True)
class PiecewiseLinear:
    """A continuous activation with slopes pieces[0], pieces[1], ... between its increasing ``kinks``."""

    name: str
    kinks: tuple[float, ...]
    pieces: tuple[float, ...]
    value: Curve

    def slopes(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on the one-sided slopes over [low, high]."""
        edges = (-inf, *self.kinks, inf)
        met = [
            piece
            for piece, left, right in zip(self.pieces, edges[:-1], edges[1:], strict=True)
            if not high < exact(left) and not low > exact(right)
        ]
        return exact(min(met)), exact(max(met))

    def curvatures(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on phi'' over [low, high]: 0 if no kink can lie in the interval, else infinite."""
        clear = all(low > exact(kink) or high < exact(kink) for kink in self.kinks)
        return (arb(0), arb(0)) if clear else (-arb("inf"), arb("inf"))


Activation = SmoothActivation | PiecewiseLinear


def _ends(curve: Curve, low: arb, high: arb, zeros: tuple[arb, ...]) -> tuple[arb, arb]:
    between = [zero for one in zeros for zero in (one, -one) if not zero < low and not zero > high]
    values = [curve(place) for place in (low, high, *between)]
    return reduce(arb.min, values), reduce(arb.max, values)


def _largest(curve: Curve, zeros: tuple[arb, ...], far: float) -> arb:
    return reduce(arb.max, (abs(curve(place)) for zero in zeros for place in (zero, -zero)), exact(far))


def _sigmoid(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def _bell(x: arb) -> arb:
    return 1 / ((1 + x.exp()) * (1 + (-x).exp()))


def _density(x: arb) -> arb:
    return (-(x**2) / 2).exp() / (2 * arb.pi()).sqrt()


def _normal(x: arb) -> arb:
    return (1 + (x / arb(2).sqrt()).erf()) / 2


def _steepest_bend() -> arb:
    """The positive maximiser of |tanh''|."""
    return (1 / arb(3).sqrt()).atanh()


SMOOTH: Final = MappingProxyType(
    {
        one.name: one
        for one in (
            SmoothActivation(
                "identity", lambda x: x, lambda _: arb(1), lambda _: arb(0), lambda: (), lambda: ()
            ),
            SmoothActivation(
                "tanh",
                lambda x: x.tanh(),
                lambda x: 4 * _bell(2 * x),
                lambda x: -8 * x.tanh() * _bell(2 * x),
                lambda: (arb(0),),
                lambda: (_steepest_bend(),),
                bound=1.0,
            ),
            SmoothActivation(
                "sigmoid",
                _sigmoid,
                _bell,
                lambda x: -(x / 2).tanh() * _bell(x),
                lambda: (arb(0),),
                lambda: (2 * _steepest_bend(),),
                bound=1.0,
            ),
            SmoothActivation(
                "softplus", lambda x: (1 + x.exp()).log(), _sigmoid, _bell, lambda: (), lambda: (arb(0),)
            ),
            SmoothActivation(
                "gelu",
                lambda x: x * _normal(x),
                lambda x: _normal(x) + x * _density(x),
                lambda x: (2 - x**2) * _density(x),
                lambda: (arb(2).sqrt(),),
                lambda: (arb(0), arb(2)),
            ),
        )
    }
)
"""The smooth activations by name, as in torch: GELU with the error function, softplus with beta = 1."""


def leaky_relu(negative_slope: float = 0.0, *, name: str = "relu") -> PiecewiseLinear:
    """The activation max(0, x) + negative_slope min(0, x)."""
    return PiecewiseLinear(
        name, (0.0,), (negative_slope, 1.0), lambda x: x.max(arb(0)) + exact(negative_slope) * x.min(arb(0))
    )


def hardtanh(low: float = -1.0, high: float = 1.0, *, name: str = "hardtanh") -> PiecewiseLinear:
    """The activation min(max(x, low), high)."""
    return PiecewiseLinear(name, (low, high), (0.0, 1.0, 0.0), lambda x: x.max(exact(low)).min(exact(high)))


def activation(name: str) -> Activation:
    """The activation of this name; piecewise linear activations use torch's defaults.

    Raises:
        InputError: the activation is unknown.
    """
    piecewise = {
        "relu": leaky_relu(),
        "leaky_relu": leaky_relu(0.01, name="leaky_relu"),
        "hardtanh": hardtanh(),
    }
    known: dict[str, Activation] = {**SMOOTH, **piecewise}
    if not isinstance(name, str) or name not in known:
        raise InputError(
            f"activation needs one of {', '.join(known)}, got activation={echo(name)}; choose one of them."
        )
    return known[name]
