"""Constants of several workloads as a figure: found and certified against the Hölder order."""

from collections.abc import Sequence
from math import isfinite
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.plotting.drawing import CYCLE, Curve, Figure, Panel, Status
from lastiterate.runtime.constants.side_by_side import WorkloadConstants

_ROOM: Final = 1.5
"""Factor between the outermost points and the ends of the axis."""


def figure(rows: Sequence[WorkloadConstants]) -> Figure:
    """One colour a workload; certified constants are dashed and stand above what is found.

    Raises:
        InputError: of no workload a pair is trusted.
    """
    curves = []
    for row, color in zip(rows, _colors(len(rows)), strict=True):
        for name, values, status, line, marker in (
            ("found", row.found, Status.MEASURED, "-", "o"),
            ("certified", row.certified, Status.BOUND, "--", "v"),
        ):
            kept = [(x, y) for x, y in zip(row.orders, values, strict=True) if y is not None and y > 0 and isfinite(y)]
            if kept:
                x, y = zip(*kept, strict=True)
                curves.append(Curve(name, name, x, y, status, color, line, marker=marker, of=row.workload))
    if not curves:
        raise InputError("A picture needs a pair that rounding does not dominate, got none; search in float64.")
    heights = [value for curve in curves for value in curve.y]
    without = [f"{row.workload}: {row.why.rstrip('.')}." for row in rows if row.why]
    panel = Panel(
        tuple(curves), top=max(heights) * _ROOM, bottom=min(heights) / _ROOM, logarithmic=False,
        across=r"Hölder order $\lambda$", upward=r"largest $|g(x) - g(y)| \, / \, |x - y|^\lambda$",
    )  # fmt: skip
    return Figure(
        "Hölder constants of per-sample gradients, from both sides",
        "\n".join(["What is found are lower estimates. No finite constant is certified of:" if without else
                   "What is found are lower estimates.", *without]),
        (panel,),
        members="workload",
    )  # fmt: skip


def _colors(count: int) -> list[str]:
    return [CYCLE[place % len(CYCLE)] for place in range(count)]
