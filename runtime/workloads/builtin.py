"""The workloads that ship with the package, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from torch import nn

from lastiterate.runtime.workloads.cifar import cifar10_cnn, cifar10_resnet18
from lastiterate.runtime.workloads.digits import digits_cnn
from lastiterate.runtime.workloads.minilm import minilm
from lastiterate.runtime.workloads.tabular import breast_cancer, iris_mlp, iris_softmax
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["BUILTIN", "ON_YOUR_DATA"]

BUILTIN: Final[Mapping[str, Callable[[], Workload]]] = MappingProxyType(
    {
        "iris-mlp": iris_mlp,
        "iris-mlp-tanh": lambda: iris_mlp(nn.Tanh, name="builtin:iris-mlp-tanh"),
        "iris-mlp-gelu": lambda: iris_mlp(nn.GELU, name="builtin:iris-mlp-gelu"),
        "iris-softmax": iris_softmax,
        "breast-cancer": breast_cancer,
        "digits-cnn": digits_cnn,
        "minilm": minilm,
    }
)
"""Those that bring their data along."""

ON_YOUR_DATA: Final[Mapping[str, Callable[..., Workload]]] = MappingProxyType(
    {"cifar10-cnn": cifar10_cnn, "cifar10-resnet18": cifar10_resnet18}
)
"""Those that read a folder of the user, which they take as ``data``."""
