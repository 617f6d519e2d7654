"""Checkpoints in files that are there whole or not at all, and are refused if a single bit of them has changed.

A file is one line that says what it is, one line with the SHA-256 of the rest, and the state as ``torch.save`` writes
it. Nothing is read with pickle but tensors, numbers, texts and containers of them (``weights_only``).
"""

import io
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole

__all__ = ["HEAD", "read_checkpoint", "write_checkpoint"]

HEAD: Final = b"lastiterate checkpoint 1\n"
"""What the file of an optimiser's state begins with."""
_DIGEST: Final = 2 * sha256().digest_size


def write_checkpoint(path: str | Path, state: dict[str, Any]) -> None:
    """Write a state; whoever reads ``path``, whenever this is interrupted, finds the old file or the new one.

    Args:
        path: of the file, in a folder that exists.
        state: of tensors, numbers, texts, and lists, tuples and dictionaries of them.

    Raises:
        InputError: the file cannot be written there.
    """
    held = io.BytesIO()
    torch.save(state, held)
    payload = held.getvalue()
    try:
        write_whole(Path(path), HEAD + sha256(payload).hexdigest().encode() + b"\n" + payload)
    except OSError as error:
        raise InputError(
            f"A checkpoint needs a folder that can be written to, got path={path} ({error.strerror}); choose another."
        ) from None


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """The state that `write_checkpoint` wrote.

    Args:
        path: of the file.

    Raises:
        InputError: there is no such file, it is no checkpoint of ours, or not as it was written.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"A checkpoint needs a file that can be read, got path={path} ({error.strerror}); give the file that "
            "save wrote."
        ) from None
    start = len(HEAD) + _DIGEST + 1
    if not data.startswith(HEAD):
        raise InputError(f"A checkpoint needs a file that save wrote, got path={path} of another kind; give that file.")
    payload = data[start:]
    if data[len(HEAD) : start] != sha256(payload).hexdigest().encode() + b"\n":
        raise InputError(
            f"A checkpoint needs to be as it was written, got path={path}, damaged or cut off; delete it, or take an "
            "older one."
        )
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
