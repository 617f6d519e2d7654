"""Finished initialisations of a measurement on disk, and the finished iterates of those that take long."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lastiterate.numeric.store import Store
from lastiterate.runtime.pair_table import PairTable


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
        """Keep what one process has of an unfinished initialisation; it takes the place of what it kept before.

        Args:
            init: the initialisation.
            rank: number of the process; each writes its own file.
            tables: at least one, equally long.
        """
        columns = PairTable.join(list(tables.values())).columns()
        self.save(f"{_name(init)}-iterates-{rank:04d}", {"columns": columns, "iterates": list(tables)})


def _name(init: int) -> str:
    return f"init-{init:04d}"
