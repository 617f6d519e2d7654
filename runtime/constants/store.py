"""Finished initialisations of a measurement on disk."""

from collections.abc import Mapping
from pathlib import Path

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
        if data is None:
            return None
        try:
            differences, blocks = ({kind: data[f"{what}_{kind}"] for kind in Kind} for what in ("difference", "block"))
            return PairTable(data["distances"], differences, data["floors"], blocks)
        except KeyError:
            return None

    def save(self, init: int, table: PairTable) -> None:
        """Keep the pairs of one initialisation."""
        differences = {f"difference_{kind}": table.differences[kind] for kind in Kind}
        blocks = {f"block_{kind}": table.blocks[kind] for kind in Kind}
        self._parts.save(_name(init), {"distances": table.distances, "floors": table.floors, **differences, **blocks})


def _name(init: int) -> str:
    return f"init-{init:04d}"
