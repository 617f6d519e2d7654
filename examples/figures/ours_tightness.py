"""Bounds from both sides: epsilon of long runs against the width of the domain, for a few sizes of a step.

The truth for the worst run lies between the two lines of a colour; where they meet nothing is left to gain.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from curves import bounded, lowest
from plotting import CYCLE, Figure, Panel

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD

_DELTA = 1e-5
_SHIFTS: Final = (0.1, 0.3, 1.0)
"""s / sigma: how far the sample moves an iterate."""
_PANELS: Final[tuple[tuple[str, str, Assumption, int], ...]] = (
    ("full batches, convex", "full", Convex(0.25), 1),
    ("full batches, strongly convex, ηm = 0.1", "full", StronglyConvex(0.25, 0.1), 1),
    ("full batches, smooth, ηL = 0.1", "full", Smooth(0.1), 1),
    ("full batches, clipping alone", "full", Clipped(), 1),
    ("10 cyclic batches, convex", "cyclic", Convex(0.25), 10),
    ("10 shuffled batches, convex", "shuffled", Convex(0.25), 10),
    ("Poisson, one of 10, convex", "poisson", Convex(0.25), 10),
    ("one of 10 without replacement, convex", "without_replacement", Convex(0.25), 10),
)


def figure_tightness(count: int = 7, schemes: Sequence[str] = (), steps: int = 600) -> Figure:
    """Certified bounds from above and below at so many widths.

    Args:
        count: widths of the domain, from a quarter of the noise to eight times as much.
        schemes: those that are drawn; all if left out.
        steps: number of steps, after which hardly any of these numbers rises.
    """
    wanted = [panel for panel in _PANELS if not schemes or panel[1] in schemes]
    panels = tuple(_panel(*panel, np.geomspace(0.25, 8.0, count).tolist(), steps) for panel in wanted)
    note = (
        f"T = {steps}, noise σ = 1, η = 1; s is how far the sample moves an iterate. Epsilon at δ = {_DELTA:g}: upper "
        "bounds are rounded up, lower bounds are of runs that meet the assumption, rounded down."
    )
    return Figure("What is known from both sides", note, panels)


def _run(scheme: str, batches: int, shift: float, steps: int, width: float) -> NoisySGD:
    batch = 2 if batches == 1 else 1
    moved = 1 if scheme == "poisson" else 2
    return NoisySGD(steps, 1.0, 1.0, shift * batch / moved, batch * batches, batch, scheme, diameter=width)


def _panel(
    title: str, scheme: str, assumption: Assumption, batches: int, widths: list[float], steps: int
) -> Panel:
    curves, target = [], {"delta": _DELTA}
    for draw, label in ((bounded, "upper"), (lowest, "lower")):
        for shift, color in zip(_SHIFTS, CYCLE, strict=False):
            of_width, of = partial(_run, scheme, batches, shift, steps), f"s = {shift:g} σ"
            curves.append(
                draw(
                    f"{label} {of}", f"{label} bound", widths, of_width, assumption, target, color=color, of=of
                )
            )
    most = max(max(curve.y) for curve in curves)
    return Panel(
        tuple(curves), top=1.5 * most, bottom=max(most / 3e3, 1e-4), across="diameter over noise, $D / \\sigma$",
        upward="privacy loss $\\varepsilon$",
        title=title,
    )  # fmt: skip
