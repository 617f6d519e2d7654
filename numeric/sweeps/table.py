"""The table of a sweep: typed columns in the order of the grid, as CSV or Parquet."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.store import write_whole, writing
from lastiterate.numeric.sweeps.plan import Plan, Scalar

_FORMATS = (".csv", ".parquet")
_ENDS = 20
"""Rows that are displayed at either end of a long table."""


class Result(NamedTuple):
    """The bound at one point of a grid.

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


@dataclass(frozen=True)
class SweepTable(Displayed):
    """The rows of a sweep, in the order of its grid.

    Attributes:
        plan: what was swept.
        results: one for each row of the grid.
    """

    plan: Plan
    results: Sequence[Result]

    @property
    def columns(self) -> Mapping[str, list[Any]]:
        """Name -> one value a row: the axes, then the fields of `Result`.

        A column holds whole numbers, floats or texts; None stands for no value.
        """
        values = [self.plan.values(row) for row in range(self.plan.rows)]
        columns: dict[str, list[Any]] = {
            name: [_typed(row[name], listed) for row in values] for name, listed in self.plan.axes.items()
        }
        return columns | {name: [getattr(one, name) for one in self.results] for name in Result._fields}

    @property
    def refused(self) -> int:
        """Number of rows with a sentence in place of a number."""
        return sum(bool(one.error) for one in self.results)

    def records(self) -> list[dict[str, Any]]:
        columns = self.columns
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __str__(self) -> str:
        """The table, of which the middle is left out where it is long."""
        return str(self.table())

    def table(self) -> TextTable:
        """The axes and the bounds, rounded up; the middle of a long table is left out."""
        names = (*self.plan.axes, "epsilon", "mu", "route", *(("error",) if self.refused else ()))
        rows = [tuple(_cell(name, record[name]) for name in names) for record in self.records()]
        left_out = len(rows) - 2 * _ENDS
        notes = (f"{left_out} rows in the middle are left out.",) if left_out > 0 else ()
        shown = (*rows[:_ENDS], *rows[-_ENDS:]) if left_out > 0 else tuple(rows)
        return TextTable(f"Bounds of {self.plan.rows} runs, rounded up", names, shown, notes)

    def write(self, path: Path) -> None:
        """Write the table, whole or not at all; the ending .csv or .parquet says how.

        Raises:
            InputError: another ending, Parquet without pyarrow, or a folder that cannot be written.
        """
        data = self._parquet() if checked_format(path) == ".parquet" else self._csv()
        with writing("A sweep needs", f"out={path}"):
            write_whole(path, data)

    def _csv(self) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = self.columns
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if value is None else repr(value) if isinstance(value, float) else value
                             for value in row])  # fmt: skip
        return out.getvalue().encode()

    def _parquet(self) -> bytes:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        types = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
        columns = self.columns
        kinds = {name: _kind(values) for name, values in self.plan.axes.items()}
        kinds |= {name: float if name in ("epsilon", "mu") else str for name in Result._fields}
        arrays = [arrow.array(columns[name], type=types[kinds[name]]) for name in columns]
        sink = io.BytesIO()
        parquet.write_table(arrow.table(arrays, names=list(columns)), sink)
        return sink.getvalue()


def checked_format(path: Path) -> str:
    """The ending of a table's file, if it can be written here.

    Raises:
        InputError: another ending than .csv and .parquet, or Parquet without pyarrow.
    """
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        raise InputError(f"The table of a sweep needs the ending .csv or .parquet, got out={path}; rename it.")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            f"A Parquet file needs pyarrow, got out={path} without it; run pip install 'lastiterate[sweep]', or "
            "write a .csv."
        )
    return ending


def _cell(name: str, value: Scalar | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return printed_up(value) if name in ("epsilon", "mu") else str(value)


def _kind(values: Sequence[Scalar]) -> type[int] | type[float] | type[str]:
    if isinstance(values[0], str):
        return str
    return int if all(isinstance(value, int) for value in values) else float


def _typed(value: Scalar, listed: Sequence[Scalar]) -> Scalar:
    return float(value) if _kind(listed) is float else value
