"""Table of measured pairs; this module does not import torch."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lastiterate.numeric.arrays import Array


class Kind(StrEnum):
    """Kind of gradient whose largest change over the samples is measured.

    Theorem 3.7 assumes that ``SAMPLE`` gradients are Hölder continuous; its proof uses ``SAMPLE_CLIPPED``.
    """

    SAMPLE = "sample"
    SAMPLE_CLIPPED = "sample_clipped"


@dataclass(frozen=True)
class Subset:
    """A random subset of the samples, used as the data.

    Attributes:
        samples: number of samples drawn, uniformly and without replacement.
        of: number of samples before the draw.
        seed: seed of the draw.
    """

    samples: int
    of: int
    seed: int


@dataclass(frozen=True)
class PairTable:
    """Measured pairs.

    Attributes:
        distances: |x - y|, shape (pairs,), a length.
        differences: largest |g(x) - g(y)| over the samples for each kind, shape (pairs,), a gradient.
        floors: assumed rounding error of the differences of each pair, shape (pairs,), a gradient.
        blocks: largest differences of each layer's block of the gradient, by kind, shape (pairs, layers).
    """

    distances: Array
    differences: dict[Kind, Array]
    floors: Array
    blocks: dict[Kind, Array] = field(default_factory=dict)

    def columns(self) -> Array:
        """All fields as one array of shape (pairs, 4 + 2 * layers)."""
        parts = [self.distances[:, None], self.floors[:, None]]
        parts += [self.differences[kind][:, None] for kind in Kind]
        return np.concatenate([*parts, *(self.blocks[kind] for kind in Kind if self.blocks)], axis=1)

    @staticmethod
    def of_columns(columns: Array) -> "PairTable":
        """Table with the given `columns`."""
        first = 2 + len(Kind)
        blocks = np.split(columns[:, first:], len(Kind), axis=1)
        differences = {kind: columns[:, 2 + k] for k, kind in enumerate(Kind)}
        return PairTable(columns[:, 0], differences, columns[:, 1], dict(zip(Kind, blocks, strict=True)))

    def block(self, layer: int) -> "PairTable":
        """Table of one layer's block, with the rounding error of the whole gradient."""
        chosen = {kind: values[:, layer] for kind, values in self.blocks.items()}
        return PairTable(self.distances, chosen, self.floors)
