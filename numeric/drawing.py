"""A figure as data, and how it is written: a PNG beside the CSV that it was drawn from."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["Curve", "Figure", "Status", "draw", "table", "write_figure"]

_GAP = 0.052
"""Least distance of two labels at the right edge, as a share of the height of the axes."""


class Status(StrEnum):
    """What the numbers of a curve are."""

    BOUND = "upper bound"
    ESTIMATE = "estimate"
    NOT_VALID = "not a valid bound"
    SECOND_HAND = "formula second-hand, not checked"


@dataclass(frozen=True)
class Curve:
    """Privacy loss against the number of iterations, or against what the figure says.

    Attributes:
        name: what the curve is, in the CSV.
        label: what is written beside it.
        steps: iterations T, or places on the horizontal axis of the figure, shape (k,), increasing.
        epsilon: Rényi epsilon at the order of the figure, or what its vertical axis says, shape (k,), dimensionless.
        status: upper bound, estimate, or neither.
        color: any colour of matplotlib.
        line: "-", "--", ":" or "-.".
        width: in points.
        ink: colour of the label where the line itself is too pale to read.
    """

    name: str
    label: str
    steps: tuple[float, ...]
    epsilon: tuple[float, ...]
    status: Status = Status.BOUND
    color: str = "#000000"
    line: str = "-"
    width: float = 1.6
    ink: str = ""


@dataclass(frozen=True)
class Figure:
    """Curves in one picture.

    Attributes:
        title: one line above the axes.
        note: up to four lines below them: the setting, and what the reader must know.
        curves: drawn in this order.
        order: the Rényi order of every curve.
        top: upper end of the epsilon axis; curves that leave it are named where they do, and those above it
            altogether are named with their last value.
        across: what the horizontal axis shows.
        upward: what the vertical axis shows; Rényi epsilon at ``order`` if left out.
        logarithmic: whether the horizontal axis is logarithmic.
    """

    title: str
    note: str
    curves: tuple[Curve, ...]
    order: float
    top: float
    across: str = "iterations $T$"
    upward: str = ""
    logarithmic: bool = True


def table(figure: Figure) -> str:
    """The figure as CSV text: one row for every curve and every T."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("curve", "status", "order", "steps", "epsilon"))
    for curve in figure.curves:
        for steps, epsilon in zip(curve.steps, curve.epsilon, strict=True):
            writer.writerow((curve.name, curve.status, f"{figure.order:g}", steps, repr(epsilon)))
    return out.getvalue()


_PLAIN = 100.0
"""A logarithmic axis over less than this ratio is marked in plain numbers."""


def draw(figure: Figure) -> "Canvas":
    """Draw the curves, each named beside its right end."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    canvas = Canvas(figsize=(9.6, 5.4))
    FigureCanvasAgg(canvas)
    room = 0.07 + 0.0065 * max(len(curve.label) for curve in figure.curves)
    axes = canvas.add_axes((0.075, 0.21, max(0.60, 0.92 - room), 0.71))
    first, last = min(curve.steps[0] for curve in figure.curves), max(curve.steps[-1] for curve in figure.curves)
    axes.set_xscale("log" if figure.logarithmic else "linear")
    axes.set_xlim(first, last)
    if figure.logarithmic and last < _PLAIN * first:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0, figure.top)
    axes.set_xlabel(figure.across)
    axes.set_ylabel(figure.upward or rf"Rényi privacy loss $\varepsilon$ at order {figure.order:g}")
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(figure.title, loc="left", fontsize=11)
    for curve in figure.curves:
        axes.plot(
            curve.steps, curve.epsilon, color=curve.color, linestyle=curve.line, linewidth=curve.width,
            solid_capstyle="round",
        )  # fmt: skip
    _name(axes, figure)
    canvas.text(0.015, 0.015, figure.note.strip(), fontsize=7.5, color="#444444", va="bottom", ha="left")
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


def _name(axes: "Axes", figure: Figure) -> None:
    """Write each label at the right edge, or inside where its curve leaves the axes."""
    beside = [curve for curve in figure.curves if curve.epsilon[-1] <= figure.top or curve.epsilon[0] > figure.top]
    ends = [min(curve.epsilon[-1] / figure.top, 1.0) for curve in beside]
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction", "annotation_clip": False}
    for curve, end, place in zip(beside, ends, _spread(ends), strict=True):
        ink = curve.ink or curve.color
        above = curve.epsilon[-1] > figure.top
        leader = {"arrowstyle": "-", "color": ink, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(
            f"{curve.label}: {curve.epsilon[-1]:.3g} ↑" if above else curve.label,
            xy=(1.005, end), xytext=(1.06, place), color=ink, fontsize=8, va="center",
            arrowprops=None if above else leader, **style,
        )  # fmt: skip
    for curve in figure.curves:
        if curve not in beside:
            leaves = next(t for t, e in zip(curve.steps, curve.epsilon, strict=True) if e > figure.top)
            axes.text(leaves / 1.25, 0.985 * figure.top, curve.label, color=curve.color, fontsize=8,
                      ha="right", va="top")  # fmt: skip


def _spread(ends: Sequence[float]) -> list[float]:
    """Places near ``ends``, in the same order, at least a gap apart and inside the axes where they fit.

    >>> [round(place, 3) for place in _spread([0.5, 0.5, 0.9])]
    [0.474, 0.526, 0.9]
    """
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    groups: list[tuple[list[int], float]] = []  # the members of a group of touching labels, and its middle
    for i in order:
        members, middle = [i], ends[i]
        while groups and middle - len(members) * _GAP / 2 < groups[-1][1] + len(groups[-1][0]) * _GAP / 2:
            members = groups.pop()[0] + members
            half = len(members) * _GAP / 2
            middle = sum(ends[k] for k in members) / len(members)
            middle = min(max(middle, half - _GAP / 2), 1 - half + _GAP / 2)
        groups.append((members, middle))
    places = [0.0] * len(ends)
    for members, middle in groups:
        for k, i in enumerate(members):
            places[i] = middle + (k - (len(members) - 1) / 2) * _GAP
    return places
