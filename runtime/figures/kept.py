"""What a figure measures, part by part: kept on disk and found again, with progress on stderr."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lastiterate import numeric, runtime
from lastiterate.runtime.store import Arrays, PartStore

__all__ = ["Kept", "kept_parts"]

Kept = Callable[[Mapping[str, object], Callable[[], Mapping[str, ArrayLike]]], Arrays]
"""Settings and what computes a part of them -> the part, found or computed."""


@contextmanager
def kept_parts(figure: str, parts: int, folder: Path | None) -> Iterator[Kept]:
    """Measure a figure's parts; those that were finished before, by the very same code, are not measured again.

    Args:
        figure: its name, for the progress bar and for the key of a part.
        parts: how many there are.
        folder: where they are kept; the user's cache folder if None.

    Raises:
        InputError: the folder cannot be written.
    """
    from platformdirs import user_cache_path
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    where = folder or user_cache_path("lastiterate") / "figure"
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(figure, total=parts)

        def keep(settings: Mapping[str, object], compute: Callable[[], Mapping[str, ArrayLike]]) -> Arrays:
            store = PartStore(where, {"figure": figure, "code": _code()} | dict(settings))
            found = store.load("part")
            if found is None:
                found = {name: np.asarray(values, dtype=np.float64) for name, values in compute().items()}
                store.save("part", found)
            progress.advance(task)
            return found

        yield keep


@cache
def _code() -> str:
    """What the numbers come from: every line of the folders that compute them, and torch."""
    import torch

    digest = sha256(torch.__version__.encode())
    for package in (numeric, runtime):
        root = Path(package.__path__[0])
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
