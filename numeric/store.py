"""Checksummed storage of finished work, so that an interrupted computation can resume.

Every file is written atomically and ends with the SHA-256 of its content. Arrays are stored as ``.npz``,
other data as JSON; pickle is never used.
"""

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lastiterate.numeric.errors import InputError

ENVIRONMENT: Final = "LASTITERATE_CACHE_DIR"
"""Environment variable with a folder that replaces the user's cache folder."""

Arrays = dict[str, NDArray[np.float64]]
"""Arrays by name."""

_SEAL: Final = 2 * sha256().digest_size + 1


class DamagedError(ValueError):
    """A file or a line does not end with the checksum of its content."""


def cache_folder(name: str) -> Path:
    """Folder for one kind of cached data."""
    from platformdirs import user_cache_path

    named = os.environ.get(ENVIRONMENT)
    return (Path(named) if named else user_cache_path("lastiterate")) / name


def digest(value: object) -> str:
    """SHA-256 of a plain JSON value, the same in every process and for any order of keys."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@contextmanager
def writing(what: str, where: str, remedy: str = "name another") -> Iterator[None]:
    """Convert errors of the operating system to `InputError`."""
    try:
        yield
    except OSError as error:
        said = f"{what} a folder that can be written to, got {where} ({error.strerror}); {remedy}."
        raise InputError(said) from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically; the folder must exist."""
    part = path.with_name(f".{path.name}.{token_hex(8)}")
    with part.open("xb") as file:
        try:
            file.write(data)
            file.close()
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def seal(content: bytes) -> bytes:
    """Return the content followed by its checksum."""
    return content + sha256(content).hexdigest().encode() + b"\n"


def read_sealed(path: Path) -> bytes:
    """Read the content of a sealed file; raises `OSError`, or `DamagedError` if it was changed."""
    data = path.read_bytes()
    if seal(data[:-_SEAL]) != data:
        raise DamagedError(f"{path} is damaged")
    return data[:-_SEAL]


class Store:
    """Finished parts of one computation, each a set of named arrays, in a subfolder for ``settings``.

    ``settings``, plain JSON, determine the arrays. If the folder is None, nothing is stored; if it cannot be
    written, `InputError` is raised.
    """

    def __init__(self, folder: Path | None, settings: Mapping[str, object]) -> None:
        self.folder = None if folder is None else folder / digest(settings)[:16]
        if self.folder is not None:
            self._write(
                "settings.json", json.dumps(settings, sort_keys=True, indent=2).encode(), "name another"
            )

    def load(self, part: str) -> Arrays | None:
        """The arrays of one part; None if they are missing or damaged."""
        if self.folder is None:
            return None
        try:
            content = read_sealed(self.folder / f"{part}.npz")
        except (OSError, DamagedError):
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            return {name: data[name] for name in data.files}

    def save(self, part: str, arrays: Mapping[str, ArrayLike]) -> None:
        """Store the arrays of one part."""
        if self.folder is not None:
            buffer = io.BytesIO()
            np.savez(buffer, **{name: np.asarray(values) for name, values in arrays.items()})  # type: ignore[arg-type]
            self._write(f"{part}.npz", seal(buffer.getvalue()), "free some space, then repeat the command")

    def part(self, name: str, compute: Callable[[], Mapping[str, ArrayLike]]) -> Arrays:
        """The arrays of one part; compute and store them if they are missing."""
        found = self.load(name)
        if found is None:
            found = {key: np.asarray(values) for key, values in compute().items()}
            self.save(name, found)
        return found

    def _write(self, name: str, data: bytes, remedy: str) -> None:
        assert self.folder is not None  # noqa: S101
        with writing("Finished parts need", f"folder={self.folder.parent}", remedy):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, data)
