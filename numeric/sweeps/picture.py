"""One axis of a sweep against its epsilon, a curve for every combination of the others."""

import io
from collections import defaultdict
from itertools import cycle
from math import inf, isfinite, sqrt
from pathlib import Path
from typing import Final

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.plotting.canvas import draw
from lastiterate.numeric.plotting.drawing import COLORS, Curve, Figure, Panel, Status
from lastiterate.numeric.store import write_whole
from lastiterate.numeric.sweeps.plan import Plan
from lastiterate.numeric.sweeps.table import SweepTable

_MOST_CURVES: Final = 12
_UPWARD: Final = ("epsilon", "mu")
_LINES: Final = ("-", "--")


def checked_plot(plan: Plan, plot: str) -> tuple[str, str]:
    """The axis and the column that ``plot`` names as "axis:column", checked before the work; "axis" alone is epsilon.

    Raises:
        InputError: no such axis or column, an axis of texts or of one value, or too many curves.
    """
    across, colon, upward = plot.partition(":")
    upward = upward if colon else "epsilon"
    if across not in plan.axes or upward not in _UPWARD:
        raise InputError(
            f"A picture needs AXIS:epsilon or AXIS:mu, got plot={plot!r}; the axes are {', '.join(plan.axes)}."
        )
    values = plan.axes[across]
    if len(values) < 2 or any(isinstance(value, str) or not isfinite(value) for value in values):
        raise InputError(
            f"A picture needs an axis of two finite numbers or more, got {across}={echo(list(values))}; take another."
        )
    curves = plan.rows // len(values)
    if curves > _MOST_CURVES:
        raise InputError(
            f"A picture needs at most {_MOST_CURVES} curves, got {curves} combinations of the other axes; sweep fewer "
            "of their values, or plot another axis."
        )
    return across, upward


def picture(table: SweepTable, plot: str) -> Figure:
    """The figure of "axis:column" of a sweep; rows without a number are left out, and their number is said.

    Raises:
        InputError: as `checked_plot`, or no row has a number.
    """
    across, upward = checked_plot(table.plan, plot)
    columns = table.columns
    others = [name for name in table.plan.axes if name != across]
    groups: dict[tuple[object, ...], list[tuple[float, float]]] = defaultdict(list)
    for row, value in enumerate(columns[upward]):
        if value is not None and isfinite(value):
            groups[tuple(columns[name][row] for name in others)].append((columns[across][row], value))
    if not groups:
        raise InputError(f"A picture needs rows with a finite {upward}, got none in rows={table.plan.rows}; see error.")
    varying = {k: name for k, name in enumerate(others) if len(table.plan.axes[name]) > 1}
    labels = {
        group: ", ".join(_label(name, group[k]) for k, name in varying.items()) or "upper bound" for group in groups
    }
    looks = cycle([(color, line) for line in _LINES for color in COLORS.values()])
    curves = []
    for (group, points), (color, line) in zip(groups.items(), looks, strict=False):
        x, y = zip(*sorted(points), strict=True)
        curves.append(Curve(labels[group], labels[group], x, y, Status.BOUND, color, line))
    missing = table.plan.rows - sum(len(points) for points in groups.values())
    fixed = ", ".join(f"{name} = {table.plan.axes[name][0]}" for name in others if len(table.plan.axes[name]) == 1)
    target = "order" if "order" in table.plan.axes else "delta"
    sense = "Rényi $\\varepsilon$" if target == "order" else "$\\varepsilon$ of $(\\varepsilon, \\delta)$-DP"
    note = "Every number is an upper bound, rounded up." + (f" {fixed}." if fixed else "")
    panel = Panel(
        curves=tuple(curves),
        top=1.05 * max(max(curve.y) for curve in curves) or 1.0,
        across=across,
        upward=sense if upward == "epsilon" else r"$\mu$ of $\mu$-GDP",
        logarithmic=_geometric(sorted({x for curve in curves for x in curve.x})),
    )
    note += f" {missing} rows without a number are left out." if missing else ""
    return Figure(f"Privacy loss of the last iterate against {across}", note, (panel,))


def _label(name: str, value: object) -> str:
    return "no domain" if (name, value) == ("diameter", inf) else f"{name} {value}"


def _geometric(places: list[float]) -> bool:
    """Tell whether places, rising, are better seen on a logarithmic axis: over a decade, or nearer evenly by ratios."""
    first, middle, last = places[0], places[len(places) // 2], places[-1]
    if first <= 0 or len(places) % 2 == 0:
        return last >= 10 * first > 0
    return last >= 10 * first or abs(middle - sqrt(first * last)) < abs(middle - (first + last) / 2)


def write_picture(table: SweepTable, plot: str, out: Path) -> Path:
    """Write the picture as a PNG beside the table ``out``; its name ends in that of the axis.

    Raises:
        InputError: as `picture`.
    """
    image = io.BytesIO()
    draw(picture(table, plot)).savefig(image, format="png", dpi=160)
    path = out.with_name(f"{out.stem}-{plot.partition(':')[0]}.png")
    write_whole(path, image.getvalue())
    return path
