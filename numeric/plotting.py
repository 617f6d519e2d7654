"""Figures as data, their drawing with matplotlib, and the writing of a PNG beside its CSV.

Panels stand from left to right, at most four in a row, the legend beside them, a note below.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from lastiterate.numeric.store import write_whole, writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLORS: Final[Mapping[str, str]] = {
    "blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#AA4499", "grey": "#777777",
    "black": "#000000",
}  # fmt: skip
"""The colours of Okabe and Ito that every kind of colour vision distinguishes."""

CYCLE: Final = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#332288")
"""Colours for the members of a family, from first to last."""

_PLAIN, _POWERS, _TINY = 100.0, 1e8, 1e-4
"""A logarithmic axis over less than the first ratio is marked in plain numbers at 1, 2 and 5, one over more than the
second, or that goes below the third number, in powers of ten."""
_PAD, _INK, _WORDS, _ACROSS = 0.025, "#444444", 40, 4
"""Margin for markers at the ends, colour of the note, letters in a line of the legend, panels in a row."""
_WIDTHS: Final = {1: 5.9, 2: 4.7, 3: 4.1}
_LEGEND, _HEIGHT, _LINE, _LETTERS = 3.0, 4.9, 0.135, 17
"""Sizes in inches, as the widths of panels by their number; and letters of the note in an inch."""


class CurveKind(StrEnum):
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
        name: in the CSV; ``label`` is that in the legend.
        x: iterations T, or places on the horizontal axis of the panel, shape (k,), increasing.
        y: Rényi epsilon at the order of the panel, or what its vertical axis says, shape (k,).
        line: "-", "--", ":" or "-."; "" for markers alone, whose bands are drawn as bars.
        width: in points.
        low: lower end of a band, shape (k,), or (); ``high`` is the upper one.
        of: the member of a family: curves of one label and several members share a line style, curves of one member a
            colour, and the legend explains each once. Empty for a curve that stands for itself.
    """

    name: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    status: CurveKind = CurveKind.BOUND
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
        top: upper end of the vertical axis; curves may leave it, and of those above it the legend has the last value.
        order: the Rényi order of every curve; None where there is none.
        across: label of the horizontal axis, which is logarithmic unless ``logarithmic`` is false.
        upward: label of the vertical axis; Rényi epsilon at ``order`` if left out.
        bottom: lower end of the vertical axis, which is logarithmic where it is above 0.
    """

    curves: tuple[Curve, ...]
    top: float
    order: float | None = None
    across: str = "iterations $T$"
    upward: str = ""
    logarithmic: bool = True
    bottom: float = 0.0
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """One picture.

    Attributes:
        title: one line above the axes.
        note: below them: the setting, and what the reader must know; broken into lines as the picture is wide.
        panels: from left to right.
        members: what the colours of the curves distinguish, where curves are members of families.
    """

    title: str
    note: str
    panels: tuple[Panel, ...]
    members: str = ""

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Those of all panels."""
        return tuple(curve for panel in self.panels for curve in panel.curves)


