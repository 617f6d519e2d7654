"""Finished initialisations on disk, so that an interrupted measurement goes on where it stopped.

One folder a measurement, named by the hash of everything that decides its numbers; in it one ``.npz`` an
initialisation and the settings as JSON. A file is written beside its place and renamed, so what is there is
whole.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole
from lastiterate.runtime.constants.kinds import Kind, PairTable

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
        text = json.dumps(settings, sort_keys=True, indent=2)
        self.folder = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / "settings.json", text.encode())
        except OSError as error:
            raise InputError(
                f"Finished initialisations need a folder that can be written, got folder={folder} "
                f"({error.strerror}); name another."
            ) from None

    def load(self, init: int) -> PairTable | None:
        """The pairs of one initialisation, or None where they are not there or not readable."""
        try:
            with np.load(self._path(init), allow_pickle=False) as data:
                return PairTable(data["distances"], {kind: data[f"difference_{kind}"] for kind in Kind}, data["floors"])
        except (OSError, KeyError, ValueError, EOFError, BadZipFile):
            return None

    def save(self, init: int, table: PairTable) -> None:
        """Keep the pairs of one initialisation."""
        arrays: dict[str, Any] = {f"difference_{kind}": table.differences[kind] for kind in Kind}
        with tempfile.TemporaryFile() as buffer:
            np.savez(buffer, distances=table.distances, floors=table.floors, **arrays)
            buffer.seek(0)
            write_whole(self._path(init), buffer.read())

    def _path(self, init: int) -> Path:
        return self.folder / f"init-{init:04d}.npz"
