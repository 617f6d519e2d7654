"""Constants along a training as a figure: around the checkpoints and from one to the next, and around them by layer."""

from collections.abc import Sequence
from math import inf
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.plotting import COLORS, CYCLE, Curve, Figure, Panel, Status
from lastiterate.runtime.constants.along_record import AlongTraining
from lastiterate.runtime.constants.fit import Constants

_ROOM: Final = 1.3
"""Factor between the outermost points and the ends of the axis."""
_ACROSS: Final = "checkpoint"


def figure(found: AlongTraining, order: float) -> Figure:
    """The constants of one of the orders measured, against the place of the checkpoint, counted from 1.

    A second panel has the layers, where they were told apart: those with the greatest constants, one for each colour.

    Raises:
        InputError: no pair is trusted.
    """
    k = found.lambdas.index(order)
    between = [stage.between for stage in found.stages]
    whole = _curve("around", "around each checkpoint", [s.around for s in found.stages], k, COLORS["black"], "-")
    steps = _curve("between", "from the one before to it", between, k, COLORS["grey"], "--")
    upward = rf"largest $|g(x) - g(y)| \, / \, |x - y|^\lambda$, $\lambda$ = {order:g}"
    panels = [_panel([whole, steps], upward, "all parameters")]
    names = list(found.stages[0].layers)
    greatest = {name: max(stage.layers[name].constants[k] for stage in found.stages) for name in names}
    shown = [name for name in names if name in sorted(names, key=greatest.__getitem__)[-len(CYCLE) :]]
    if shown:
        curves = [
            _curve(name, f"layer {name}", [stage.layers[name] for stage in found.stages], k, color, "-")
            for name, color in zip(shown, CYCLE, strict=False)
        ]
        panels.append(_panel(curves, upward, "by layer, around each checkpoint"))
    left_out = f" {len(names) - len(shown)} layers with smaller constants are not shown." if shown != names else ""
    return Figure(
        title=f"{found.workload}: constants along its training, lower estimates",
        note=f"{found.points} points in a ball of radius {found.radius:g} ({found.draw}), {found.samples} samples, "
        f"{found.dtype}; the largest over the samples.{left_out} {found.remark}".rstrip(),
        panels=tuple(panels),
    )


def _curve(name: str, label: str, measured: Sequence[Constants | None], k: int, color: str, line: str) -> Curve | None:
    trusted = [(float(x), one.constants[k]) for x, one in enumerate(measured, start=1) if one is not None and one.kept]
    x, y = tuple(x for x, _ in trusted), tuple(y for _, y in trusted)
    return Curve(name, label, x, y, status=Status.MEASURED, color=color, line=line, marker="o") if trusted else None


def _panel(curves: Sequence[Curve | None], upward: str, title: str) -> Panel:
    kept = tuple(curve for curve in curves if curve is not None)
    low, high = min((min(one.y) for one in kept), default=inf), max((max(one.y) for one in kept), default=0.0)
    if not 0 < low <= high:
        raise InputError(
            "A picture needs a pair that rounding does not dominate, got none; measure in float64 or with a larger "
            "radius."
        )
    return Panel(
        kept, top=high * _ROOM, bottom=low / _ROOM, across=_ACROSS, upward=upward, logarithmic=False, title=title
    )
