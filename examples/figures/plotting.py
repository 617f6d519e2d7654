"""Figures as data, their drawing with matplotlib, and the writing of PNG, SVG and PDF beside the CSV.

A bound is drawn as steps that never lie below it, a lower bound as steps that never lie above it; if its values
rise and fall, only its points are drawn.

Panels stand from left to right, at most four in a row, the legend beside them, a note below.
"""

import csv
import io
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import ceil
from operator import ge, le
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullFormatter

from lastiterate.numeric.store import write_whole, writing

COLORS: Final = {"blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#AA4499", "grey": "#777777",
                 "black": "#000000"}  # fmt: skip
"""The colours of Okabe and Ito that every kind of colour vision distinguishes."""

CYCLE: Final = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#332288")
"""Colours for the members of a family, from first to last."""

_ACROSS = 4
"""Panels in a row."""
_PANEL, _LEAST, _LEGEND, _LINE = (4.3, 4.9), 5.9, 3.0, 0.175
"""Inches: width and height of a panel, least width of all, width of the legend, height of one of its lines."""
_WORDS, _LETTERS = 40, 17
"""Characters in a line of the legend, and in an inch of the note."""


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
    """Values against the horizontal axis of a panel.

    Attributes:
        name: in the CSV; ``label`` is that in the legend.
        x: places on the horizontal axis, shape (k,), increasing.
        y: values, shape (k,).
        line: "-", "--", ":" or "-."; "" for markers alone, whose bands are drawn as bars.
        low, high: ends of a band, shape (k,), or ().
        of: the member of a family that the curve belongs to; "" for none.
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
        top, bottom: ends of the vertical axis, which is logarithmic where ``bottom`` is above 0.
        order: the Rényi order of every curve; None where there is none.
        across: label of the horizontal axis.
        upward: label of the vertical axis; Rényi epsilon at ``order`` if left out.
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
    """One picture: a title above its panels, and below them a note on the setting."""

    title: str
    note: str
    panels: tuple[Panel, ...]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curves of all panels."""
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


def draw(figure: Figure) -> Canvas:
    """Draw the panels, and beside them the curves by what their numbers are."""
    across = min(len(figure.panels), _ACROSS)
    down = ceil(len(figure.panels) / across)
    wide = max(across * _PANEL[0], _LEAST) + _LEGEND
    note = "\n".join(fill(line, int(_LETTERS * wide)) for line in figure.note.strip().split("\n"))
    named = {
        _name(curve, panel.top): curve for panel in reversed(figure.panels) for curve in reversed(panel.curves)
    }
    texts = _LINE * (len("\n".join(named).split("\n")) + len(note.split("\n")))
    canvas = Canvas(figsize=(wide, max(down * _PANEL[1], texts)), layout="constrained")
    FigureCanvasAgg(canvas)
    for axes, panel in zip(canvas.subplots(down, across, squeeze=False).flat, figure.panels, strict=False):
        _fill(axes, panel)
    canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=11)
    canvas.supxlabel(note, x=0.01, ha="left", fontsize=7.5)
    samples = [
        canvas.axes[0].plot([], [], **(_look(curve) | _between(curve)))[0] for curve in reversed(named.values())
    ]
    canvas.legend(
        samples, reversed(named), loc="outside right upper", fontsize=8, frameon=False, handlelength=3
    )
    return canvas


def write_figure(figure: Figure, folder: Path, stem: str) -> tuple[Path, ...]:
    """Write ``stem`` with the endings png, svg, pdf and csv into ``folder``, each whole or not at all.

    Returns:
        Their paths.

    Raises:
        InputError: the folder cannot be written.
    """
    canvas, made = draw(figure), {folder / f"{stem}.csv": figure_csv(figure).encode()}
    for ending in ("png", "svg", "pdf"):
        image = io.BytesIO()
        canvas.savefig(image, format=ending, dpi=160)
        made[folder / f"{stem}.{ending}"] = image.getvalue()
    with writing("A figure needs", f"out={folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in made.items():
            write_whole(path, content)
    return tuple(made)


def _fill(axes: Axes, panel: Panel) -> None:
    axes.set_xscale("log" if panel.logarithmic else "linear")
    axes.set_yscale("log" if panel.bottom > 0 else "linear")
    ends = [x for curve in panel.curves for x in curve.x if x > 0]
    if panel.logarithmic and ends and max(ends) < 100 * min(ends):
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.025 if any(curve.marker for curve in panel.curves) else 0.0)
    axes.set_ylim(panel.bottom, panel.top)
    if not panel.logarithmic and all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.locator_params(axis="x", integer=True)
    axes.set_xlabel(panel.across)
    at = "" if panel.order is None else f" at order {panel.order:g}"
    axes.set_ylabel(panel.upward or rf"Rényi privacy loss $\varepsilon${at}")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_title(panel.title, loc="left", fontsize=9.5)
    for curve in panel.curves:
        if curve.low and not curve.line:
            axes.vlines(curve.x, curve.low, curve.high, color=curve.color, alpha=0.5, linewidth=3)
        elif curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=curve.color, alpha=0.16, linewidth=0)
        axes.plot(curve.x, curve.y, clip_on=not curve.marker, **(_look(curve) | _between(curve)))


def _look(curve: Curve) -> dict[str, Any]:
    return {
        "color": curve.color,
        "linestyle": curve.line or "none",
        "linewidth": curve.width,
        "marker": curve.marker or None,
        "markersize": 4,
    }


_UPPER: Final = (CurveKind.BOUND,)
_LOWER: Final = (CurveKind.LOWER, CurveKind.ATTACK)


def _between(curve: Curve) -> dict[str, Any]:
    """How a curve is drawn between its points, so that no drawn line is stronger than the bounds at its ends."""
    if not curve.line or curve.status not in (*_UPPER, *_LOWER):
        return {}
    rising, falling = (all(op(a, b) for a, b in pairwise(curve.y)) for op in (le, ge))
    if not (rising or falling):
        return {"linestyle": "none", "marker": curve.marker or "."}
    return {"drawstyle": "steps-pre" if rising == (curve.status in _UPPER) else "steps-post"}


def _name(curve: Curve, top: float) -> str:
    """The text of a curve in the legend, with the last value of one that lies above the axes."""
    label = f"{curve.label}, {curve.of}" if curve.of else curve.label
    above = f": {curve.y[-1]:.3g} ↑" if min(curve.y) > top else ""
    return fill(f"{label}{above} ({curve.status})", _WORDS)
