"""Cached parts of the measurements behind a figure."""

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from numpy.typing import ArrayLike

from lastiterate import numeric, runtime
from lastiterate.numeric.store import Arrays, Store, cache_folder

OnPart = Callable[[int, int], None]
"""Called with (finished, all) parts."""


class FigureCache:
    """The parts of one figure; those that were finished before, by the very same code, are not measured again.

    Args:
        figure: its name.
        parts: how many parts it has.
        folder: where they are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """

    def __init__(self, figure: str, parts: int, folder: Path | None, on_part: OnPart | None = None) -> None:
        self._figure, self._parts, self._done = figure, parts, 0
        self._folder, self._told = folder or cache_folder("figure"), on_part

    def __call__(
        self, settings: Mapping[str, object], compute: Callable[[], Mapping[str, ArrayLike]]
    ) -> Arrays:
        """One part, found or computed.

        Raises:
            InputError: the folder cannot be written.
        """
        store = Store(self._folder, {"figure": self._figure, "code": _code()} | dict(settings))
        found = store.part("part", compute)
        self._done += 1
        if self._told is not None:
            self._told(self._done, self._parts)
        return found


@cache
def _code() -> str:
    """Everything that the numbers come from: every line of the folders that compute them, and torch."""
    import torch

    digest = sha256(torch.__version__.encode())
    for folder in (numeric.__path__[0], runtime.__path__[0], Path(__file__).parent):
        root = Path(folder)
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
