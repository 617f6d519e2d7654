"""A training with Opacus, and what composition says of it."""

import warnings
from collections.abc import Callable
from math import inf
from typing import Any

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.opacus import LastIterateAccountant

N, B, DELTA = 60, 6, 1e-3


class Training:
    """Logistic regression on 60 points, with Opacus."""

    def __init__(
        self, optimizer: Callable[[Any], Any] | None = None, samples: int = N, hidden: int = 0, **private: Any
    ) -> None:
        generator = torch.Generator().manual_seed(3)
        points = torch.nn.functional.normalize(torch.randn(samples, 4, generator=generator))
        labels = (points[:, 0] > 0).float()
        model = torch.nn.Linear(4, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        if hidden:
            torch.manual_seed(4)
            model = torch.nn.Sequential(torch.nn.Linear(4, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 1))
        inner = (optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.5)))(model.parameters())
        self.engine = PrivacyEngine(accountant="last_iterate")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model, self.optimizer, *criterion, self.loader = self.engine.make_private(
                module=model, optimizer=inner, data_loader=DataLoader(TensorDataset(points, labels), batch_size=B),
                noise_multiplier=private.pop("noise_multiplier", 1.5),
                max_grad_norm=private.pop("max_grad_norm", 1.0), **private,
            )  # fmt: skip

        self.loss = criterion[0] if criterion else torch.nn.BCEWithLogitsLoss()

    @property
    def accountant(self) -> LastIterateAccountant:
        found = self.engine.accountant
        assert isinstance(found, LastIterateAccountant)
        return found

    def train(self, steps: int) -> "Training":
        loss = self.loss
        taken = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while taken < steps:
                for points, labels in self.loader:
                    if taken == steps:
                        break
                    self.optimizer.zero_grad()
                    loss(self.model(points).squeeze(1), labels).backward()
                    self.optimizer.step()
                    taken += 1
        return self

    def described(self, assumption: Assumption, diameter: float = inf, **more: Any) -> "Training":
        self.accountant.describe(self.optimizer, assumption, self.loader, diameter=diameter, **more)
        return self


def composition(steps: int, noise: float = 1.5) -> float:
    return DominatingPair(0.0, (SampledSteps(0.1, noise, "add_remove", steps),)).dp(DELTA)
