"""Constants of networks, from finite differences of losses that are written out.

On a ball of radius 0, the certified constants equal the constants at the centre. On a larger ball, no point
may have a longer gradient or a greater curvature, and the recorded value is the upper limit.
"""

from collections.abc import Callable, Iterator
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import erf
from torch import nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses import certified
from lastiterate.numeric.losses.activations import SMOOTH
from lastiterate.runtime.workloads.networks import constants_of_any_label
from recomputations.record import CLOSE, Number, as_recorded, equals, near

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


_MODULES = {"tanh": nn.Tanh, "gelu": nn.GELU, "sigmoid": nn.Sigmoid}


class _Case(NamedTuple):
    """A network and an input for the code, the outputs as a function of all parameters, and the centre."""

    module: nn.Module
    x: Array
    outputs: Callable[[Any], Any]

    @property
    def centre(self) -> Array:
        """The parameters."""
        return nn.utils.parameters_to_vector(self.module.parameters()).detach().numpy()

    def proved(self, radius: float, near: float = 0.0, scale: float = 1.0, loss: str = "cross_entropy") -> Any:
        """Constants of the code, over all labels."""
        row = torch.tensor(self.x)[None]
        return constants_of_any_label(self.module, row, radius, near, "", loss, scale, any_sample=False)

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

    module = nn.Sequential(nn.Linear(2, 3), _MODULES[name](), nn.Linear(3, 2))
    return _Case(_with(module, W, b, V, c), x, outputs)


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

    first = nn.Conv1d(1, 2, 2, stride=2, padding=1), nn.Softplus(), nn.AvgPool1d(2, stride=1)
    module = nn.Sequential(*first, nn.Flatten(), nn.Linear(4, 2, bias=False))
    return _Case(_with(module, kernel, bias, V), x[None], outputs)


def _with(module: nn.Module, *values: Array) -> nn.Module:
    vector = torch.tensor(np.concatenate([one.ravel() for one in values]))
    nn.utils.vector_to_parameters(vector, module.double().parameters())
    return module


def recompute_at_the_centre() -> Iterator[Number]:
    """Constants on a ball of radius 0 and on a small ball."""
    cases = {name: _dense(name) for name in ("tanh", "gelu", "sigmoid")}
    cases["convolution"] = _convolutional()
    for name, case in cases.items():
        found = case.proved(0.0)
        steepest, curved = case.constants(case.centre)
        yield equals(f"gradient of the {name} network", found.lipschitz, steepest, CLOSE)
        yield equals(f"curvature of the {name} network", found.smoothness, curved, CLOSE)
        around = case.proved(_RADIUS, scale=2.0)
        away = np.random.default_rng(1).normal(size=len(case.centre))
        steepest, curved = case.constants(case.centre + _RADIUS * away / np.linalg.norm(away))
        yield as_recorded(f"gradient of the {name} network on a ball", around.lipschitz, least=2 * steepest)
        yield as_recorded(f"curvature of the {name} network on a ball", around.smoothness, least=2 * curved)
    wide = cases["tanh"]._replace(x=np.zeros(2)).proved(0.1, near=1.0)
    yield as_recorded("gradient of the tanh network for any input", wide.lipschitz)
    yield as_recorded("curvature of the tanh network for any input", wide.smoothness)
    single = _with(nn.Linear(2, 1), np.array([0.5, -0.5]), np.array([0.2]))
    logistic = _Case(single, np.array([0.6, 0.8]), np.zeros_like).proved(0.0, loss="logistic")
    p = 1 / (1 + np.exp(0.5 * 0.2 - 0.2))
    yield equals("gradient of one logistic output", logistic.lipschitz, sqrt(2.0) * max(p, 1 - p), CLOSE)
    yield equals("curvature of one logistic output", logistic.smoothness, 2.0 * p * (1 - p), CLOSE)


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
    for name, phi in SMOOTH.items():
        everywhere = _derivatives(name, np.linspace(-40.0, 40.0, 80_001))
        for order, what in ((0, "slope"), (1, "curvature")):
            largest = np.abs(everywhere[order]).max()
            yield near(f"greatest {what} of {name}", phi.most[order + 1], largest, 5e-7)


def _derivatives(name: str, x: Array) -> tuple[Array, Array]:
    above, at, below = (
        np.imag(_PHI[name](x + step + 1j * _FIRST)) / _FIRST for step in (_SECOND, 0.0, -_SECOND)
    )
    return at, (above - below) / (2 * _SECOND)
