"""Pictures of results: a sweep along one of its axes, and a planned run at shorter lengths."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from math import inf, isfinite, nan
from pathlib import Path
from typing import Final

from lastiterate.numeric.advice import Advice
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, echo
from lastiterate.numeric.losses.assumptions import Clipped, Convex
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.plotting import COLORS, Curve, CurveKind, Figure, Panel, as_png
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole
from lastiterate.numeric.sweeps import SweepPlan, SweepTable

_MOST_CURVES: Final = 12
_LENGTHS: Final = 9


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


def figure_advice(
    advice: Advice, lengths: int = _LENGTHS, *, on_length: Callable[[int, int], None] | None = None
) -> Figure:
    """Epsilon of a planned run over so many lengths, evenly on a logarithmic axis, and over those of the advice.

    Curves are composition, the last iterate, a lower bound of it, and with a domain the estimate of linear losses.
    """
    last = advice.run.steps
    told = {count for count in (advice.helps_from, advice.stop_after) if count}
    steps = sorted({max(1, round(last ** (k / (lengths - 1)))) for k in range(lengths)} | told)
    rows: list[tuple[float, float, float, float]] = []
    for done, count in enumerate(steps):
        if on_length is not None:
            on_length(done, len(steps))
        rows.append(_row(advice, replace(advice.run, steps=count)))
    composed, ours, below, linear = (tuple(column) for column in zip(*rows, strict=True))
    x = tuple(float(count) for count in steps)
    curves = [
        Curve("composition", "all iterates, composition", x, composed, color=COLORS["grey"], width=4.0),
        Curve("last iterate", "last iterate", x, ours, color=COLORS["blue"], width=2.0),
        Curve("lower", "last iterate, at least", x, below, CurveKind.LOWER, color=COLORS["black"], line="--"),
    ]
    if advice.domain:
        words = "linear losses, without the domain"
        curves.append(Curve("linear", words, x, linear, CurveKind.ESTIMATE, color=COLORS["orange"], line="-."))
    panel = Panel(
        tuple(curve for curve in curves if sum(value > 0 for value in curve.y) > 1),  # one point is not a curve
        top=1.5 * max(composed),
        bottom=max(min(value for value in (*below, *linear) if value > 0) / 2, min(ours) / 100),
        across="steps $T$",
        upward="$\\varepsilon$",
        title=f"δ = {advice.delta:g}",
    )
    size = f"step size {advice.run.step_size_at(0):g}, noise {advice.run.noise_std_at(0):g}"
    note = f"{'; '.join(advice.found.assumptions)}; {size}."
    return Figure("What the last iterate costs, by the length of the run", note, (panel,))


def _row(advice: Advice, run: NoisySGD) -> tuple[float, float, float, float]:
    delta, plain = advice.delta, replace(run, diameter=inf, weight_decay=0.0)
    return (
        bound(plain, Clipped(), delta=delta).epsilon,
        bound(run, advice.assumption, delta=delta).epsilon,
        lower_bound(run, advice.assumption, delta=delta).value or nan,
        lower_bound(replace(run, diameter=inf), Convex(0.0), delta=delta).value or nan,  # nothing is known
    )
