"""Constants of networks, from finite differences of losses that are written out.

On a ball of radius 0, the certified constants equal the constants at the centre. On a larger ball, no point
may have a longer gradient or a greater curvature, and the recorded value is the upper limit.
"""

from collections.abc import Callable, Iterator
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from scipy.special import erf

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses import certified
from lastiterate.numeric.losses.activations import SMOOTH, activation
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.layers import Layer, average_pool, convolution
from lastiterate.numeric.rounding import precision
from recomputations.record import EXACT, Number, as_recorded, equals, near

_FIRST, _SECOND = 1e-20, 1e-5
"""Step sizes of complex-step gradients, which have no cancellation, and of their central differences."""
_RADIUS = 0.02

_PHI: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "gelu": lambda x: x * (1 + erf(x / sqrt(2))) / 2,
}


class _Case(NamedTuple):
    """Layers and an input for the code, the outputs as a function of all parameters, and the centre."""

    layers: list[Layer]
    x: Array
    outputs: Callable[[Any], Any]
    centre: Array

    def constants(self, place: Array) -> tuple[float, float]:
        """Greatest norms of gradient and Hessian of the cross-entropy, over all labels."""
        basis = np.eye(len(place))

        def gradients(at: Array) -> Any:
            outputs = np.array([self.outputs(at + 1j * _FIRST * one) for one in basis])
            losses = np.log(np.exp(outputs).sum(axis=1, keepdims=True)) - outputs
            return losses.T.imag / _FIRST

        steps = [gradients(place + _SECOND * one) - gradients(place - _SECOND * one) for one in basis]
        hessians = np.stack(steps, axis=1) / (2 * _SECOND)
        steepest = np.linalg.norm(gradients(place), axis=1).max()
        return float(steepest), float(np.linalg.norm(hessians, 2, axis=(1, 2)).max())


def _dense(name: str) -> _Case:
    rng = np.random.default_rng(3)
    W, b, V, c = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=2)
    x = np.array([0.7, -1.1])

    def outputs(at: Any) -> Any:
        hidden = _PHI[name](at[:6].reshape(3, 2) @ x + at[6:9])
        return at[9:15].reshape(2, 3) @ hidden + at[15:]

    return _Case([Layer(W, b, name), Layer(V, c)], x, outputs, np.concatenate([W.ravel(), b, V.ravel(), c]))


def _convolutional() -> _Case:
    rng = np.random.default_rng(7)
    kernel, bias, V = rng.normal(size=(2, 1, 2)), rng.normal(size=2), rng.normal(size=(2, 4))
    x = rng.normal(size=5)
    padded = np.pad(x, 1)

    def outputs(at: Any) -> Any:
        places = [at[:4].reshape(2, 2) @ padded[k : k + 2] + at[4:6] for k in (0, 2, 4)]
        first, second, third = (_PHI["softplus"](place) for place in places)
        pooled = np.stack([first + second, second + third], axis=1) / 2
        return at[6:].reshape(2, 4) @ pooled.ravel()

    layers = [
        convolution(kernel, bias, (1, 5), stride=2, padding=1, activation="softplus"),
        average_pool((2, 3), 2, stride=1),
        Layer(V),
    ]
    return _Case(layers, x, outputs, np.concatenate([kernel.ravel(), bias, V.ravel()]))


def recompute_at_the_centre() -> Iterator[Number]:
    """Constants on a ball of radius 0 and on a small ball."""
    cases = {name: _dense(name) for name in ("tanh", "gelu", "sigmoid")}
    cases["convolution"] = _convolutional()
    for name, case in cases.items():
        found = network_constants(case.layers, [case.x], 0.0)
        steepest, curved = case.constants(case.centre)
        yield equals(f"gradient of the {name} network", found.lipschitz, steepest)
        yield equals(f"curvature of the {name} network", found.smoothness, curved)
        around = network_constants(case.layers, [case.x], _RADIUS, scale=2.0)
        away = np.random.default_rng(1).normal(size=len(case.centre))
        steepest, curved = case.constants(case.centre + _RADIUS * away / np.linalg.norm(away))
        yield as_recorded(f"gradient of the {name} network on a ball", around.lipschitz, least=2 * steepest)
        yield as_recorded(f"curvature of the {name} network on a ball", around.smoothness, least=2 * curved)
    wide = network_constants(cases["tanh"].layers, [[0.0, 0.0]], 0.1, input_radius=1.0)
    yield as_recorded("gradient of the tanh network for any input", wide.lipschitz)
    yield as_recorded("curvature of the tanh network for any input", wide.smoothness)
    single = Layer([[0.5, -0.5]], [0.2])
    logistic = network_constants([single], [[0.6, 0.8]], 0.0, loss="logistic")
    p = 1 / (1 + np.exp(0.5 * 0.2 - 0.2))
    yield equals("gradient of one logistic output", logistic.lipschitz, sqrt(2.0) * max(p, 1 - p))
    yield equals("curvature of one logistic output", logistic.smoothness, 2.0 * p * (1 - p))


