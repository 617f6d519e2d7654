"""A ResNet on CIFAR-10, read from your folder: 50,000 training images of 32 x 32 pixels in ten classes.

From this folder: lastiterate estimate cifar:cifar10_resnet18 --data FOLDER

The files published by its authors (``cifar-10-batches-py``) are pickled, and unpickling executes code.
Torchvision reads the files only if they have the published MD5, of which no second preimage is known.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.hugging_face import import_torchvision
from lastiterate.runtime.workloads.networks import no_constants
from lastiterate.runtime.workloads.workload import Workload

NAME: Final = "cifar:cifar10_resnet18"
_FOLDER: Final = "cifar-10-batches-py"


class _Scaled(nn.Module):
    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(2 / 255))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.scale - 1


def cifar10_resnet18(data: Path | None = None) -> Workload:
    """torchvision's ResNet-18 with ten classes, random weights, and group norm (32 groups) for batch norm.

    The first layers are made for larger images and shrink 32 x 32 pixels to one for the last layers. ``data``
    is the folder ``cifar-10-batches-py`` or its parent.
    """
    resnet, (images, classes) = resnet18(), images_of(data)
    return Workload(
        name=NAME,
        module=lambda: nn.Sequential(_Scaled(), resnet()),
        loss=functional.cross_entropy,
        inputs=images,
        targets=classes,
        constants=no_constants("infinite: a kink of ReLU, where the gradient jumps, may lie in the ball"),
        remark="Group norm in place of batch norm.",
        recommended={
            "inits": 1, "centers": 3, "points": 8, "samples": min(len(images), 8), "steps": 20, "noise_std": 1e-5,
            "draw": "log-uniform", "dtype": "float32", "memory": 2 * 2**30,
        },
    )  # fmt: skip


def resnet18() -> Callable[[], nn.Module]:
    """Factory of the network of `cifar10_resnet18` for scaled inputs."""
    if find_spec("torchvision") is None:
        raise InputError(
            f"The workload needs torchvision, which is not installed, got workload={NAME}; "
            "run pip install 'lastiterate[runtime,vision]'."
        )
    models = import_torchvision("models")

    def network() -> nn.Module:
        resnet: nn.Module = models.resnet18(num_classes=10, norm_layer=partial(nn.GroupNorm, 32))
        for part in resnet.modules():
            if isinstance(part, nn.ReLU):
                part.inplace = False
        return resnet

    return network


def images_of(data: Path | None) -> tuple[Tensor, Tensor]:
    """Training images as bytes, shape (n, 3, 32, 32), and classes, shape (n,)."""
    if data is None:
        raise InputError(
            f"The workload needs your own copy of CIFAR-10, got workload={NAME} without a folder; unpack its Python "
            f"version and give the folder that holds {_FOLDER} (--data FOLDER)."
        )
    folder = data if data.name == _FOLDER else data / _FOLDER
    if not folder.is_dir():
        raise InputError(f"The folder must hold {_FOLDER}, got data={data} without it; unpack CIFAR-10 there.")
    try:
        found = import_torchvision("datasets").CIFAR10(folder.parent, train=True, download=False)
    except RuntimeError:
        raise InputError(
            f"The files must be those that the authors of CIFAR-10 publish, got data={folder} where one is missing or "
            "its MD5 differs; unpack the archive again (nothing was loaded)."
        ) from None
    return torch.from_numpy(np.ascontiguousarray(found.data.transpose(0, 3, 1, 2))), torch.tensor(found.targets)
