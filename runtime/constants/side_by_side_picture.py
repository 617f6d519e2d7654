"""Constants of several workloads as a figure: found and certified against the Hölder order."""

from collections.abc import Sequence
from math import isfinite
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.plotting import CYCLE, Curve, Figure, Panel, Status
from lastiterate.runtime.constants.side_by_side import WorkloadConstants

_ROOM: Final = 1.5
"""Factor between the outermost points and the ends of the axis."""


def figure(rows: Sequence[WorkloadConstants]) -> Figure:
    """One colour a workload; certified constants are dashed and stand above what is found.

    The horizontal axis is that of the orders, or, where there is but one, that of the workloads.

    Raises:
        InputError: of no workload a pair is trusted.
    """
    curves = []
    (first, *others) = rows[0].orders
    places = () if others else tuple(row.workload for row in rows)
    for place, (row, color) in enumerate(zip(rows, _colors(len(rows)), strict=True), start=1):
        for name, values, status, line, marker in (
            ("found", row.found, Status.MEASURED, "-", "o"),
            ("certified", row.certified, Status.BOUND, "--", "v"),
        ):
            at = (place,) if places else row.orders
            kept = [(x, y) for x, y in zip(at, values, strict=True) if y is not None and y > 0 and isfinite(y)]
            if kept:
                x, y = zip(*kept, strict=True)
                curves.append(Curve(name, name, x, y, status, color, line, marker=marker, of=row.workload))
    if not curves:
        raise InputError("A picture needs a pair that rounding does not dominate, got none; search in float64.")
    heights = [value for curve in curves for value in curve.y]
    notes = ["What is found are lower estimates."]
    if without := [f"{row.workload}, {row.why.rstrip('.')}." for row in rows if row.why]:
        notes = [f"{notes[0]} No finite constant is certified of:", *without]
    for found in dict.fromkeys(row.found for row in rows if not places):
        if len(alike := [row.workload for row in rows if row.found == found]) > 1:
            notes.append(f"What is found of {' and '.join(alike)} is the same.")
    panel = Panel(
        tuple(curves), top=max(heights) * _ROOM, bottom=min(heights) / _ROOM, logarithmic=False,
        across=rf"workload, at $\lambda$ = {first:g}" if places else r"Hölder order $\lambda$", places=places,
        upward=r"largest $|g(x) - g(y)| \, / \, |x - y|^\lambda$",
    )  # fmt: skip
    return Figure(
        "Hölder constants of per-sample gradients, from both sides",
        "\n".join(notes),
        (panel,),
        members="workload",
    )


def _colors(count: int) -> list[str]:
    return [CYCLE[place % len(CYCLE)] for place in range(count)]
