"""The table of measured pairs. No torch: a table is read and drawn without it."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lastiterate.numeric.arrays import Array


class Kind(StrEnum):
    """Kind of gradient whose change is measured.

    ``SAMPLE`` is what Theorem 3.7 assumes (of every per-sample gradient, the largest change over samples).
    ``SAMPLE_CLIPPED`` is what its proof uses, never larger. ``BATCH`` and ``BATCH_CLIPPED`` are the changes
    of the mean over the batch: much smaller, but about this data set only, where privacy is about all of
    them. No privacy number is made from them.
    """

    SAMPLE = "sample"
    SAMPLE_CLIPPED = "sample_clipped"
    BATCH = "batch"
    BATCH_CLIPPED = "batch_clipped"


@dataclass(frozen=True)
class Subset:
    """A random subset of the samples, which stands for the data in everything that is run and measured.

    Attributes:
        samples: how many were drawn, uniformly and without replacement.
        of: how many there were.
        seed: what drew them.
    """

    samples: int
    of: int
    seed: int


@dataclass(frozen=True)
class PairTable:
    """Measured pairs.

    Attributes:
        distances: |x - y|, shape (pairs,), a length.
        differences: for each kind |g(x) - g(y)|, shape (pairs,), a gradient.
        floors: assumed rounding error of every difference of that pair, shape (pairs,), a gradient.
        blocks: for each kind the same differences of every layer's block of the gradient, shape (pairs, layers); of a
            kind per sample the largest over samples, for each layer by itself.
    """

    distances: Array
    differences: dict[Kind, Array]
    floors: Array
    blocks: dict[Kind, Array] = field(default_factory=dict)

    @staticmethod
    def join(tables: list["PairTable"]) -> "PairTable":
        """All pairs of several tables, in order."""
        return PairTable(
            np.concatenate([table.distances for table in tables]),
            {kind: np.concatenate([table.differences[kind] for table in tables]) for kind in Kind},
            np.concatenate([table.floors for table in tables]),
            {kind: np.concatenate([table.blocks[kind] for table in tables]) for kind in tables[0].blocks},
        )

    def columns(self) -> Array:
        """Everything as one array of shape (pairs, 6 + 4 layers); `of_columns` takes it apart again."""
        parts = [self.distances[:, None], self.floors[:, None]]
        parts += [self.differences[kind][:, None] for kind in Kind]
        return np.concatenate([*parts, *(self.blocks[kind] for kind in Kind if self.blocks)], axis=1)

    @staticmethod
    def of_columns(columns: Array) -> "PairTable":
        """The table whose `columns` these are."""
        first = 2 + len(Kind)
        blocks = np.split(columns[:, first:], len(Kind), axis=1)
        differences = {kind: columns[:, 2 + k] for k, kind in enumerate(Kind)}
        return PairTable(columns[:, 0], differences, columns[:, 1], dict(zip(Kind, blocks, strict=True)))

    def block(self, layer: int) -> "PairTable":
        """The table of one layer's block. The rounding assumed of it is that of the whole gradient."""
        chosen = {kind: values[:, layer] for kind, values in self.blocks.items()}
        return PairTable(self.distances, chosen, self.floors)
