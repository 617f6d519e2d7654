"""Picture of a sweep along one of its axes.

    python examples/sweep_picture.py examples/sweep.toml noise_std:epsilon --out sweep.csv

The rows that `lastiterate sweep` has written are read, and missing rows are computed. Writes sweep-noise_std.png,
sweep-noise_std.svg and sweep-noise_std.pdf.

Points are not joined: between two of them a line could lie below the bound.
"""

import io
from collections import defaultdict
from collections.abc import Mapping
from itertools import cycle
from math import isfinite
from pathlib import Path
from textwrap import fill
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

WORDS: Final[Mapping[str, str]] = {
    "noise_std": "standard deviation of the noise on the iterate (length)",
    "steps": "number of steps",
    "step_size": "step size (length / gradient)",
    "clip_norm": "clip norm of a gradient",
    "dataset_size": "samples in the data set",
    "batch_size": "samples in a batch",
    "diameter": "diameter of the domain (length)",
    "L": "smoothness $L$ (gradient / length)",
    "order": r"Rényi order $\alpha$",
    "delta": r"$\delta$",
}
"""Axis labels with units."""

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
    looks = cycle(zip(COLORS.values(), "os^Dv<", strict=True))
    for (label, points), (color, marker) in zip(groups.items(), looks, strict=False):
        axes.plot(
            *zip(*sorted(points), strict=True),
            color=color,
            linestyle="none",
            marker=marker,
            markersize=5,
            label=label,
        )
    places = [x for points in groups.values() for x, _ in points]
    axes.set_xscale("log" if 0 < 10 * min(places) <= max(places) else "linear")
    for ticks in ("major", "minor"):
        axes.xaxis.set_tick_params(which=ticks, labelsize=8)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(WORDS.get(across, across.replace("_", " ")))
    renyi = "order" in table.plan.axes
    sense = "Rényi $\\varepsilon$" if renyi else "$\\varepsilon$ of $(\\varepsilon, \\delta)$-DP"
    axes.set_ylabel(f"privacy loss, {sense}" if upward == "epsilon" else r"privacy loss, $\mu$ of $\mu$-GDP")
    axes.grid(color="#dddddd", linewidth=0.6)
    canvas.legend(loc="outside right upper", fontsize=8, frameon=False)
    canvas.suptitle("Privacy loss of the last iterate", fontsize=11)
    fields = vars(table.plan.run) | vars(table.plan.assumption)
    fixed = fields | {name: values[0] for name, values in others.items() if len(values) == 1}
    told = ", ".join(
        f"{name} = {value}".replace("_", " ")
        for name, value in fixed.items()
        if value not in (None, "") and (name not in table.plan.axes or len(table.plan.axes[name]) == 1)
    )
    kind = type(table.plan.assumption).__name__
    note = f"Every number is an upper bound, rounded up. Assumption: {kind}. Run: {told}."
    missing = table.plan.rows - len(places)
    more = f"\n{missing} rows without a number are left out." if missing else ""
    canvas.supxlabel(fill(note, 110) + more, fontsize=7.5)
    return canvas


def write_sweep_picture(table: SweepTable, plot: str, out: Path) -> Path:
    """Write the picture as PNG, SVG and PDF next to the table ``out``, named after it and the axis.

    Returns:
        The path of the PNG.

    Raises:
        InputError: as in `draw_sweep`.
    """
    path, canvas = out.with_name(f"{out.stem}-{plot.partition(':')[0]}.png"), draw_sweep(table, plot)
    for ending in ("png", "svg", "pdf"):
        image = io.BytesIO()
        canvas.savefig(image, format=ending, dpi=160)
        write_whole(path.with_suffix(f".{ending}"), image.getvalue())
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
