"""A figure as data, the table of its numbers, and what all figures share: colours, and places on a logarithmic axis."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

COLORS: Final[Mapping[str, str]] = {
    "blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#AA4499", "grey": "#777777",
    "black": "#000000",
}  # fmt: skip
"""The colours of Okabe and Ito that stay apart for every kind of colour vision."""

CYCLE: Final = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#332288")
"""Colours for the members of a family, from first to last."""


class Status(StrEnum):
    """Status of the numbers of a curve, as the legend and the CSV state it."""

    BOUND = "upper bound"
    LOWER = "certified lower bound"
    PATH = "a feasible path"
    ESTIMATE = "estimate"
    ATTACK = "lower confidence bound of an attack"
    MEASURED = "measured"
    REFUTED = "refuted, no bound"
    SECOND_HAND = "formula second-hand, not checked"


@dataclass(frozen=True)
class Curve:
    """Values against the number of iterations, or against what the panel says.

    Attributes:
        name: what the curve is, in the CSV.
        label: what the legend calls it.
        x: iterations T, or places on the horizontal axis of the panel, shape (k,), increasing.
        y: Rényi epsilon at the order of the panel, or what its vertical axis says, shape (k,).
        status: what the numbers are.
        color: any colour of matplotlib.
        line: "-", "--", ":" or "-."; "" for markers alone, whose bands are drawn as bars.
        width: in points.
        marker: a marker of matplotlib at every place, or "".
        low: lower end of a band, shape (k,), or ().
        high: upper end of a band, shape (k,), or ().
        of: the member of a family: curves of one ``label`` and several members share a line style, curves of one
            member a colour, and the legend explains each once. Empty for a curve that stands for itself.
    """

    name: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    status: Status = Status.BOUND
    color: str = "#000000"
    line: str = "-"
    width: float = 1.6
    marker: str = ""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    of: str = ""


@dataclass(frozen=True)
class Panel:
    """Curves on one pair of axes.

    Attributes:
        curves: drawn in this order.
        top: upper end of the vertical axis; curves may leave it, and of those above it the legend has the last value.
        order: the Rényi order of every curve; None where there is none.
        across: what the horizontal axis shows.
        upward: what the vertical axis shows; Rényi epsilon at ``order`` if left out.
        logarithmic: whether the horizontal axis is logarithmic.
        bottom: lower end of the vertical axis, which is logarithmic where it is above 0.
        title: one line above the axes, or "".
        places: names of the places 1, 2, ... on the horizontal axis, where it shows no numbers.
    """

    curves: tuple[Curve, ...]
    top: float
    order: float | None = None
    across: str = "iterations $T$"
    upward: str = ""
    logarithmic: bool = True
    bottom: float = 0.0
    title: str = ""
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """One picture.

    Attributes:
        title: one line above the axes.
        note: below them: the setting, and what the reader must know; broken into lines as the picture is wide.
        panels: from left to right.
        members: what the colours of the curves tell apart, where curves are members of families.
    """

    title: str
    note: str
    panels: tuple[Panel, ...]
    members: str = ""

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Those of all panels."""
        return tuple(curve for panel in self.panels for curve in panel.curves)


def table(figure: Figure) -> str:
    """The figure as CSV text: one row for every point of every curve; panels are counted from 1."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("panel", "curve", "of", "status", "order", "x", "y", "low", "high"))
    for place, panel in enumerate(figure.panels, start=1):
        order = "" if panel.order is None else f"{panel.order:g}"
        for curve in panel.curves:
            for x, y, low, high in _points(curve):
                writer.writerow((place, curve.name, curve.of, curve.status, order, x, repr(float(y)), low, high))
    return out.getvalue()


def _points(curve: Curve) -> Iterator[tuple[float, float, str, str]]:
    for k, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        low, high = (repr(float(end[k])) if end else "" for end in (curve.low, curve.high))
        yield x, y, low, high


def spaced(last: int, count: int) -> tuple[int, ...]:
    """About ``count`` iteration numbers from 1 to ``last``, evenly on a logarithmic axis, without repetition.

    >>> spaced(100, 5)
    (1, 3, 10, 32, 100)
    """
    return tuple(sorted({round(last ** (k / (count - 1))) for k in range(count)}))


def paler(color: str) -> str:
    """Half way to white.

    >>> paler("#0072B2")
    '#7fb8d8'
    """
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)
