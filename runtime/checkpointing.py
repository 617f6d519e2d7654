"""Checkpoints of trainings: written atomically, checksummed, and refused if a single bit of them has changed.

A file is one line that says what it is and the state as ``torch.save`` writes it, followed by their SHA-256. It is read
with ``weights_only``: tensors, numbers, texts and containers of them.
"""

import io
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final

import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import DamagedError, read_sealed, seal, write_whole, writing

HEAD: Final = b"lastiterate checkpoint 3\n"
"""First line of a checkpoint."""
_EVERY: Final = 60.0
_SHARE: Final = 0.05
"""Seconds between two files, or so many that writing takes no more than this share of the time."""


def write_checkpoint(path: str | Path, state: dict[str, Any]) -> None:
    """Write a state; whoever reads ``path``, whenever this is interrupted, finds the old file or the new one.

    The state consists of tensors, numbers, texts, and lists, tuples and dictionaries of them.
    """
    held = io.BytesIO()
    torch.save(state, held)
    with writing("A checkpoint needs", f"path={path}", "choose another"):
        write_whole(Path(path), seal(HEAD + held.getvalue()))


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """The state that `write_checkpoint` wrote."""
    try:
        with Path(path).open("rb") as opened:
            if opened.read(len(HEAD)) != HEAD:
                raise InputError(
                    f"A checkpoint needs a file that save wrote, got path={path} of another kind; give that file."
                )
        payload = read_sealed(Path(path)).removeprefix(HEAD)
    except OSError as error:
        raise InputError(
            f"A checkpoint needs a file that can be read, got path={path} ({error.strerror}); give the file that "
            "save wrote."
        ) from None
    except DamagedError:
        raise InputError(
            f"A checkpoint needs to be as it was written, got path={path}, damaged or cut off; delete it, or take an "
            "older one."
        ) from None
    try:
        state = torch.load(io.BytesIO(payload), weights_only=True, map_location="cpu")
    except Exception as error:  # the bytes are as someone wrote them, but not we: torch may raise anything
        raise InputError(
            f"A checkpoint needs tensors and numbers alone, got path={path} ({type(error).__name__}); give the file "
            "that save wrote."
        ) from None
    if not isinstance(state, dict):
        raise InputError(f"A checkpoint needs a dictionary, got {type(state).__name__} in path={path}; give another.")
    return state


class Checkpointing:
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
                    f"A training resumes from its own checkpoint, with {name}={value}, got {name}={held.get(name)} "
                    f"in path={self._path}; name another file, or delete this one to start again."
                )
        return held

    def step(self) -> None:
        """After every step: write the state if that is due."""
        if self._path is not None and monotonic() >= self._next:
            self.save()

    def save(self) -> None:
        """Write the state now."""
        if self._path is not None:
            begun = monotonic()
            write_checkpoint(self._path, self._told | self._state())
            self._next = monotonic() + max(_EVERY, (monotonic() - begun) / _SHARE)
