"""Drawing of figures with matplotlib, and writing of a PNG beside its CSV.

Panels stand from left to right, names at the curves or in a legend beside them, a note below.
"""

import io
from collections.abc import Iterator, Sequence
from math import ceil, log, log10
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole
from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["draw", "write_figure"]

_LABEL: Final = 0.052
_SECOND_LINE: Final = 0.03
"""Height of a label at the right edge and of what a second line adds to it, as shares of the height of the axes."""
_PLAIN: Final = 100.0
"""A logarithmic axis over less than this ratio is marked in plain numbers at 1, 2 and 5."""
_HIGH: Final = 0.93
"""Height at which a curve that leaves the axes is labelled, as a share of that of the axes."""
_PAD: Final = 0.025
_INK: Final = "#444444"
_LETTERS: Final = 18
"""Letters of the note in an inch."""

# In inches.
_LEFT, _APART, _BELOW, _ABOVE, _LINE, _HEIGHT = 0.72, 0.1, 0.62, 0.45, 0.135, 3.85
_WIDTHS: Final = {1: 5.6, 2: 4.3, 3: 3.7}
_LEGEND: Final = 3.0
_ROW: Final = 0.185
_SAMPLE: Final = 0.42
_LETTER: Final = 0.0635


def draw(figure: Figure) -> "Canvas":
    """Draw the curves, each named beside its right end or in the legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    count, margin = len(figure.panels), _margin(figure)
    width = _WIDTHS.get(count, 3.3)
    beside = _LEGEND if figure.legend else 0.75 + _LETTER * max(_longest(curve.caption) for curve in figure.curves)
    whole = margin + count * width + (count - 1) * (margin + _APART) + beside
    note = "\n".join(fill(line, int(_LETTERS * whole)) for line in figure.note.strip().split("\n"))
    below = _BELOW + _LINE * (note.count("\n") + 1)
    above = _ABOVE + (0.2 if any(panel.title for panel in figure.panels) else 0.0)
    high = below + _HEIGHT + above
    canvas = Canvas(figsize=(whole, high))
    FigureCanvasAgg(canvas)
    for place, panel in enumerate(figure.panels):
        left = margin + place * (width + margin + _APART)
        axes = canvas.add_axes((left / whole, below / high, width / whole, _HEIGHT / high))
        _fill(axes, panel)
        if not figure.legend:
            _name(axes, panel)
    canvas.text(margin / whole, 1 - 0.12 / high, figure.title, fontsize=11, va="top", ha="left")
    canvas.text(0.12 / whole, 0.08 / high, note, fontsize=7.5, color=_INK, va="bottom", ha="left")
    if figure.legend:
        _legend(canvas, figure, high - above)
    return canvas


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(data, table(figure).encode())
        write_whole(png, image.getvalue())
    except OSError as error:
        raise InputError(
            f"A figure needs a folder that can be written, got out={folder} ({error.strerror}); name another."
        ) from None
    return png, data


def _margin(figure: Figure) -> float:
    """Room for the numbers and the name of a vertical axis, in inches."""
    least = (10 ** ceil(log10(panel.bottom)) for panel in figure.panels if panel.bottom > 0)
    longest = max(len(text) for text in (*(f"{panel.top:,.0f}" for panel in figure.panels), *map(_number, least)))
    return _LEFT + _LETTER * max(longest - 4, 0)


def _longest(text: str) -> int:
    return max(len(line) for line in text.split("\n"))


def _fill(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    first, last = min(curve.x[0] for curve in panel.curves), max(curve.x[-1] for curve in panel.curves)
    axes.set_xscale("log" if panel.logarithmic else "linear")
    axes.set_xlim(*(_padded(first, last, panel) if any(curve.marker for curve in panel.curves) else (first, last)))
    axes.set_yscale("log" if panel.bottom > 0 else "linear")
    axes.set_ylim(panel.bottom, panel.top)
    for axis, wide in ((axes.xaxis, (first, last)), (axes.yaxis, (panel.bottom, panel.top))):
        if axis.get_scale() == "log":
            _plain(axis, *wide)
    if not panel.logarithmic and all(float(x).is_integer() for curve in panel.curves for x in curve.x):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.upward or rf"Rényi privacy loss $\varepsilon$ at order {panel.order:g}")
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(panel.title, loc="left", fontsize=9.5)
    for curve in panel.curves:
        if curve.low and not curve.line:
            axes.vlines(curve.x, curve.low, curve.high, color=curve.color, alpha=0.5, linewidth=3, clip_on=True)
        elif curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=curve.color, alpha=0.16, linewidth=0)
        axes.plot(curve.x, curve.y, clip_on=not curve.marker, **_look(curve))


def _padded(first: float, last: float, panel: Panel) -> tuple[float, float]:
    """The ends of the horizontal axis, a little further out, so that markers there are whole."""
    if panel.logarithmic:
        wider = (last / first) ** _PAD
        return first / wider, last * wider
    return first - _PAD * (last - first), last + _PAD * (last - first)


def _plain(axis: Any, first: float, last: float) -> None:
    """Plain numbers instead of powers of ten, at 1, 2 and 5 where the axis is short."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if last < _PLAIN * first:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _position: _number(value)))
    axis.set_minor_formatter(NullFormatter())


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _share(panel: Panel, value: float) -> float:
    """Position of a value on the vertical axis, as a share of its height from below."""
    if panel.bottom <= 0:
        return min(value / panel.top, 1.0)
    inside = min(max(value, panel.bottom), panel.top)
    return log(inside / panel.bottom) / log(panel.top / panel.bottom)


