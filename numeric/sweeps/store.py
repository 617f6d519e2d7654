"""Finished rows on disk, so that an interrupted sweep goes on where it stopped.

One file of JSON lines beside the table: what is swept, then a row a line as it comes. Lines are only ever appended;
one that is cut off or unreadable is passed over, and its row is computed again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO
from zlib import crc32

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.sweeps.plan import Plan

__all__ = ["Result", "Store", "header"]


class Result(NamedTuple):
    """What a sweep found for one point of its grid.

    Attributes:
        epsilon: rounded up; None where the point is refused.
        mu: of mu-GDP, rounded up; None where the bound is of another kind.
        route: how the bound was found.
        claim: key of the ledger's claim behind it.
        adjacency: "replace" or "add_remove".
        error: why there is no number, in one sentence; "" where there is one.
    """

    epsilon: float | None
    mu: float | None
    route: str
    claim: str
    adjacency: str
    error: str


def header(plan: Plan) -> dict[str, Any]:
    """Everything that decides the rows of a sweep, as plain JSON values."""
    try:
        ours = version("lastiterate")
    except PackageNotFoundError:
        ours = "not installed"
    said = {"run": asdict(plan.run), "assumption": repr(plan.assumption), "grid": dict(plan.axes), "version": ours}
    plain: dict[str, Any] = json.loads(json.dumps(said))
    return plain


class Store:
    """The finished rows of one sweep; use it in a ``with`` block.

    Args:
        path: the file; made if need be, in a folder that exists.
        plan: the sweep.

    Attributes:
        found: row -> result, of the rows that were there.

    Raises:
        InputError: the file is of another sweep, or cannot be read or written.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self._path = path
        self.found: dict[int, Result] = {}
        try:
            lines = path.read_bytes().decode(errors="replace").split("\n") if path.exists() else []
            if lines and lines != [""]:
                self._same(lines[0], header(plan))
                self.found = dict(_readable(lines[1:], plan.rows))
            self._file: TextIO = path.open("a", encoding="utf-8")
            if not lines or lines == [""]:
                self._file.write(json.dumps(header(plan)) + "\n")
            elif lines[-1]:
                self._file.write("\n")  # what was cut off stays a line of its own
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"A sweep needs a folder that can be written, got out={path.parent} ({error.strerror}); name another."
            ) from None

    def keep(self, row: int, result: Result) -> None:
        """Append one finished row."""
        said = {"row": row} | result._asdict()
        self._file.write(json.dumps(said | {"check": _check(said)}) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _same(self, line: str, wanted: Mapping[str, Any]) -> None:
        try:
            kept = json.loads(line)
        except (ValueError, RecursionError):
            kept = None
        if kept == wanted:
            return
        other = [part for part in wanted if not isinstance(kept, dict) or kept.get(part) != wanted[part]]
        raise InputError(
            f"A sweep goes on from its own rows only, got another {' and '.join(other)} than in {self._path}; delete "
            "that file to start afresh, or name another --out."
        )


def _check(said: Mapping[str, Any]) -> int:
    """A checksum of a row."""
    return crc32(json.dumps(said, sort_keys=True).encode())


def _readable(lines: Iterable[str], rows: int) -> Iterable[tuple[int, Result]]:
    for line in lines:
        try:
            kept = json.loads(line)
            if kept.pop("check") != _check(kept):
                continue  # some bits are others than were written
            row, result = kept.pop("row"), Result(**kept)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
        number = result.epsilon is None or isinstance(result.epsilon, float)
        if isinstance(row, int) and 0 <= row < rows and number and (result.epsilon is None) == bool(result.error):
            yield row, result
