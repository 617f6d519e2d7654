"""Finished parts of a long computation on disk, so that an interrupted one goes on where it stopped.

One folder a computation, named by the hash of everything that decides its numbers; in it one ``.npz`` a part and the
settings as JSON. A file is written beside its place and renamed, so what is there is whole. Numpy reads a damaged array
as a shorter one without a word; so a part ends with its SHA-256, which numpy does not mind, and is not there without.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole

__all__ = ["Arrays", "PartStore"]

Arrays = dict[str, NDArray[np.float64]]
"""Arrays by name."""

_DIGEST = 32
_AT_ONCE = 2**20


def _digest(file: IO[bytes], size: int) -> bytes:
    """The SHA-256 of the first bytes of a file, which is then read up to there."""
    file.seek(0)
    found = hashlib.sha256()
    for start in range(0, size, _AT_ONCE):
        found.update(file.read(min(_AT_ONCE, size - start)))
    return found.digest()


class PartStore:
    """The finished parts of one computation, each some named arrays.

    Args:
        folder: where computations are kept; made if need be.
        settings: everything that decides the numbers of one part, plain JSON values.

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
                f"What is finished needs a folder that can be written, got folder={folder} "
                f"({error.strerror}); name another."
            ) from None

    def load(self, part: str) -> Arrays | None:
        """The arrays of one part, or None where they are not there or not readable."""
        try:
            with (self.folder / f"{part}.npz").open("rb") as file:
                size = file.seek(0, SEEK_END) - _DIGEST
                if size < 0 or _digest(file, size) != file.read():
                    return None
                file.seek(0)
                with np.load(file, allow_pickle=False) as data:
                    return {name: data[name] for name in data.files}
        except OSError:
            return None

    def names(self, pattern: str) -> list[str]:
        """The parts that are there under a pattern such as ``init-*``, sorted."""
        return sorted(path.stem for path in self.folder.glob(f"{pattern}.npz"))

    def drop(self, part: str) -> None:
        """Forget a part; no matter whether it is there."""
        (self.folder / f"{part}.npz").unlink(missing_ok=True)

    def save(self, part: str, arrays: Arrays) -> None:
        """Keep the arrays of one part.

        Raises:
            InputError: the folder takes no more; what was kept before is still there.
        """
        named: dict[str, Any] = dict(arrays)
        try:
            with tempfile.TemporaryFile() as buffer:
                np.savez(buffer, **named)
                buffer.write(_digest(buffer, buffer.seek(0, SEEK_END)))
                buffer.seek(0)
                write_whole(self.folder / f"{part}.npz", buffer.read())
        except OSError as error:
            raise InputError(
                f"What is finished needs a folder that can be written, got folder={self.folder} ({error.strerror}); "
                "make room, then the same command goes on."
            ) from None
