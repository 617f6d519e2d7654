"""Functions of single entries.

Between its kinks a function is given on power series, which have all of its derivatives in ball arithmetic.

Source: docs/proofs/network_constants.md, "Activations".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import factorial, inf
from types import MappingProxyType
from typing import Any, Final

from flint import arb, arb_series

from lastiterate.numeric.rounding import exact


@dataclass(frozen=True)
class Activation:
    """A function of single entries.

    Attributes:
        name: name in messages, and key in `FUNCTIONS`.
        pieces: the function on power series, between one kink and the next.
        kinks: points, in order, at which it is not smooth.
        most: upper bounds on the absolute values of its derivatives of order 0, 1, ... everywhere.
        positive: whether arguments must be positive.
    """

    name: str
    pieces: tuple[Callable[[Any], Any], ...]
    kinks: tuple[float, ...] = ()
    most: tuple[float, ...] = ()
    positive: bool = False

    def derivatives(self, x: arb, total: int) -> list[arb]:
        """Derivatives of order 0, ..., total - 1 on a ball; nan where they may not exist everywhere in it.

        At a kink there are the value and the slopes on both sides.
        """
        if not x.is_finite() or (self.positive and not x > 0):
            return [arb("nan")] * total
        edges = (-inf, *self.kinks, inf)
        try:
            first, *others = (
                _derivatives(piece, x, total)
                for piece, left, right in zip(self.pieces, edges[:-1], edges[1:], strict=True)
                if not x < left and not x > right
            )
        except ValueError:  # a division by 0
            return [arb("nan")] * total
        for other in others:
            first = [a.union(b) for a, b in zip(first[:2], other, strict=False)] + [arb("nan")] * (total - 2)
        return first[:total]

    def value(self, x: arb) -> arb:
        """The function at a point."""
        return self.derivatives(x, 1)[0]


def _derivatives(piece: Callable[[Any], Any], x: arb, total: int) -> list[arb]:
    found = list(piece(arb_series([x, 1], prec=total)))
    return [c * factorial(k) for k, c in enumerate(found + [arb(0)] * (total - len(found)))]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + (-x).exp())


def _softplus(x: Any) -> Any:
    return (1 + x.exp()).log()


FUNCTIONS: Final[Mapping[str, Activation]] = MappingProxyType({
    one.name: one
    for one in (
        Activation("identity", (lambda x: x,), most=(inf, 1.0, 0.0, 0.0)),
        Activation(
            "tanh", (lambda x: 1 - 2 / (1 + (2 * x).exp()),), most=(1.0, 1.0, 0.769800358919502, 2.0)
        ),
        Activation(
            "sigmoid", (_sigmoid,), most=(1.0, 0.25, 0.0962250448649377, 0.125)),
        Activation("softplus", (_softplus,), most=(inf, 1.0, 0.25, 0.0962250448649377)),
        Activation(
            "gelu", (lambda x: x * (1 + (x / arb(2).sqrt()).erf()) / 2,),
            most=(inf, 1.12890414518516, 0.797884560802866, 0.779),
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
"""The activations of networks of two layers that have a closed form."""


def leaky_relu(negative_slope: float = 0.0, *, name: str = "relu") -> Activation:
    """The activation max(0, x) + negative_slope min(0, x)."""
    return Activation(name, (lambda x: exact(negative_slope) * x, lambda x: x), (0.0,))


def hardtanh(low: float = -1.0, high: float = 1.0, *, name: str = "hardtanh") -> Activation:
    """The activation min(max(x, low), high)."""
    return Activation(
        name, (lambda x: 0 * x + exact(low), lambda x: x, lambda x: 0 * x + exact(high)), (low, high)
    )
