"""Functions of single entries, and ranges of their slopes and curvatures on an interval.

Between its kinks a function is given on power series, which have all of its derivatives in ball arithmetic. The
extremes of a slope or curvature are at an end of the interval or at a known zero of the next derivative. A
piecewise linear function has zero curvature except at its kinks, where its slope jumps.

Source: docs/proofs/network_constants.md, "Activations".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import factorial, inf
from types import MappingProxyType
from typing import Any, Final

from flint import arb, arb_series

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.rounding import exact

Zeros = Callable[[], tuple[arb, ...]]


@dataclass(frozen=True)
class Activation:
    """A function of single entries.

    Attributes:
        name: name in messages, and key in `FUNCTIONS`.
        pieces: the function on power series, between one kink and the next.
        kinks: points, in order, at which it is not smooth.
        most: upper bounds on the absolute values of its derivatives of order 0, 1, ... everywhere.
        positive: whether arguments must be positive.
        turns: absolute values of the zeros of the second derivative; needed for `slopes`.
        bends: absolute values of the zeros of the third derivative; needed for `curvatures`.
    """

    name: str
    pieces: tuple[Callable[[Any], Any], ...]
    kinks: tuple[float, ...] = ()
    most: tuple[float, ...] = ()
    positive: bool = False
    turns: Zeros = tuple
    bends: Zeros = tuple

    def derivatives(self, x: arb, total: int) -> list[arb]:
        """Derivatives of order 0, ..., total - 1 on a ball; nan where they may not exist everywhere in it."""
        smooth = all(x > kink or x < kink for kink in self.kinks) or (total == 1 and x.is_exact())
        if not x.is_finite() or not smooth or (self.positive and not x > 0):
            return [arb("nan")] * total
        try:
            return _derivatives(self.pieces[sum(x > kink for kink in self.kinks)], x, total)
        except ValueError:  # a division by 0
            return [arb("nan")] * total

    def value(self, x: arb) -> arb:
        """The function at a point."""
        return self.derivatives(x, 1)[0]

    def slope(self, x: arb) -> arb:
        """The first derivative at a point that is not a kink."""
        return self.derivatives(x, 2)[1]

    def curvature(self, x: arb) -> arb:
        """The second derivative at a point that is not a kink."""
        return self.derivatives(x, 3)[2]

    def slopes(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on the one-sided slopes over [low, high]."""
        if not self.kinks:
            return _extremes(self.slope, low, high, self.turns())
        edges = (-inf, *self.kinks, inf)
        found = [
            _derivatives(piece, end, 2)[1]
            for piece, left, right in zip(self.pieces, edges[:-1], edges[1:], strict=True)
            if not high < exact(left) and not low > exact(right)
            for end in (low.max(exact(left)), high.min(exact(right)))
        ]
        return reduce(arb.min, found), reduce(arb.max, found)

    def curvatures(self, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on the curvature over [low, high]; infinite if a kink can lie in the interval."""
        if not all(low > exact(kink) or high < exact(kink) for kink in self.kinks):
            return -arb("inf"), arb("inf")
        return _extremes(self.curvature, low, high, self.bends())


def _derivatives(piece: Callable[[Any], Any], x: arb, total: int) -> list[arb]:
    found = list(piece(arb_series([x, 1], prec=total)))
    return [c * factorial(k) for k, c in enumerate(found + [arb(0)] * (total - len(found)))]


def _extremes(curve: Callable[[arb], arb], low: arb, high: arb, zeros: tuple[arb, ...]) -> tuple[arb, arb]:
    between = [zero for one in zeros for zero in (one, -one) if not zero < low and not zero > high]
    values = [curve(place) for place in (low, high, *between)]
    return reduce(arb.min, values), reduce(arb.max, values)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + (-x).exp())


def _softplus(x: Any) -> Any:
    return (1 + x.exp()).log()


def _steepest_bend() -> arb:
    """The positive maximiser of |tanh''|."""
    return (1 / arb(3).sqrt()).atanh()


FUNCTIONS: Final[Mapping[str, Activation]] = MappingProxyType({
    one.name: one
    for one in (
        Activation("identity", (lambda x: x,), most=(inf, 1.0, 0.0, 0.0)),
        Activation(
            "tanh", (lambda x: 1 - 2 / (1 + (2 * x).exp()),), most=(1.0, 1.0, 0.769800358919502, 2.0),
            turns=lambda: (arb(0),), bends=lambda: (_steepest_bend(),),
        ),
        Activation(
            "sigmoid", (_sigmoid,), most=(1.0, 0.25, 0.0962250448649377, 0.125),
            turns=lambda: (arb(0),), bends=lambda: (2 * _steepest_bend(),),
        ),
        Activation("softplus", (_softplus,), most=(inf, 1.0, 0.25, 0.0962250448649377), bends=lambda: (arb(0),)),
        Activation(
            "gelu", (lambda x: x * (1 + (x / arb(2).sqrt()).erf()) / 2,),
            most=(inf, 1.12890414518516, 0.797884560802866, 0.779),
            turns=lambda: (arb(2).sqrt(),), bends=lambda: (arb(0), arb(2)),
        ),
        Activation("gelu_tanh", (lambda x: x * _sigmoid((8 / arb.pi()).sqrt() * (x + arb("0.044715") * x * x * x)),)),
        Activation("silu", (lambda x: x * _sigmoid(x),), most=(inf, 1.1, 0.5, 0.309)),
        Activation("log_sigmoid", (lambda x: -_softplus(-x),), most=(inf, 1.0, 0.25, 0.0962250448649377)),
        Activation("erf", (lambda x: x.erf(),)),
        Activation("sin", (lambda x: x.sin(),), most=(1.0,) * 5),
        Activation("cos", (lambda x: x.cos(),), most=(1.0,) * 5),
        Activation("exp", (lambda x: x.exp(),)),
        Activation("reciprocal", (lambda x: 1 / x,)),
        Activation("log", (lambda x: x.log(),), positive=True),
        Activation("sqrt", (lambda x: x.sqrt(),), positive=True),
        Activation("rsqrt", (lambda x: x.rsqrt(),), positive=True),
        Activation("abs", (lambda x: -x, lambda x: x), (0.0,)),
    )
})  # fmt: skip
"""Functions by name, as in torch: GELU with the error function, softplus with beta = 1."""

SMOOTH: Final = MappingProxyType({
    name: FUNCTIONS[name] for name in ("identity", "tanh", "sigmoid", "softplus", "gelu")
})  # fmt: skip
"""The smooth activations whose slopes and curvatures have known ranges."""


def leaky_relu(negative_slope: float = 0.0, *, name: str = "relu") -> Activation:
    """The activation max(0, x) + negative_slope min(0, x)."""
    return Activation(name, (lambda x: exact(negative_slope) * x, lambda x: x), (0.0,))


def hardtanh(low: float = -1.0, high: float = 1.0, *, name: str = "hardtanh") -> Activation:
    """The activation min(max(x, low), high)."""
    return Activation(
        name, (lambda x: 0 * x + exact(low), lambda x: x, lambda x: 0 * x + exact(high)), (low, high)
    )


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
