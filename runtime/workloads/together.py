"""Outputs of some rows and the loss of any batch of them, as a trial of several rows needs them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

from lastiterate.runtime.workloads.mixed_rows import ROWS
from lastiterate.runtime.workloads.telling_rows import telling_rows
from lastiterate.runtime.workloads.trials import nearby

Loss = Callable[[Any, Tensor], Tensor]

_LABELS: Final = 16
"""Labels that are tried besides those of the rows: a neighbouring data set may have them."""


@dataclass(frozen=True)
class Together:
    """Outputs of some rows, their targets, and the loss of any batch of them.

    Attributes:
        loss: loss(output, target) of a batch.
        leaves: the tensors of the outputs, each of shape (rows, ...).
        build: makes an output of such tensors.
        targets: shape (rows, ...).
        names: of the rows, in words.
        sources: the rows of the network that gave the outputs.
    """

    loss: Loss
    leaves: list[Tensor]
    build: Callable[[list[Tensor]], Any]
    targets: Tensor
    names: list[str]
    sources: list[int]

    def on(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The loss of a batch, and its slopes in the outputs, shape (rows, numbers)."""
        places = torch.tensor(batch).to(self.targets.device)
        held = [leaf[places].detach() for leaf in self.leaves]
        moving = [leaf.requires_grad_() for leaf in held if leaf.is_floating_point()]
        with torch.enable_grad():
            value = self.loss(self.build(held), self.targets[places])
        if not isinstance(value, Tensor) or value.ndim or not value.is_floating_point():
            raise TypeError("a loss that is not one real number")
        slopes: Sequence[Tensor] = [torch.zeros_like(leaf) for leaf in moving]
        if value.requires_grad:
            slopes = torch.autograd.grad(value, moving, allow_unused=True, materialize_grads=True)
        return value.detach(), torch.cat([slope.reshape(len(batch), -1) for slope in slopes], dim=1)

    def gradients(self, batch: Sequence[int], slopes: Tensor, network: "Network | None") -> Tensor:
        """Gradients of the rows of a batch, shape (rows, parameters); without a network the slopes themselves."""
        if network is None:
            return slopes
        made: dict[tuple[int, tuple[float, ...]], Tensor] = {}
        found = []
        for row, slope in zip(batch, slopes, strict=True):
            key = row, tuple(slope.cpu().tolist())
            if key not in made:
                made[key] = network.gradient(self.sources[row], slope)
            found.append(made[key])
        return torch.stack(found)


@dataclass(frozen=True)
class Network:
    """A module and rows of it, in the precision of the parameters."""

    module: nn.Module
    rows: Tensor

    def outputs(self) -> Any:
        """The outputs of the rows as one output of all, from a few rows at a time, or from one."""
        with torch.no_grad():
            try:
                return _joined([self.module(some) for some in torch.split(self.rows, ROWS)])
            except Exception:  # made for one row at a time
                return _joined([self.module(some) for some in torch.split(self.rows, 1)])

    def gradient(self, row: int, slopes: Tensor) -> Tensor:
        """The gradient of one row's loss of these slopes, shape (parameters,)."""
        trained = [one for one in self.module.parameters() if one.requires_grad]
        with torch.enable_grad():
            leaves = tree_flatten(self.module(self.rows[row : row + 1]))[0]
        leaves = [leaf for leaf in leaves if leaf.is_floating_point()]
        parts = torch.split(slopes.reshape(-1), [leaf.numel() for leaf in leaves])
        moving = [(leaf, part.reshape(leaf.shape).to(leaf)) for leaf, part in zip(leaves, parts, strict=True)]
        some = [(leaf, part) for leaf, part in moving if leaf.requires_grad]
        found = torch.autograd.grad(
            [leaf for leaf, _ in some], trained, [part for _, part in some], allow_unused=True, materialize_grads=True
        )
        return torch.cat([one.reshape(-1) for one in found])


def _joined(outputs: list[Any]) -> Any:
    return tree_map(lambda *leaves: torch.cat(leaves), *outputs)


def at_random(loss: Loss, targets: Tensor, outputs: int) -> Together:
    """Random outputs, so many a row, for the telling ones of the targets; of their shape where they are as many."""
    chosen = telling_rows(targets, targets)
    labels = targets[torch.tensor(chosen)].cpu()
    output = torch.randn(len(chosen), outputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    output = output.reshape(labels.shape) if output.numel() == labels.numel() else output
    return Together(
        loss, [output], lambda held: held[0], labels, [f"row {k}" for k in chosen], list(range(len(chosen)))
    )


def in_its_precision(given: Together) -> Together:
    """The same in double precision, or else in the precision that the loss takes."""
    for dtype in (torch.float64, given.leaves[0].dtype, torch.float32):
        with suppress(Exception):  # the loss holds tensors of another dtype, or the device has no double precision
            leaves, (targets,) = (
                [one.to(dtype) if one.is_floating_point() else one for one in some]
                for some in (given.leaves, [given.targets])
            )
            loss = deepcopy(given.loss).to(dtype) if isinstance(given.loss, nn.Module) else given.loss
            found = replace(given, loss=loss, leaves=leaves, targets=targets)
            found.on([0])
            return found
    return given


def moved(given: Together) -> Together:
    """The same with outputs near to those: at first, all may be 0."""
    return replace(given, leaves=[nearby(leaf, 0.5) for leaf in given.leaves])


def with_labels(given: Together) -> Together:
    """The same with rows of other labels, up to the number of outputs; on a GPU between those of the data alone."""
    targets, classes = given.targets, [n for leaf in given.leaves for n in leaf.shape[1:]]
    if targets.is_floating_point() or targets.is_complex() or targets.dtype is torch.bool or not targets.numel():
        return given
    seen = torch.unique(targets.cpu())
    least, most = max(0, int(seen[0])), int(seen[-1])
    if targets.device.type == "cpu":  # where a label that is out of range does no harm
        least, most = 0, max([most, *(number - 1 for number in classes)])
    labels = torch.unique(torch.linspace(least, max(least, most), _LABELS, dtype=torch.float64).round().to(seen))
    labels = labels[~torch.isin(labels, seen)]
    base = (torch.arange(len(labels)) % len(targets)).to(targets.device)
    others = labels.to(targets.device).reshape(-1, *[1] * (targets.ndim - 1)).expand(-1, *targets.shape[1:])
    return replace(
        given,
        leaves=[torch.cat([leaf, leaf[base]]) for leaf in given.leaves],
        targets=torch.cat([targets, others]),
        names=[*given.names, *(f"a row of label {label}" for label in labels.tolist())],
        sources=[*given.sources, *base.cpu().tolist()],
    )
