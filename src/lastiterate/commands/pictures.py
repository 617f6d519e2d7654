"""Pictures of a sweep along one of its axes."""

from collections import defaultdict
from itertools import cycle
from math import inf, isfinite
from pathlib import Path
from typing import Final

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.plotting import COLORS, Curve, CurveKind, Figure, Panel, as_png
from lastiterate.numeric.store import write_whole
from lastiterate.numeric.sweeps import SweepPlan, SweepTable

_MOST_CURVES: Final = 12


def checked_plot(plan: SweepPlan, plot: str) -> tuple[str, str]:
    """The axis and the column that ``plot`` names as "axis:column", checked before the work; "axis" alone is epsilon.

    Raises:
        InputError: no such axis or column, an axis of texts or of one value, or too many curves.
    """
    across, colon, upward = plot.partition(":")
    upward = upward if colon else "epsilon"
    if across not in plan.axes or upward not in ("epsilon", "mu"):
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


def figure_sweep(table: SweepTable, plot: str) -> Figure:
    """The figure of "axis:column" of a sweep; rows without a number are left out, and their number is said.

    Raises:
        InputError: as `checked_plot`, or no row has a number.
    """
    across, upward = checked_plot(table.plan, plot)
    others = {name: values for name, values in table.plan.axes.items() if name != across}
    varying = [name for name, values in others.items() if len(values) > 1]
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for record in table.records():
        if record[upward] is not None and isfinite(record[upward]):
            label = ", ".join(_label(name, record[name]) for name in varying)
            groups[label or "upper bound"].append((record[across], record[upward]))
    if not groups:
        raise InputError(f"A picture needs rows with a finite {upward}, got none in rows={table.plan.rows}; see error.")
    looks = cycle([(color, line) for line in ("-", "--") for color in COLORS.values()])
    curves = []
    for (label, points), (color, line) in zip(groups.items(), looks, strict=False):
        x, y = zip(*sorted(points), strict=True)
        curves.append(Curve(label, label, x, y, CurveKind.BOUND, color, line))
    missing = table.plan.rows - sum(len(points) for points in groups.values())
    fixed = ", ".join(f"{name} = {values[0]}" for name, values in others.items() if len(values) == 1)
    note = "Every number is an upper bound, rounded up." + (f" {fixed}." if fixed else "")
    note += f" {missing} rows without a number are left out." if missing else ""
    renyi = "order" in table.plan.axes
    sense = "Rényi $\\varepsilon$" if renyi else "$\\varepsilon$ of $(\\varepsilon, \\delta)$-DP"
    panel = Panel(
        curves=tuple(curves),
        top=1.05 * max(max(curve.y) for curve in curves) or 1.0,
        across=across,
        upward=sense if upward == "epsilon" else r"$\mu$ of $\mu$-GDP",
        logarithmic=_geometric(sorted({x for curve in curves for x in curve.x})),
    )
    return Figure(f"Privacy loss of the last iterate against {across}", note, (panel,))


def _label(name: str, value: object) -> str:
    return "no domain" if (name, value) == ("diameter", inf) else f"{name} {value}"


def _geometric(places: list[float]) -> bool:
    """Tell whether places, rising, are better seen on a logarithmic axis: over a decade, or in even ratios."""
    first, middle, last = places[0], places[len(places) // 2], places[-1]
    even = len(places) % 2 == 1 and abs(middle - (first * last) ** 0.5) < abs(middle - (first + last) / 2)
    return first > 0 and (last >= 10 * first or even)


def write_sweep_picture(table: SweepTable, plot: str, out: Path) -> Path:
    """Write the picture as a PNG beside the table ``out``; its name ends in that of the axis.

    Raises:
        InputError: as `figure_sweep`.
    """
    path = out.with_name(f"{out.stem}-{plot.partition(':')[0]}.png")
    write_whole(path, as_png(figure_sweep(table, plot)))
    return path
