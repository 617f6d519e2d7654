"""Pictures of what is measured: constants along a training and of several workloads, and coupled runs."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.plotting import COLORS, CYCLE, Curve, CurveKind, Figure, Panel
from lastiterate.runtime.attacks.drift import Drift, Rests
from lastiterate.runtime.constants.record import AlongTraining, Constants, WorkloadConstants

_ROOM: Final = 1.3
"""Factor between the outermost points and the ends of the axis."""


def draw_along(found: AlongTraining, order: float) -> Figure:
    """The constants of one of the orders measured, against the place of the checkpoint, counted from 1.

    A second panel has the layers, where they were told apart: those with the greatest constants, one for each colour.

    Raises:
        InputError: no pair is trusted.
    """
    k = found.lambdas.index(order)
    upward = rf"largest $|g(x) - g(y)| \, / \, |x - y|^\lambda$, $\lambda$ = {order:g}"

    def curve(name: str, label: str, measured: Iterable[Constants | None], color: str, line: str) -> Curve:
        trusted = [(x, one.constants[k]) for x, one in enumerate(measured, start=1) if one is not None and one.kept]
        return _curve(name, label, trusted, status=CurveKind.MEASURED, color=color, line=line, marker="o")

    stages = found.stages
    whole = curve("around", "around each checkpoint", (s.around for s in stages), COLORS["black"], "-")
    steps = curve("between", "from the one before to it", (s.between for s in stages), COLORS["grey"], "--")
    panels = [_panel([whole, steps], upward=upward, across="checkpoint", title="all parameters")]
    names = list(stages[0].layers)
    greatest = sorted(names, key=lambda name: max(stage.layers[name].constants[k] for stage in stages))[-len(CYCLE) :]
    shown = [name for name in names if name in greatest]
    if shown:
        curves = [
            curve(name, f"layer {name}", (stage.layers[name] for stage in stages), color, "-")
            for name, color in zip(shown, CYCLE, strict=False)
        ]
        title = "by layer, around each checkpoint"
        panels.append(_panel(curves, upward=upward, across="checkpoint", title=title))
    left_out = f" {len(names) - len(shown)} layers with smaller constants are not shown." if shown != names else ""
    return Figure(
        title=f"{found.workload}: constants along its training, lower estimates",
        note=f"{found.points} points in a ball of radius {found.radius:g} ({found.draw}), {found.samples} samples, "
        f"{found.dtype}; the largest over the samples.{left_out} {found.remark}".rstrip(),
        panels=tuple(panels),
    )


def draw_side_by_side(rows: Sequence[WorkloadConstants]) -> Figure:
    """One colour a workload; certified constants are dashed and stand above what is found.

    The horizontal axis is that of the orders, or, where there is but one, that of the workloads.

    Raises:
        InputError: of no workload a pair is trusted.
    """
    curves = []
    (first, *others) = rows[0].orders
    places = () if others else tuple(row.workload for row in rows)
    for place, row in enumerate(rows):
        color = CYCLE[place % len(CYCLE)]
        at = (place + 1,) if places else row.orders
        found, certified = (list(zip(at, values, strict=True)) for values in (row.found, row.certified))
        curves += [
            _curve("found", "found", found, status=CurveKind.MEASURED, color=color, marker="o", of=row.workload),
            _curve("certified", "certified", certified, color=color, line="--", marker="v", of=row.workload),
        ]
    panel = _panel(
        curves,
        across=rf"workload, at $\lambda$ = {first:g}" if places else r"Hölder order $\lambda$",
        upward=r"largest $|g(x) - g(y)| \, / \, |x - y|^\lambda$",
        places=places,
    )
    notes = ["Constants found are lower estimates."]
    if without := [f"{row.workload}, {row.why.rstrip('.')}." for row in rows if row.why]:
        notes = [f"{notes[0]} No finite constant is certified of:", *without]
    for values in dict.fromkeys(row.found for row in rows if not places):
        if len(same := [row.workload for row in rows if row.found == values]) > 1:
            notes.append(f"The constants found of {' and '.join(same)} are the same.")
    return Figure(
        "Hölder constants of per-sample gradients, from both sides", "\n".join(notes), (panel,), members="workload"
    )


def draw_drift(drift: Drift, workload: str) -> Figure:
    """The greatest distance of the pairs at every time, and every tracked distance.

    Raises:
        InputError: no pair is ever apart.
    """
    run, limits, pairs = drift.coupled.run, drift.interval, drift.coupled.distances.shape[1]
    greatest = enumerate(drift.coupled.greatest[1:].tolist(), start=1)
    curves = [_curve("greatest", f"greatest of {pairs} pairs", greatest, status=CurveKind.MEASURED)]
    for one, color in zip(drift.tracked, CYCLE, strict=False):
        label = f"$D_t$ by {one.name}{', assumed' * (one.rests is Rests.ASSUMED)}"
        status = CurveKind.ESTIMATE if one.rests is Rests.MEASURED else CurveKind.BOUND
        distances = enumerate(one.distances[1:].tolist(), start=1)
        curves.append(_curve(one.name, label, distances, status=status, color=color, line="--"))
    note = (
        f"η = {_range(run.step_size)}, K = {run.clip_norm:g}, noise {_range(run.noise_std)}, n = {run.dataset_size}, "
        f"b = {run.batch} ({run.sampling}), D = {run.diameter:g}; sample {drift.coupled.replaced} differs. W_2 of the "
        f"last iterates is {limits.low:.4g} to {limits.w2_high:.4g} with {limits.level:g} confidence. {drift.remark}"
    )
    panel = _panel(curves, across="step $t$", upward="distance $|W_t - W'_t|$")
    return Figure(f"{workload}: distance of coupled runs", note, (panel,))


def _range(values: float | tuple[float, ...]) -> str:
    return f"{min(values):g} to {max(values):g}" if isinstance(values, tuple) else f"{values:g}"


def _curve(name: str, label: str, points: Iterable[tuple[float, float | None]], **look: Any) -> Curve:
    """The points with a positive, finite value."""
    kept = [(float(x), y) for x, y in points if y is not None and y > 0 and isfinite(y)]
    return Curve(name, label, tuple(x for x, _ in kept), tuple(y for _, y in kept), **look)


def _panel(curves: Sequence[Curve], **words: Any) -> Panel:
    kept = tuple(curve for curve in curves if curve.x)
    if not kept:
        raise InputError(
            "A picture needs a pair that rounding does not dominate, got none; measure in float64, with a larger "
            "radius or another sample."
        )
    values = [value for curve in kept for value in curve.y]
    return Panel(kept, top=max(values) * _ROOM, bottom=min(values) / _ROOM, logarithmic=False, **words)
