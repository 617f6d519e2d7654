"""Display of results as tables in a terminal, in a notebook, and as a pandas DataFrame.

Displayed numbers are rounded so that bounds stay valid.
"""

import sys
from abc import abstractmethod
from dataclasses import asdict, dataclass
from html import escape
from io import StringIO
from math import isfinite
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lastiterate.numeric.rounding import printed_up

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH: Final = 130
"""Width of a table in columns if the output is not a terminal."""


@dataclass(frozen=True)
class TextTable:
    """A table of strings: caption, headings (all empty for a table of names and values), rows, and notes.

    >>> print(TextTable("Bounds", ("by", "epsilon"), (("shifts", "0.5"),)))
    Bounds
    ┏━━━━━━━━┳━━━━━━━━━┓
    ┃ by     ┃ epsilon ┃
    ┡━━━━━━━━╇━━━━━━━━━┩
    │ shifts │     0.5 │
    └────────┴─────────┘
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def beside(self, column: str, cells: list[str]) -> "TextTable":
        """The table with one more column on its right."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        return TextTable(self.caption, (*self.columns, column), rows, self.notes)

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Tell for each column whether its cells are numbers, which are right-aligned."""
        cells = [[row[k] for row in self.rows if row[k]] for k in range(len(self.columns))]
        return tuple(bool(column) and all(cell[0].isdigit() or cell in _LIKE_NUMBERS for cell in column)
                     for column in cells)  # fmt: skip

    def __str__(self) -> str:
        """The table and its notes, in the width of the terminal, if any."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(show_header=any(self.columns))
        for heading, number in zip(self.columns, self.numbers, strict=True):
            table.add_column(Text(heading), justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        out = Console(file=StringIO(), width=get_terminal_size().columns if sys.stdout.isatty() else WIDTH)
        with out.capture() as drawn:
            out.print(table)
        return "\n".join([self.caption, drawn.get().rstrip(), *self.notes])

    def html(self) -> str:
        """The table and its notes as HTML for a notebook."""
        sides = ["right" if number else "left" for number in self.numbers]
        styles = [f' style="text-align:{side}"' for side in sides]
        head = "".join(
            f"<th{style}>{escape(one)}</th>" for one, style in zip(self.columns, styles, strict=True)
        )
        body = "".join(
            f"<tr>{''.join(f'<td{style}>{escape(one)}</td>' for one, style in zip(row, styles, strict=True))}</tr>"
            for row in self.rows
        )
        head = f"<thead><tr>{head}</tr></thead>" if any(self.columns) else ""
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        caption = f'<caption style="text-align:left">{escape(self.caption)}</caption>'
        return f"<div><table>{caption}{head}<tbody>{body}</tbody></table>{notes}</div>"


_LIKE_NUMBERS: Final = ("inf", "nan", "-", "infinite", "not known", "none trusted")


def plain(value: Any) -> Any:
    """Value with "inf", "-inf" or "nan" for each number that JSON cannot represent.

    >>> plain({"epsilon": float("inf"), "window": (0, 5)})
    {'epsilon': 'inf', 'window': [0, 5]}
    """
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


class Displayed:
    """Base class of results, which convert to a table, plain data for JSON, and a DataFrame."""

    _kind: ClassVar[str] = ""
    _named: ClassVar[str] = ""
    """Names of the fields and properties in the plain data, in addition to the kind; if empty, all fields."""

    @abstractmethod
    def table(self) -> TextTable:
        """The numbers and their basis, rounded."""

    def __str__(self) -> str:
        """The rounded numbers in words; by default, the table."""
        return str(self.table())

    def as_dict(self) -> dict[str, Any]:
        """The numbers and their basis, as plain data for JSON."""
        if not self._named:
            plain: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
            return plain
        values = {name: getattr(self, name) for name in self._named.split()}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        return {"kind": self._kind} | values | lists

    def records(self) -> list[dict[str, Any]]:
        """Rows of the DataFrame, unrounded."""
        return [self.as_dict()]

    def to_pandas(self) -> "DataFrame":
        """The records as a DataFrame; raises `ImportError` if pandas is missing."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError:
            raise ImportError(
                "to_pandas needs pandas, which is not installed; run pip install 'lastiterate[pandas]'."
            ) from None
        return DataFrame(self.records())

    def _repr_html_(self) -> str:
        return self.table().html()


def facts(caption: str, values: dict[str, str], assumptions: tuple[str, ...] = ()) -> TextTable:
    """Tabulate the nonempty values by name, with the assumptions as notes."""
    notes = ("assuming that", *(f"- {one}" for one in assumptions)) if assumptions else ()
    return TextTable(caption, ("", ""), tuple((name, value) for name, value in values.items() if value), notes)


def printed_loss(epsilon: float, order: float | None, delta: float | None) -> str:
    """Privacy loss in words, rounded up to six digits; empty if order and delta are None."""
    number = printed_up(epsilon)
    return f"({number}, {delta:g})-DP" if delta is not None else f"({order:g}, {number})-RDP" if order else ""