def _look(curve: Curve, color: str = "") -> dict[str, Any]:
    return {
        "color": color or curve.color,
        "linestyle": curve.line or "none",
        "linewidth": curve.width,
        "marker": curve.marker or None,
        "markersize": 4,
        "solid_capstyle": "round",
    }


def _legend(canvas: "Canvas", figure: Figure, top: float) -> None:
    """Styles under what their numbers are, then the colours of the members; ``top`` in inches from below."""
    from matplotlib.lines import Line2D

    width, height = canvas.get_size_inches()
    left, row = width - _LEGEND + 0.12, top
    for place, (text, look) in enumerate(_entries(figure)):
        row -= _ROW if look or not place else 1.5 * _ROW
        if look:
            ends = [(left + part * _SAMPLE) / width for part in (0.0, 0.5, 1.0)]
            canvas.add_artist(Line2D(ends, [row / height] * 3, markevery=[1], **look))
        indent = _SAMPLE + 0.1 if look else 0.0
        weight = "normal" if look else "bold"
        canvas.text((left + indent) / width, row / height, text, fontsize=8, fontweight=weight, va="center")


def _entries(figure: Figure) -> Iterator[tuple[str, dict[str, Any]]]:
    """Text and look of each line of the legend; headings have no look."""
    for status in Status:
        seen = {curve.label: curve for curve in reversed(figure.curves) if curve.status is status}
        if seen:
            yield status, {}
        for label, curve in reversed(seen.items()):
            yield label, _look(curve, _INK if curve.of else "")
    members = {curve.of: curve.color for curve in figure.curves if curve.of}
    if members:
        yield figure.members, {}
    for member, color in members.items():
        yield member, {"color": color, "linewidth": 4, "solid_capstyle": "butt"}


def _name(axes: "Axes", panel: Panel) -> None:
    """Write each label at the right edge, or inside where its curve leaves the axes."""
    beside = [curve for curve in panel.curves if curve.y[-1] <= panel.top or curve.y[0] > panel.top]
    ends = [_share(panel, curve.y[-1]) for curve in beside]
    sizes = [_LABEL + _SECOND_LINE * curve.caption.count("\n") for curve in beside]
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction", "annotation_clip": False}
    for curve, end, place in zip(beside, ends, _spread(ends, sizes), strict=True):
        ink = curve.ink or curve.color
        above = curve.y[-1] > panel.top
        leader = {"arrowstyle": "-", "color": ink, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(
            f"{curve.caption}: {curve.y[-1]:.3g} ↑" if above else curve.caption,
            xy=(1.005, end), xytext=(1.06, place), color=ink, fontsize=8, va="center",
            arrowprops=None if above else leader, **style,
        )  # fmt: skip
    for curve in panel.curves:
        if curve not in beside:
            k = next(k for k, y in enumerate(curve.y) if y > _HIGH * panel.top)
            share = (_HIGH * panel.top - curve.y[k - 1]) / (curve.y[k] - curve.y[k - 1])
            there = curve.x[k - 1] + share * (curve.x[k] - curve.x[k - 1])
            axes.text(there / 1.06, 0.985 * panel.top, curve.caption, color=curve.color, fontsize=8,
                      ha="right", va="top")  # fmt: skip


def _spread(ends: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Places near ``ends``, in the same order, so that labels of these sizes do not touch, inside the axes if they fit.

    >>> [round(place, 3) for place in _spread([0.5, 0.5, 0.9], [0.05, 0.05, 0.1])]
    [0.475, 0.525, 0.9]
    """
    groups: list[tuple[list[int], float]] = []  # the members of a group of touching labels, and its middle

    def height(members: Sequence[int]) -> float:
        return sum(sizes[k] for k in members)

    for i in sorted(range(len(ends)), key=lambda i: ends[i]):
        members, middle = [i], ends[i]
        while groups and middle - height(members) / 2 < groups[-1][1] + height(groups[-1][0]) / 2:
            members = groups.pop()[0] + members
            half, edge = height(members) / 2, min(sizes) / 2
            middle = sum(ends[k] for k in members) / len(members)
            middle = min(max(middle, half - edge), 1 - half + edge)
        groups.append((members, middle))
    places = [0.0] * len(ends)
    for members, middle in groups:
        below = middle - height(members) / 2
        for i in members:
            places[i] = below + sizes[i] / 2
            below += sizes[i]
    return places
