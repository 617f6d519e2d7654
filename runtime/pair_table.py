"""The table of measured pairs, and its storage. No torch: a table is read and drawn without it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.store import Store


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

    def rows(self, chosen: slice) -> "PairTable":
        """Some of the pairs, in order."""
        return PairTable(
            self.distances[chosen],
            {kind: values[chosen] for kind, values in self.differences.items()},
            self.floors[chosen],
            {kind: values[chosen] for kind, values in self.blocks.items()},
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


class PairStore(Store):
    """The finished initialisations of one measurement, see `lastiterate.numeric.store.Store`."""

    def load_pairs(self, init: int) -> PairTable | None:
        """The pairs of one initialisation; None where they are not there or damaged."""
        data = self.load(_name(init))
        return None if data is None else PairTable.of_columns(data["columns"])

    def save_pairs(self, init: int, table: PairTable) -> None:
        """Keep the pairs of one initialisation; its training and its iterates need not be kept any more."""
        self.save(_name(init), {"columns": table.columns()})
        for path in self.folder.glob(f"{_name(init)}-training-*") if self.folder else ():
            path.unlink(missing_ok=True)
        for part in self.names(f"{_name(init)}-iterates-*"):
            self.drop(part)

    def training(self, init: int, rank: int) -> Path | None:
        """The file for one process's training of an unfinished initialisation, see `descent.train`."""
        return None if self.folder is None else self.folder / f"{_name(init)}-training-{rank:04d}"

    def load_iterates(self, init: int) -> dict[int, PairTable]:
        """The pairs around those iterates of an unfinished initialisation that were kept, by the iterate's index."""
        found: dict[int, PairTable] = {}
        for part in self.names(f"{_name(init)}-iterates-*"):
            data = self.load(part)
            if data is not None:
                each = np.split(data["columns"], len(data["iterates"]))
                found |= dict(zip(data["iterates"].tolist(), map(PairTable.of_columns, each), strict=True))
        return found

    def save_iterates(self, init: int, rank: int, tables: Mapping[int, PairTable]) -> None:
        """Keep what one process, ``rank``, has of an unfinished initialisation, in the place of what it kept before.

        There is at least one table, and all are equally long.
        """
        columns = PairTable.join(list(tables.values())).columns()
        self.save(f"{_name(init)}-iterates-{rank:04d}", {"columns": columns, "iterates": list(tables)})


def _name(init: int) -> str:
    return f"init-{init:04d}"
