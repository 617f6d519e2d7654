"""Measured and tracked distances over time in one picture."""

from itertools import cycle
from typing import Final

from lastiterate.numeric.plotting.drawing import COLORS, Curve, Figure, Panel, Status
from lastiterate.runtime.coupled.drift import Drift, Rests

_STATUS: Final = {Rests.CERTIFIED: Status.BOUND, Rests.ASSUMED: Status.BOUND, Rests.MEASURED: Status.ESTIMATE}
_ROOM: Final = 1.3


def picture(drift: Drift, workload: str) -> Figure:
    """The greatest distance of the pairs at every time, and every tracked distance."""
    run, measured = drift.coupled.run, drift.coupled.greatest[1:]
    steps = tuple(range(1, run.steps + 1))
    pairs = drift.coupled.distances.shape[1]
    curves = [Curve("greatest", f"greatest of {pairs} pairs", steps, tuple(measured.tolist()), Status.MEASURED)]
    values = [measured, *(one.distances[1:] for one in drift.tracked)]
    above = [float(some) for path in values for some in path if some > 0] or [1.0]
    colors = cycle(COLORS[name] for name in ("blue", "orange", "green", "purple"))
    for one, color in zip(drift.tracked, colors, strict=False):
        label = f"$D_t$ by {one.name}"
        curves.append(Curve(one.name, label, steps, tuple(one.distances[1:].tolist()), _STATUS[one.rests], color, "--"))
    lasts = drift.interval
    note = (
        f"η = {_said(run.step_size)}, K = {run.clip_norm:g}, noise {_said(run.noise_std)}, n = {run.dataset_size}, "
        f"b = {run.batch} ({run.sampling}), D = {run.diameter:g}; sample {drift.coupled.replaced} differs. W_2 of the "
        f"last iterates is {lasts.low:.4g} to {lasts.w2_high:.4g} with {lasts.level:g} confidence. {drift.remark}"
    )
    panel = Panel(
        tuple(curves),
        top=_ROOM * max(above),
        across="step $t$",
        upward="distance $|W_t - W'_t|$",
        logarithmic=False,
        bottom=min(above) / _ROOM,
    )
    return Figure(f"{workload}: how far coupled runs drift apart", note, (panel,))


def _said(values: float | tuple[float, ...]) -> str:
    return f"{min(values):g} to {max(values):g}" if isinstance(values, tuple) else f"{values:g}"
