"""Drawing of figures with matplotlib, and writing of a PNG beside its CSV.

Panels stand from left to right, at most four in a row, the legend beside them, a note below.
"""

import io
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status, table
from lastiterate.numeric.store import write_whole, writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_PLAIN: Final = 100.0
"""A logarithmic axis over less than this ratio is marked in plain numbers at 1, 2 and 5."""
_POWERS: Final = 1e8
"""A logarithmic axis over more than this ratio is marked in powers of ten."""
_TINY: Final = 1e-4
"""And so is one that goes below this, which plain numbers are not written for."""
_PAD: Final = 0.025
_WORDS: Final = 40
"""Letters in a line of the legend."""
_INK: Final = "#444444"
_LETTERS: Final = 17
"""Letters of the note in an inch."""
_ACROSS: Final = 4
"""Panels in a row."""
_WIDTHS: Final = {1: 5.9, 2: 4.7, 3: 4.1}
_SKETCH: Final = (4.4, 2.5)
_LEGEND, _HEIGHT, _LINE = 3.0, 4.9, 0.135  # in inches, as the widths


def draw(figure: Figure) -> "Canvas":
    """Draw the panels, and beside them the curves by what their numbers are."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    across = min(len(figure.panels), _ACROSS)
    down = ceil(len(figure.panels) / across)
    wide = across * _WIDTHS.get(across, 3.7) + _LEGEND
    note = "\n".join(fill(line, int(_LETTERS * wide)) for line in figure.note.strip().split("\n"))
    canvas = Canvas(figsize=(wide, down * _HEIGHT + _LINE * (note.count("\n") + 1)), layout="constrained")
    FigureCanvasAgg(canvas)
    places = canvas.subplots(down, across, squeeze=False).flat
    for axes, panel in zip(places, figure.panels, strict=False):
        _fill(axes, panel)
    canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=11)
    canvas.supxlabel(note, x=0.01, ha="left", fontsize=7.5, color=_INK)
    _legend(canvas, figure)
    return canvas


def sketch(figure: Figure) -> str:
    """One panel as an SVG that is read at the width of a telephone: no title, the legend above the axes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    (panel,) = figure.panels
    image = io.StringIO()
    with rc_context({"svg.hashsalt": "lastiterate", "font.size": 9}):
        canvas = Canvas(figsize=_SKETCH, layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.subplots()
        _fill(axes, panel)
        samples = [axes.plot([], [], label=curve.label, **_look(curve))[0] for curve in panel.curves]
        canvas.legend(handles=samples, loc="outside upper left", ncols=2, frameon=False, handlelength=3)
        canvas.savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def write_figure(figure: Figure, folder: Path, stem: str) -> tuple[Path, Path]:
    """Write ``stem.csv`` and ``stem.png`` into ``folder``, each whole or not at all.

    Returns:
        The paths of the PNG and of the CSV.

    Raises:
        InputError: the folder cannot be written.
    """
    image = io.BytesIO()
    draw(figure).savefig(image, format="png", dpi=160)
    png, data = folder / f"{stem}.png", folder / f"{stem}.csv"
    with writing("A figure needs", f"out={folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(data, table(figure).encode())
        write_whole(png, image.getvalue())
    return png, data


def _fill(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    first, last = min(curve.x[0] for curve in panel.curves), max(curve.x[-1] for curve in panel.curves)
    axes.set_xscale("log" if panel.logarithmic else "linear")
    axes.margins(x=_PAD if any(curve.marker for curve in panel.curves) else 0.0)  # markers at the ends are whole
    axes.set_yscale("log" if panel.bottom > 0 else "linear")
    axes.set_ylim(panel.bottom, panel.top)
    for axis, wide in ((axes.xaxis, (first, last)), (axes.yaxis, (panel.bottom, panel.top))):
        if axis.get_scale() == "log":
            _plain(axis, *wide)
    if not panel.logarithmic and all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    if panel.places:
        axes.set_xticks(
            range(1, len(panel.places) + 1), [place.replace(":", ":\n") for place in panel.places], fontsize=8
        )
        axes.margins(x=1 / (2 * len(panel.places)))
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


def _plain(axis: Any, first: float, last: float) -> None:
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
        "color": color or curve.color,
        "linestyle": curve.line or "none",
        "linewidth": curve.width,
        "marker": curve.marker or None,
        "markersize": 4,
        "solid_capstyle": "round",
    }


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
    """Text and look of each line of the legend; headings have no look. What is above its axes is told by a number."""
    named = {
        curve: f"{curve.label}: {curve.y[-1]:.3g} ↑" if min(curve.y) > panel.top else curve.label
        for panel in figure.panels
        for curve in panel.curves
    }
    for status in Status:
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
