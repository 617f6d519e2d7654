"""What is measured: a network, a per-sample loss and data.

A workload is named on the command line as ``builtin:iris-mlp`` or as ``module:factory``, where calling
``factory()`` of the importable ``module`` gives a `Workload`.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError

__all__ = ["BUILTIN", "Workload", "iris_mlp", "load_workload"]

_MIXING = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)


@dataclass(frozen=True)
class Workload:
    """A network, its per-sample loss and its data.

    Args:
        name: how the workload is called in results.
        module: makes a freshly initialised module; its randomness must come from torch's global generator.
        loss: loss(output, target) of a batch of one sample: output of shape (1, ...), target of shape
            (1, ...); returns a scalar.
        inputs: shape (n, ...), one row a sample. Floating inputs are cast to the dtype of the measurement.
        targets: shape (n, ...).
        remark: what a reader of the result must know about this workload.

    Raises:
        InputError: no sample, inputs and targets of different length, or a value that is not finite.
    """

    name: str
    module: Callable[[], nn.Module]
    loss: Callable[[Tensor, Tensor], Tensor]
    inputs: Tensor
    targets: Tensor
    remark: str = ""

    def __post_init__(self) -> None:
        if self.inputs.ndim == 0 or self.inputs.shape[0] == 0:
            raise InputError(
                f"A workload needs at least one sample, got inputs.shape={tuple(self.inputs.shape)}; "
                "give inputs of shape (n, ...)."
            )
        if self.targets.ndim == 0 or self.targets.shape[0] != self.inputs.shape[0]:
            raise InputError(
                f"A workload needs one target a sample, got targets.shape={tuple(self.targets.shape)} for "
                f"{self.inputs.shape[0]} samples; give targets of shape (n, ...)."
            )
        for name, values in (("inputs", self.inputs), ("targets", self.targets)):
            if values.is_floating_point() and not bool(torch.isfinite(values).all()):
                raise InputError(f"A workload needs finite data, got {name} with nan or inf; remove those samples.")

    @property
    def samples(self) -> int:
        """Number of samples n."""
        return int(self.inputs.shape[0])

    def initial(self, seed: int) -> nn.Module:
        """The module as initialised from ``seed``, on the CPU, leaving torch's global generator as it was.

        Raises:
            InputError: the module mixes samples or is random (batch norm, dropout): its per-sample gradient
                is then no function of parameters and sample. Or it has no parameter to train.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.module()
        if not isinstance(module, nn.Module):
            raise InputError(
                f"The module of a workload must be a torch.nn.Module, got {type(module).__name__} "
                f"from workload={self.name}; let its factory return one."
            )
        for name, part in module.named_modules():
            if isinstance(part, _MIXING):
                raise InputError(
                    f"Per-sample gradients need a module whose output depends on one sample only and is not "
                    f"random, got {name or 'module'}={type(part).__name__}; replace batch norm by group norm "
                    "and remove dropout."
                )
        if not any(p.requires_grad for p in module.parameters()):
            raise InputError(
                f"A workload needs a module with parameters to train, got none in workload={self.name}; "
                "give one with requires_grad."
            )
        return module


def _tenth_of_cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    return 0.1 * functional.cross_entropy(output, target)


def iris_mlp(activation: Callable[[], nn.Module] = nn.ReLU, *, name: str = "builtin:iris-mlp") -> Workload:
    """The network of Chien & Li, appendix A.13: Iris, two layers, hidden width 64, 0.1 times cross-entropy.

    The paper does not say how the features are scaled, which activation is used, or how the weights are
    initialised. Chosen here: each feature standardised to mean 0 and standard deviation 1 over the 150
    flowers (the lengths in centimetres would make the constants depend on the unit), ReLU, and torch's
    default initialisation of a linear layer.

    With ReLU the per-sample gradient *jumps* where a hidden unit switches, so it is Hölder continuous of no
    order at all: a sampled constant is finite only because few sampled pairs are close to each other.
    ``builtin:iris-mlp-tanh`` and ``builtin:iris-mlp-gelu`` have smooth activations and true constants on
    every bounded domain.

    Args:
        activation: makes the module between the two layers.
        name: how the workload is called in results.

    Raises:
        InputError: scikit-learn, which ships the data, is not installed.
    """
    try:
        from sklearn.datasets import load_iris
    except ImportError:
        raise InputError(
            f"The Iris data need scikit-learn, got workload={name} without it; run pip install 'lastiterate[runtime]'."
        ) from None
    data: Any = load_iris()
    features = np.asarray(data.data, dtype=np.float64)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    remark = ""
    if activation is nn.ReLU:
        remark = "ReLU gradients jump, so no finite constant is true: these describe the sampled distances only."
    return Workload(
        name=name,
        module=lambda: nn.Sequential(nn.Linear(4, 64), activation(), nn.Linear(64, 3)),
        loss=_tenth_of_cross_entropy,
        inputs=torch.from_numpy(features),
        targets=torch.from_numpy(np.asarray(data.target, dtype=np.int64)),
        remark=remark,
    )


BUILTIN: Final[Mapping[str, Callable[[], Workload]]] = MappingProxyType(
    {
        "iris-mlp": iris_mlp,
        "iris-mlp-tanh": lambda: iris_mlp(nn.Tanh, name="builtin:iris-mlp-tanh"),
        "iris-mlp-gelu": lambda: iris_mlp(nn.GELU, name="builtin:iris-mlp-gelu"),
    }
)
"""The workloads that ship with the package."""


def load_workload(name: str) -> Workload:
    """The workload called ``name``: ``builtin:NAME``, or ``module:factory`` of the user.

    The user's module is imported, so its code runs; the current folder is searched as ``python -m`` does.

    Raises:
        InputError: the name has no colon, nothing of that name exists, it is not callable, or what it
            returns is no `Workload`.
    """
    home, colon, attribute = name.partition(":")
    if not (home and colon and attribute):
        raise InputError(f"A workload is builtin:NAME or module:factory, got workload={name}; try builtin:iris-mlp.")
    if home == "builtin":
        if attribute not in BUILTIN:
            near = get_close_matches(attribute, BUILTIN, n=1)
            hint = f"did you mean builtin:{near[0]}?" if near else f"choose one of {', '.join(BUILTIN)}."
            raise InputError(f"There is no such built-in workload, got workload={name}; {hint}")
        return BUILTIN[attribute]()
    factory = _imported(home, attribute, name)
    if not callable(factory):
        raise InputError(
            f"The factory of a workload must be callable, got {attribute}={type(factory).__name__} in "
            f"workload={name}; name a function that returns a Workload."
        )
    workload = factory()
    if not isinstance(workload, Workload):
        raise InputError(
            f"The factory must return a lastiterate.runtime.workloads.Workload, got {type(workload).__name__} "
            f"from workload={name}; build one from a module factory, a per-sample loss and data."
        )
    return workload


def _imported(home: str, attribute: str, name: str) -> object:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(home)
    except ModuleNotFoundError as error:
        missing = error.name or home
        what = "that module" if home == missing or home.startswith(f"{missing}.") else f"its import {missing}"
        raise InputError(
            f"The module of a workload must be importable, got workload={name} where {what} was not found; "
            "run from the folder that holds it, or install it."
        ) from None
    if not hasattr(module, attribute):
        near = get_close_matches(attribute, vars(module), n=1)
        hint = f"did you mean {home}:{near[0]}?" if near else "name a function that it defines."
        raise InputError(f"The module {home} has no {attribute}, got workload={name}; {hint}")
    return getattr(module, attribute)
