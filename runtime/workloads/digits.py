"""Images of digits that ship with scikit-learn, and a small convolutional network on them."""

import torch
from torch import nn
from torch.nn import functional

from lastiterate.runtime.workloads.tabular import shipped
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["digits_cnn"]


def digits_cnn() -> Workload:
    """A small convolutional network on scikit-learn's 8 x 8 digits: two layers of 3 x 3 filters, tanh, cross-entropy.

    Raises:
        InputError: scikit-learn is not installed.
    """
    name = "builtin:digits-cnn"
    images, labels = shipped("digits", name)

    def network() -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(64, 10),
        )

    return Workload(
        name=name,
        module=network,
        loss=functional.cross_entropy,
        inputs=torch.from_numpy(images / 16).reshape(-1, 1, 8, 8),
        targets=labels,
        recommended={"inits": 3, "centers": 11, "points": 20, "samples": 200},
    )
