"""Constants of networks: gradients and Hessians by differences of the loss, the network written out in loops.

On a ball of radius 0 the certified constants are those of the centre. On a larger one none of its points may have a
longer gradient or a greater curvature; from above there is what was recorded.
"""

from collections.abc import Callable, Iterator
from math import erf, log, sqrt

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.losses import certified
from lastiterate.numeric.losses.activations import SMOOTH, activation
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.layers import Layer, average_pool, convolution
from lastiterate.numeric.rounding import precision
from lastiterate.proofs_checks.recomputations.record import EXACT, Number, as_recorded, equals, near

Array = NDArray[np.float64]
_FIRST, _SECOND = 1e-7, 2e-5
"""Errors of differences of first and second order."""
_BY, _RADIUS = "differences of the loss", 0.02

_PHI: dict[str, Callable[[Array], Array]] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "gelu": lambda x: x * (1 + np.array([erf(v / sqrt(2)) for v in np.ravel(x)]).reshape(x.shape)) / 2,
}


def _convolved(x: Array, kernel: Array, bias: Array, *, stride: int, padding: int) -> Array:
    """A convolution of shape (channels, inputs, width) over inputs of shape (inputs, length), by loops."""
    padded = np.pad(x, ((0, 0), (padding, padding)))
    places = range(0, padded.shape[1] - kernel.shape[2] + 1, stride)
    return np.array(
        [
            [(padded[:, p : p + kernel.shape[2]] * one).sum() + b for p in places]
            for one, b in zip(kernel, bias, strict=True)
        ]
    )


def _cross_entropy(outputs: Array, label: int) -> float:
    return float(np.log(np.exp(outputs - outputs.max()).sum()) + outputs.max() - outputs[label])


class _Case:
    def __init__(self, layers: list[Layer], x: Array, forward: Callable[[Array], Array], start: Array) -> None:
        self.layers, self.x, self.forward, self.start = layers, x, forward, start
        self.labels = range(len(forward(start)))

    def gradient(self, at: Array, label: int, step: float = 1e-5) -> float:
        basis = np.eye(len(at)) * step
        return float(
            np.linalg.norm([self._loss(at + e, label) - self._loss(at - e, label) for e in basis]) / (2 * step)
        )

    def curvature(self, at: Array, label: int, step: float = 2e-4) -> float:
        """The spectral norm of the Hessian, from the outputs' values at all pairs of steps."""
        count, basis = len(at), np.eye(len(at)) * step
        hessian = np.zeros((count, count))
        single = [(self._loss(at + e, label), self._loss(at - e, label)) for e in basis]
        middle = self._loss(at, label)
        for i in range(count):
            hessian[i, i] = single[i][0] + single[i][1] - 2 * middle
            for j in range(i):
                both = self._loss(at + basis[i] + basis[j], label) + self._loss(at - basis[i] - basis[j], label)
                hessian[i, j] = hessian[j, i] = (both - sum(single[i]) - sum(single[j]) + 2 * middle) / 2
        return float(np.abs(np.linalg.eigvalsh(hessian)).max() / step**2)

    def _loss(self, at: Array, label: int) -> float:
        return _cross_entropy(self.forward(at), label)


def _dense(name: str) -> _Case:
    rng = np.random.default_rng(3)
    W, b, V, c = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=2)
    x = np.array([0.7, -1.1])

    def forward(at: Array) -> Array:
        hidden = _PHI[name](at[:6].reshape(3, 2) @ x + at[6:9])
        return np.asarray(at[9:15].reshape(2, 3) @ hidden + at[15:])

    layers = [Layer(W, b, name), Layer(V, c)]
    return _Case(layers, x, forward, np.concatenate([W.ravel(), b, V.ravel(), c]))


def _convolutional() -> _Case:
    rng = np.random.default_rng(7)
    kernel, bias, V = rng.normal(size=(2, 1, 2)), rng.normal(size=2), rng.normal(size=(2, 4))
    x = rng.normal(size=5)

    def forward(at: Array) -> Array:
        maps = _PHI["softplus"](_convolved(x[None], at[:4].reshape(2, 1, 2), at[4:6], stride=2, padding=1))
        pooled = np.stack([(maps[:, k] + maps[:, k + 1]) / 2 for k in (0, 1)], axis=1)
        return np.asarray(at[6:].reshape(2, 4) @ pooled.ravel())

    layers = [
        convolution(kernel, bias, (1, 5), stride=2, padding=1, activation="softplus"),
        average_pool((2, 3), 2, stride=1),
        Layer(V),
    ]
    return _Case(layers, x, forward, np.concatenate([kernel.ravel(), bias, V.ravel()]))


