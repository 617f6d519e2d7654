"""A training that takes long is kept in a file as it goes, and taken up from there."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.training.checkpoints import read_checkpoint, write_checkpoint

__all__ = ["Keeper"]

_EVERY: Final = 60.0
_SHARE: Final = 0.05
"""Seconds between two files, or so many that writing takes no more than this share of the time."""


class Keeper:
    """Writes the state of one training to one file, every minute, and when told that it stops.

    Args:
        path: of the file; None to keep nothing.
        told: what decides the numbers of the training, plain values. A file that was told something else is refused.
        state: the state at the moment, with what it was told in it; called when it is to be written.
    """

    def __init__(self, path: Path | None, told: dict[str, Any], state: Callable[[], dict[str, Any]]) -> None:
        self._path, self._told, self._state = path, told, state
        self._next = monotonic() + _EVERY

    def load(self) -> dict[str, Any] | None:
        """The state in the file; None where nothing was kept.

        Raises:
            InputError: the file is damaged, or that of another training.
        """
        if self._path is None or not self._path.exists():
            return None
        held = read_checkpoint(self._path)
        for name, value in self._told.items():
            if name not in held or held[name] != value:
                raise InputError(
                    f"A training goes on only where it stopped, with {name}={value}, got {name}={held.get(name)} in "
                    f"path={self._path}; name another file, or delete this one to start again."
                )
        return held

    def step(self) -> None:
        """After every step: write the state if that is due."""
        if self._path is not None and monotonic() >= self._next:
            self.save()

    def save(self) -> None:
        """Write the state now.

        Raises:
            InputError: the file cannot be written there.
        """
        if self._path is not None:
            begun = monotonic()
            write_checkpoint(self._path, self._told | self._state())
            self._next = monotonic() + max(_EVERY, (monotonic() - begun) / _SHARE)
