"""Data sets that ship with scikit-learn, and small networks on them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from math import isfinite, sqrt
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import (
    LossConstants,
    logistic_regression,
    softmax_regression,
    two_layer,
)
from lastiterate.runtime.workloads.networks import constants_of_network
from lastiterate.runtime.workloads.workload import Workload

_FEATURE_NORM: Final = 5.0
_TENTH: Final = 0.1
_FEW_CENTERS: Final[Mapping[str, object]] = MappingProxyType({"centers": 21})
"""Setting for under a minute; A.13 uses all 201 iterates, but neighbouring iterates are similar."""
_UP: Final = 1 + 1e-9
"""Factor that exceeds the rounding of a norm of a few thousand float64 numbers."""
_ROW_NORM: Final = sqrt(_FEATURE_NORM**2 + 1) * _UP
"""Norm of the longest row including the constant feature of the bias."""
_STANDARDISED: Final = (
    "Features are standardised by the data's own mean and deviation, which is not private itself."
)


def _tenth_of_cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    return _TENTH * functional.cross_entropy(output, target)


def iris_mlp(activation: Callable[[], nn.Module] = nn.ReLU, *, name: str = "builtin:iris-mlp") -> Workload:
    """Network of Chien & Li, appendix A.13: Iris, two layers, hidden width 64, 0.1 times cross-entropy.

    The paper specifies no scale of the features, no activation and no initialisation. Here features are
    standardised to mean 0 and standard deviation 1, with ReLU and torch's default initialisation.

    With ReLU the per-sample gradient *jumps* where a hidden unit switches, so it is not Hölder continuous of
    any order. A sampled constant is finite only because few sampled pairs are close together. With smooth
    activations, true constants exist on every bounded domain.
    """
    features, labels = _standardised("iris", name)
    return Workload(
        name=name,
        module=lambda: nn.Sequential(nn.Linear(4, 64), activation(), nn.Linear(64, 3)),
        loss=_tenth_of_cross_entropy,
        inputs=features,
        targets=labels,
        constants=_two_layer_constants(features, activation),
        recommended=_FEW_CENTERS,
    )


def breast_cancer() -> Workload:
    """Logistic regression on scikit-learn's breast-cancer data: 569 samples, 30 features and a bias.

    Features are standardised, and rows of norm above 5 are shortened to norm 5, so the constants hold for
    every sample prepared in this way.
    """

    def loss(output: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(output[:, 0], target.to(output.dtype))

    return _linear("builtin:breast-cancer", "breast_cancer", 1, loss, logistic_regression(_ROW_NORM))


def iris_softmax() -> Workload:
    """Softmax regression on Iris: 150 flowers, 4 features, a bias, 3 classes; rows as in `breast_cancer`."""
    known = softmax_regression(_ROW_NORM)
    return _linear("builtin:iris-softmax", "iris", 3, functional.cross_entropy, known)


def _linear(
    name: str, data: str, outputs: int, loss: Callable[[Tensor, Tensor], Tensor], known: LossConstants
) -> Workload:
    features, labels = _standardised(data, name)
    shortened = (_FEATURE_NORM / torch.linalg.vector_norm(features, dim=1, keepdim=True)).clamp(max=1.0)
    return Workload(
        name=name,
        module=lambda: nn.Linear(features.shape[1], outputs),
        loss=loss,
        inputs=features * shortened,
        targets=labels,
        remark=_STANDARDISED,
        constants=lambda _module, _diameter: known,
        recommended=_FEW_CENTERS,
    )


def _two_layer_constants(
    features: Tensor, activation: Callable[[], nn.Module]
) -> Callable[[nn.Module, float], LossConstants]:
    reach = float(torch.linalg.vector_norm(features, dim=1).max())
    by_layers = constants_of_network(reach * _UP, scale=_TENTH)

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        if activation is not nn.Tanh or not isfinite(diameter):
            return by_layers(module, diameter)
        weights = {name: value.detach().double() for name, value in module.named_parameters()}
        first = torch.cat([weights["0.weight"], weights["0.bias"][:, None]], dim=1)
        norms = (float(torch.linalg.matrix_norm(one, 2)) for one in (first, weights["2.weight"]))
        first_norm, second_norm = ((norm + diameter / 2) * _UP for norm in norms)
        return two_layer(
            sqrt(reach**2 + 1) * _UP,
            first_norm=first_norm,
            second_norm=second_norm,
            radius=diameter / 2,
            hidden=len(first),
            activation="tanh",
            scale=_TENTH,
        )

    return constants


def _standardised(data: str, name: str) -> tuple[Tensor, Tensor]:
    features, labels = shipped(data, name)
    return torch.from_numpy((features - features.mean(axis=0)) / features.std(axis=0)), labels


def shipped(data: str, name: str) -> tuple[np.ndarray[Any, np.dtype[np.float64]], Tensor]:
    """Features, shape (n, features), and labels, shape (n,), of a data set that ships with scikit-learn."""
    try:
        loaded = getattr(import_module("sklearn.datasets"), f"load_{data}")()
    except ImportError:
        raise InputError(
            f"The data need scikit-learn, which is not installed, got workload={name}; run pip install "
            "'lastiterate[runtime]'."
        ) from None
    return np.asarray(loaded.data, dtype=np.float64), torch.from_numpy(
        np.asarray(loaded.target, dtype=np.int64)
    )


def digits_cnn() -> Workload:
    """Convolutional network on scikit-learn's 8 x 8 digits: two layers of 3 x 3 filters, tanh."""
    name = "builtin:digits-cnn"
    images, labels = shipped("digits", name)
    pixels = torch.from_numpy(images / 16).reshape(-1, 1, 8, 8)
    reach = float(torch.linalg.vector_norm(pixels, dim=(1, 2, 3)).max())

    def network() -> nn.Module:
        layers: list[nn.Module] = []
        for before, after in ((1, 8), (8, 16)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2)]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64, 10))

    return Workload(
        name=name,
        module=network,
        loss=functional.cross_entropy,
        inputs=pixels,
        targets=labels,
        constants=constants_of_network(reach * _UP, shape=(1, 8, 8)),
        recommended={"inits": 3, "centers": 11, "points": 20, "samples": 200},
    )