def recompute_at_the_centre() -> Iterator[Number]:
    """On a ball of radius 0, and on one that is small."""
    cases = {name: _dense(name) for name in ("tanh", "gelu", "sigmoid")}
    cases["convolution"] = _convolutional()
    for name, case in cases.items():
        found = network_constants(case.layers, [case.x], 0.0)
        steepest = max(case.gradient(case.start, label) for label in case.labels)
        curved = max(case.curvature(case.start, label) for label in case.labels)
        yield equals(f"gradient of the {name} network", found.lipschitz, steepest, _BY, _FIRST)
        yield equals(f"curvature of the {name} network", found.smoothness, curved, _BY, _SECOND)
        around = network_constants(case.layers, [case.x], _RADIUS, scale=2.0)
        away = np.random.default_rng(1).normal(size=len(case.start))
        place = case.start + _RADIUS * away / np.linalg.norm(away)
        least = max(2 * case.gradient(place, label) for label in case.labels) * (1 - _FIRST)
        yield as_recorded(f"gradient of the {name} network on a ball", around.lipschitz, least=least)
        least = max(2 * case.curvature(place, label) for label in case.labels) * (1 - _SECOND)
        yield as_recorded(f"curvature of the {name} network on a ball", around.smoothness, least=least)
    wide = network_constants(cases["tanh"].layers, [[0.0, 0.0]], 0.1, input_radius=1.0)
    yield as_recorded("gradient of the tanh network for any input", wide.lipschitz)
    yield as_recorded("curvature of the tanh network for any input", wide.smoothness)
    single = Layer([[0.5, -0.5]], [0.2])
    logistic = network_constants([single], [[0.6, 0.8]], 0.0, loss="logistic")
    p = 1 / (1 + np.exp(0.5 * 0.2 - 0.2))
    yield equals("gradient of one logistic output", logistic.lipschitz, sqrt(2.0) * max(p, 1 - p))
    yield equals("curvature of one logistic output", logistic.smoothness, 2.0 * p * (1 - p))


def recompute_closed_forms() -> Iterator[Number]:
    """Constants of regressions and of two layers, and the extremes of activations on a grid."""
    found = certified.softmax_regression(3.0, scale=2.0, l2=0.5, parameter_norm=4.0)
    yield equals("softmax regression, Lipschitz", found.lipschitz, 2 * sqrt(2) * 3 + 0.5 * 4)
    yield equals("softmax regression, smoothness", found.smoothness, 2 * 9 / 2 + 0.5)
    yield equals("softmax regression, convexity", found.strong_convexity, 0.5)
    found = certified.logistic_regression(3.0, scale=2.0)
    yield equals("logistic regression, Lipschitz", found.lipschitz, 6.0)
    yield equals("logistic regression, smoothness", found.smoothness, 2 * 9 / 4)
    found = certified.linear_score(3.0, slope=1.5, curvature=2.0, name="a score")
    yield equals("a linear score, Lipschitz", found.lipschitz, 4.5)
    yield equals("a linear score, smoothness", found.smoothness, 18.0)
    found = certified.two_layer(2.0, first_norm=1.5, second_norm=0.8, radius=0.5, hidden=9, activation="tanh")
    bent, jacobian = 4 / (3 * sqrt(3)) * 0.8 * 4, 9.0 + 1 + (0.8 * 2) ** 2
    hessian = (bent + sqrt(bent**2 + 4 * 4)) / 2
    yield equals("two layers, Lipschitz", found.lipschitz, sqrt(2 * jacobian))
    yield equals("two layers, smoothness", found.smoothness, jacobian / 2 + sqrt(2) * hessian)
    found = certified.two_layer(0.5, first_norm=0.4, second_norm=0.8, radius=0.5, hidden=4, activation="softplus")
    outputs = (2 * log(2) + 0.4 * 0.5) ** 2
    yield equals("two layers of softplus, Lipschitz", found.lipschitz, sqrt(2 * (outputs + 1 + 0.16)))
    x = np.linspace(-8.0, 8.0, 16_001)
    step = x[1] - x[0]
    with precision():
        for name, phi in SMOOTH.items():
            value = _PHI[name](x)
            slope = (value[2:] - value[:-2]) / (2 * step)
            bend = (value[2:] + value[:-2] - 2 * value[1:-1]) / step**2
            if name != "identity":
                far = max(float(np.abs(slope).max()), 1.0 if name == "softplus" else 0.0)
                yield equals(f"steepest slope of {name}", float(phi.steepest), far, "a grid", 1e-5)
                most = float(np.abs(bend).max())
                yield equals(f"greatest curvature of {name}", float(phi.most_curved), most, "a grid", 1e-5)
            inside = (x[1:-1] >= -0.5) & (x[1:-1] <= 2.5)
            for what, ends, values in (("slopes", phi.slopes, slope), ("curvatures", phi.curvatures, bend)):
                for side, end in zip(("least", "most"), ends(arb("-0.5"), arb("2.5")), strict=True):
                    truth = float(values[inside].min() if side == "least" else values[inside].max())
                    yield near(f"{side} of the {what} of {name} on [-0.5, 2.5]", float(end), truth)
        for name, low, high, pieces in (
            ("relu", -1, 2, (0, 1)),
            ("leaky_relu", -2, -1, (0.01, 0.01)),
            ("hardtanh", 0, 3, (0, 1)),
        ):
            slopes = activation(name).slopes(arb(low), arb(high))
            for side, end, truth in zip(("least", "most"), slopes, pieces, strict=True):
                yield near(f"{side} slope of {name} on [{low}, {high}]", float(end), truth, EXACT, "its pieces")