def recompute_closed_forms() -> Iterator[Number]:
    """Constants of regressions and of two-layer networks, and extremes of activations on a grid."""
    bent, jacobian = 4 / (3 * sqrt(3)) * 0.8 * 4, 9.0 + 1 + (0.8 * 2) ** 2
    hessian = (bent + sqrt(bent**2 + 4 * 4)) / 2
    softmax = certified.softmax_regression(3.0, scale=2.0, l2=0.5, parameter_norm=4.0)
    tanh = certified.two_layer(2.0, first_norm=1.5, second_norm=0.8, radius=0.5, hidden=9, activation="tanh")
    cases = (
        ("softmax regression", softmax, 2 * sqrt(2) * 3 + 0.5 * 4, 2 * 9 / 2 + 0.5),
        ("logistic regression", certified.logistic_regression(3.0, scale=2.0), 6.0, 2 * 9 / 4),
        ("a linear score", certified.linear_score(3.0, slope=1.5, curvature=2.0, name="a score"), 4.5, 18.0),
        ("two layers", tanh, sqrt(2 * jacobian), jacobian / 2 + sqrt(2) * hessian),
    )
    for name, found, lipschitz, smoothness in cases:
        yield equals(f"{name}, Lipschitz", found.lipschitz, lipschitz)
        yield equals(f"{name}, smoothness", found.smoothness, smoothness)
    yield equals("softmax regression, convexity", softmax.strong_convexity, 0.5)
    outputs = (2 * log(2) + 0.4 * 0.5) ** 2
    found = certified.two_layer(
        0.5, first_norm=0.4, second_norm=0.8, radius=0.5, hidden=4, activation="softplus"
    )
    yield equals("two layers of softplus, Lipschitz", found.lipschitz, sqrt(2 * (outputs + 1 + 0.16)))
    far, inside = np.linspace(-40.0, 40.0, 80_001), np.linspace(-0.5, 2.5, 3_001)
    with precision():
        for name, phi in SMOOTH.items():
            everywhere, here = _derivatives(name, far), _derivatives(name, inside)
            for order, what, greatest, enclose in (
                (0, "slope", phi.most[1], phi.slopes),
                (1, "curvature", phi.most[2], phi.curvatures),
            ):
                yield near(f"greatest {what} of {name}", greatest, np.abs(everywhere[order]).max(), 5e-7)
                least, most = enclose(arb("-0.5"), arb("2.5"))
                yield near(f"least {what} of {name} on [-0.5, 2.5]", float(least), here[order].min())
                yield near(f"most {what} of {name} on [-0.5, 2.5]", float(most), here[order].max())
        bent_once = (("relu", -1, 2, 0, 1), ("leaky_relu", -2, -1, 0.01, 0.01), ("hardtanh", 0, 3, 0, 1))
        for name, low, high, smaller, greater in bent_once:
            least, most = activation(name).slopes(arb(low), arb(high))
            yield near(f"least slope of {name} on [{low}, {high}]", float(least), smaller, EXACT)
            yield near(f"most slope of {name} on [{low}, {high}]", float(most), greater, EXACT)


def _derivatives(name: str, x: Array) -> tuple[Array, Array]:
    above, at, below = (
        np.imag(_PHI[name](x + step + 1j * _FIRST)) / _FIRST for step in (_SECOND, 0.0, -_SECOND)
    )
    return at, (above - below) / (2 * _SECOND)
