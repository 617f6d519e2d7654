"""Checkpoints of optimisers, written atomically, checksummed, and refused if any bit has changed.

A file consists of the line `HEAD`, the state in the format of ``torch.save``, and the SHA-256 of both.
"""

import io
from pathlib import Path
from typing import Any, Final

import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import DamagedError, read_sealed, seal, write_whole, writing

HEAD: Final = b"lastiterate checkpoint 3\n"
"""First line of a checkpoint."""


def write_checkpoint(path: str | Path, state: dict[str, Any]) -> None:
    """Write tensors, numbers, strings and containers of them."""
    held = io.BytesIO()
    torch.save(state, held)
    with writing("A checkpoint needs", f"path={path}", "choose another"):
        write_whole(Path(path), seal(HEAD + held.getvalue()))


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """State written by `write_checkpoint`; an `InputError` if the file is not an intact checkpoint."""
    try:
        with Path(path).open("rb") as opened:
            if opened.read(len(HEAD)) != HEAD:
                raise InputError(
                    f"A checkpoint must be a file that save wrote, got path={path}, which is another kind of "
                    "file; give one that save wrote."
                )
        payload = read_sealed(Path(path)).removeprefix(HEAD)
    except OSError as error:
        raise InputError(
            f"A checkpoint needs a file that can be read, got path={path} ({error.strerror}); give the file that "
            "save wrote."
        ) from None
    except DamagedError:
        raise InputError(
            f"A checkpoint must be a complete file, got path={path}, which is damaged or cut off; delete it, or use "
            "an older one."
        ) from None
    try:
        state = torch.load(io.BytesIO(payload), weights_only=True, map_location="cpu")
    except Exception as error:  # torch may raise any exception on intact bytes from another writer
        raise InputError(
            f"A checkpoint may hold only tensors and numbers, got path={path} ({type(error).__name__}); give the file "
            "that save wrote."
        ) from None
    if not isinstance(state, dict):
        raise InputError(
            f"A checkpoint must hold a dictionary, got {type(state).__name__} in path={path}; give another file."
        )
    return state
