"""Samples that the pairs of an ascent are about, and which starts go on."""

from typing import NamedTuple

import torch
from torch import Tensor

from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream


class Samples(NamedTuple):
    """Samples of pairs, one each.

    Attributes:
        inputs: shape (pairs, ...).
        targets: shape (pairs, ...).
        samples: index in the data, shape (pairs,); where inputs are free, of the sample that the ascent began with.
    """

    inputs: Tensor
    targets: Tensor
    samples: Tensor

    def taken(self, rows: Tensor | slice) -> "Samples":
        """Some of them."""
        return Samples(*(part[rows] for part in self))

    @staticmethod
    def joined(parts: list["Samples"]) -> "Samples":
        """All of several lots."""
        return Samples(*(torch.cat(some) for some in zip(*parts, strict=True)))

    @staticmethod
    def drawn(
        gradients: Gradients, samples: Tensor, free: InputSet | None, generator: Stream, first: int = 0
    ) -> "Samples":
        """These samples, numbered from ``first`` on; free inputs are the nearest of the set, odd ones drawn."""
        inputs, targets = (part[samples] for part in gradients.rows())
        if free is not None:
            odd = ((first + torch.arange(len(inputs), device=inputs.device)) % 2 == 1).reshape(
                -1, *[1] * (inputs.ndim - 1)
            )
            inputs = torch.where(odd, free.drawn(inputs, generator), free.projected(inputs))
        return Samples(inputs, targets, samples)


def labels_of(gradients: Gradients, free: InputSet | None) -> Tensor:
    """The labels of the data, which any input may have where inputs are free; none for targets that are no labels."""
    targets = gradients.rows()[1]
    labelled = free is not None and targets.ndim == 1 and not targets.is_floating_point()
    found: Tensor = targets.unique() if labelled else targets[:0]  # type: ignore[no-untyped-call]
    return found


def most_promising(values: Tensor, samples: Tensor, count: int) -> Tensor:
    """Indices of so many of the starts: half with the largest values, half the largest of as many samples as there are.

    One sample may have many high hills and another the highest.

    >>> most_promising(torch.tensor([5.0, 4.0, 3.0, 1.0]), torch.tensor([0, 0, 0, 1]), 2).tolist()
    [0, 3]
    """
    order = values.argsort(descending=True, stable=True)
    of = samples[order]
    grouped = of.argsort(stable=True)
    places = torch.arange(len(of), device=of.device)
    first = torch.searchsorted(of[grouped], of[grouped])
    rank = torch.empty_like(places)
    rank[grouped] = places - first
    rank[: -(-count // 2)] = -1
    return order[rank.argsort(stable=True)[:count]]
