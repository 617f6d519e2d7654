"""Finished initialisations of a measurement on disk, and the finished iterates of those that take long."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lastiterate.runtime.constants.kinds import Kind, PairTable
from lastiterate.runtime.store import PartStore

__all__ = ["Store"]


class Store:
    """The finished initialisations of one measurement.

    Args:
        folder: where measurements are kept; made if need be.
        settings: everything that decides the numbers of one initialisation, plain JSON values.

    Raises:
        InputError: the folder cannot be written.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self._parts = PartStore(folder, settings)
        self.folder = self._parts.folder

    def load(self, init: int) -> PairTable | None:
        """The pairs of one initialisation, or None where they are not there or not readable."""
        data = self._parts.load(_name(init))
        try:
            return None if data is None else _table(data)
        except KeyError:
            return None

    def save(self, init: int, table: PairTable) -> None:
        """Keep the pairs of one initialisation; its training and its iterates need not be kept any more."""
        self._parts.save(_name(init), _arrays(table))
        for path in self.folder.glob(f"{_name(init)}-training-*"):
            path.unlink(missing_ok=True)
        for part in self._parts.names(f"{_name(init)}-iterates-*"):
            self._parts.drop(part)

    def training(self, init: int, rank: int) -> Path:
        """Where one process keeps the training of an unfinished initialisation, see `descent.train`."""
        return self.folder / f"{_name(init)}-training-{rank:04d}"

    def load_iterates(self, init: int) -> dict[int, PairTable]:
        """The pairs around those iterates of an unfinished initialisation that were kept, by the iterate's index."""
        found: dict[int, PairTable] = {}
        for part in self._parts.names(f"{_name(init)}-iterates-*"):
            data = self._parts.load(part)
            try:
                if data is not None:
                    indices, table = data["iterates"].astype(int).tolist(), _table(data)
                    each = len(table.distances) // len(indices)
                    found |= {at: table.rows(slice(k * each, (k + 1) * each)) for k, at in enumerate(indices)}
            except KeyError:
                continue
        return found

    def save_iterates(self, init: int, rank: int, tables: Mapping[int, PairTable]) -> None:
        """Keep what one process has of an unfinished initialisation; it takes the place of what it kept before.

        Args:
            init: the initialisation.
            rank: number of the process; each writes its own file.
            tables: at least one, equally long.
        """
        indices = np.array(list(tables), dtype=np.float64)
        arrays = _arrays(PairTable.join(list(tables.values())))
        self._parts.save(f"{_name(init)}-iterates-{rank:04d}", arrays | {"iterates": indices})


def _name(init: int) -> str:
    return f"init-{init:04d}"


def _arrays(table: PairTable) -> dict[str, NDArray[np.float64]]:
    differences = {f"difference_{kind}": table.differences[kind] for kind in Kind}
    blocks = {f"block_{kind}": table.blocks[kind] for kind in Kind}
    return {"distances": table.distances, "floors": table.floors, **differences, **blocks}


def _table(data: Mapping[str, NDArray[np.float64]]) -> PairTable:
    differences, blocks = ({kind: data[f"{what}_{kind}"] for kind in Kind} for what in ("difference", "block"))
    return PairTable(data["distances"], differences, data["floors"], blocks)
