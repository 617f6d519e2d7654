"""Picture of a sweep along one of its axes.

    python examples/sweep_picture.py examples/sweep.toml noise_std:epsilon --out sweep.csv

The rows that `lastiterate sweep` has written are read, and missing rows are computed. Writes sweep-noise_std.png.
"""

import io
from collections import defaultdict
from collections.abc import Mapping
from itertools import cycle
from math import isfinite
from pathlib import Path
from typing import Final

import click
from matplotlib.figure import Figure

from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.store import write_whole
from lastiterate.numeric.sweeps import SweepPlan, SweepTable, load_sweep, sweep

COLORS: Final[Mapping[str, str]] = {
    "blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#AA4499", "grey": "#777777",
    "black": "#000000",
}  # fmt: skip
"""The colours of Okabe and Ito that every kind of colour vision distinguishes."""

_MOST_CURVES: Final = 12


def checked_plot(plan: SweepPlan, plot: str) -> tuple[str, str]:
    """Axis and column of ``plot``, "axis:column"; the column is epsilon if left out.

    Raises:
        InputError: the axis or column is unknown, the axis has strings or only one value, or there are too
            many curves.
    """
    across, colon, upward = plot.partition(":")
    upward = upward if colon else "epsilon"
    if across not in plan.axes or upward not in ("epsilon", "mu"):
        raise InputError(
            f"A plot needs AXIS:epsilon or AXIS:mu, got plot={plot!r}; the axes are {', '.join(plan.axes)}."
        )
    values = plan.axes[across]
    if len(values) < 2 or any(isinstance(value, str) or not isfinite(value) for value in values):
        raise InputError(
            f"A plot needs an axis of two or more finite numbers, got {across}={echo(list(values))}; choose "
            "another axis."
        )
    curves = plan.rows // len(values)
    if curves > _MOST_CURVES:
        raise InputError(
            f"A plot can have at most {_MOST_CURVES} curves, got {curves} combinations of the other axes; sweep "
            "fewer of their values, or plot another axis."
        )
    return across, upward


def draw_sweep(table: SweepTable, plot: str) -> Figure:
    """Draw "axis:column" of a sweep; a note counts the rows without a number, which are left out.

    Raises:
        InputError: as in `checked_plot`, or no row has a number.
    """
    across, upward = checked_plot(table.plan, plot)
    others = {name: values for name, values in table.plan.axes.items() if name != across}
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for record in table.records():
        if record[upward] is not None and isfinite(record[upward]):
            label = ", ".join(f"{name} {record[name]}" for name, values in others.items() if len(values) > 1)
            groups[label or "upper bound"].append((record[across], record[upward]))
    if not groups:
        raise InputError(
            f"A plot needs rows with a finite {upward}, got none in rows={table.plan.rows}; see the error column."
        )
    canvas = Figure(figsize=(7.4, 5.0), layout="constrained")
    axes = canvas.subplots()
    looks = cycle([(color, line) for line in ("-", "--") for color in COLORS.values()])
    for (label, points), (color, line) in zip(groups.items(), looks, strict=False):
        axes.plot(*zip(*sorted(points), strict=True), color=color, linestyle=line, label=label)
    places = [x for points in groups.values() for x, _ in points]
    axes.set_xscale("log" if 0 < 10 * min(places) <= max(places) else "linear")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(across)
    renyi = "order" in table.plan.axes
    sense = "Rényi $\\varepsilon$" if renyi else "$\\varepsilon$ of $(\\varepsilon, \\delta)$-DP"
    axes.set_ylabel(sense if upward == "epsilon" else r"$\mu$ of $\mu$-GDP")
    axes.grid(color="#dddddd", linewidth=0.6)
    canvas.legend(loc="outside right upper", fontsize=8, frameon=False)
    canvas.suptitle(f"Privacy loss of the last iterate against {across}", fontsize=11)
    fixed = ", ".join(f"{name} = {values[0]}" for name, values in others.items() if len(values) == 1)
    note = "Every number is an upper bound, rounded up." + (f" {fixed}." if fixed else "")
    missing = table.plan.rows - len(places)
    canvas.supxlabel(
        note + (f" {missing} rows without a number are left out." if missing else ""), fontsize=7.5
    )
    return canvas


def write_sweep_picture(table: SweepTable, plot: str, out: Path) -> Path:
    """Write the picture as a PNG next to the table ``out``, named after it and the axis.

    Raises:
        InputError: as in `draw_sweep`.
    """
    path, image = out.with_name(f"{out.stem}-{plot.partition(':')[0]}.png"), io.BytesIO()
    draw_sweep(table, plot).savefig(image, format="png", dpi=160)
    write_whole(path, image.getvalue())
    return path


@click.command()
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.argument("plot", metavar="AXIS:COLUMN")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Table of the sweep.")
def main(sweep_file: Path, plot: str, out: Path) -> None:
    """Plot epsilon or mu of SWEEP_FILE against an axis, as a PNG next to OUT."""
    try:
        plan = load_sweep(sweep_file)
        checked_plot(plan, plot)
        table = sweep(plan.run, plan.assumption, plan.axes, out=out, jobs=-1)
        click.echo(write_sweep_picture(table, plot, out))
    except InputError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