def figure_csv(figure: Figure) -> str:
    """The figure as CSV text: one row for every point of every curve; panels are counted from 1."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("panel", "curve", "of", "status", "order", "x", "y", "low", "high"))
    for place, panel in enumerate(figure.panels, start=1):
        order = "" if panel.order is None else f"{panel.order:g}"
        for curve in panel.curves:
            ends = ([*map(repr, map(float, end))] or [""] * len(curve.x) for end in (curve.low, curve.high))
            for x, y, low, high in zip(curve.x, curve.y, *ends, strict=True):
                writer.writerow((place, curve.name, curve.of, curve.status, order, x, float(y), low, high))
    return out.getvalue()


def spaced(last: int, count: int) -> tuple[int, ...]:
    """About ``count`` iteration numbers from 1 to ``last``, evenly on a logarithmic axis, without repetition.

    >>> spaced(100, 5)
    (1, 3, 10, 32, 100)
    """
    return tuple(sorted({round(last ** (k / (count - 1))) for k in range(count)}))


def draw(figure: Figure) -> "Canvas":
    """Draw the panels, and beside them the curves by what their numbers are."""
    across = min(len(figure.panels), _ACROSS)
    down = ceil(len(figure.panels) / across)
    wide = across * _WIDTHS.get(across, 3.7) + _LEGEND
    note = "\n".join(fill(line, int(_LETTERS * wide)) for line in figure.note.strip().split("\n"))
    canvas = _canvas(wide, down * _HEIGHT + _LINE * (note.count("\n") + 1))
    places = canvas.subplots(down, across, squeeze=False).flat
    for axes, panel in zip(places, figure.panels, strict=False):
        _fill(axes, panel)
    canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=11)
    canvas.supxlabel(note, x=0.01, ha="left", fontsize=7.5, color=_INK)
    _legend(canvas, figure)
    return canvas


def as_png(figure: Figure) -> bytes:
    """The figure as a PNG file."""
    image = io.BytesIO()
    draw(figure).savefig(image, format="png", dpi=160)
    return image.getvalue()


def write_figure(figure: Figure, folder: Path, stem: str) -> tuple[Path, Path]:
    """Write ``stem.csv`` and ``stem.png`` into ``folder``, each whole or not at all.

    Returns:
        The paths of the PNG and of the CSV.

    Raises:
        InputError: the folder cannot be written.
    """
    image, png, data = as_png(figure), folder / f"{stem}.png", folder / f"{stem}.csv"
    with writing("A figure needs", f"out={folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(data, figure_csv(figure).encode())
        write_whole(png, image)
    return png, data


def _canvas(wide: float, high: float) -> "Canvas":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(wide, high), layout="constrained")
    FigureCanvasAgg(canvas)
    return canvas


def _fill(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    first, last = min(curve.x[0] for curve in panel.curves), max(curve.x[-1] for curve in panel.curves)
    axes.set_xscale("log" if panel.logarithmic else "linear")
    axes.margins(x=_PAD if any(curve.marker for curve in panel.curves) else 0.0)  # markers at the ends are whole
    axes.set_yscale("log" if panel.bottom > 0 else "linear")
    axes.set_ylim(panel.bottom, panel.top)
    for axis, wide in ((axes.xaxis, (first, last)), (axes.yaxis, (panel.bottom, panel.top))):
        if axis.get_scale() == "log":
            _mark_plainly(axis, *wide)
    if not panel.logarithmic and all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.set_xlabel(panel.across)
    at = "" if panel.order is None else f" at order {panel.order:g}"
    axes.set_ylabel(panel.upward or rf"Rényi privacy loss $\varepsilon${at}")
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(panel.title, loc="left", fontsize=9.5)
    for curve in panel.curves:
        if curve.low and not curve.line:
            axes.vlines(curve.x, curve.low, curve.high, color=curve.color, alpha=0.5, linewidth=3, clip_on=True)
        elif curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=curve.color, alpha=0.16, linewidth=0)
        axes.plot(curve.x, curve.y, clip_on=not curve.marker, **_look(curve))


def _mark_plainly(axis: Any, first: float, last: float) -> None:
    """Plain numbers instead of powers of ten, at 1, 2 and 5 where the axis is short; not where it is very long."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    if last > _POWERS * first or first < _TINY:
        return
    if last < _PLAIN * first:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _look(curve: Curve, color: str = "") -> dict[str, Any]:
    return {
        "color": color or curve.color, "linestyle": curve.line or "none", "linewidth": curve.width,
        "marker": curve.marker or None, "markersize": 4, "solid_capstyle": "round",
    }  # fmt: skip


def _legend(canvas: "Canvas", figure: Figure) -> None:
    """Styles under what their numbers are, in bold, then the colours of the members."""
    from matplotlib.lines import Line2D

    entries = list(_entries(figure))
    samples = [Line2D([], [], **(look or {"linestyle": "none"})) for _, look in entries]
    legend = canvas.legend(
        samples, [text for text, _ in entries], loc="outside right upper", fontsize=8, frameon=False, handlelength=3
    )
    for text, (_, look) in zip(legend.get_texts(), entries, strict=True):
        text.set_fontweight("normal" if look else "bold")


def _entries(figure: Figure) -> Iterator[tuple[str, dict[str, Any]]]:
    """Text and look of each line of the legend; headings have no look. Of what is above its axes a number is said."""
    named = {
        curve: f"{curve.label}: {curve.y[-1]:.3g} ↑" if min(curve.y) > panel.top else curve.label
        for panel in figure.panels
        for curve in panel.curves
    }
    for status in CurveKind:
        seen = {named[curve]: curve for curve in reversed(figure.curves) if curve.status is status}
        if seen:
            yield status, {}
        for label, curve in reversed(seen.items()):
            yield fill(label, _WORDS), _look(curve, _INK if curve.of else "")
    members = {curve.of: curve.color for curve in figure.curves if curve.of}
    if members:
        yield figure.members, {}
    for member, color in members.items():
        yield member, {"color": color, "linewidth": 4, "solid_capstyle": "butt"}
