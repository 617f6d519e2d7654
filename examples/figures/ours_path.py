"""The cheapest path of the shift program: how a distance is hidden shift by shift, and what that costs.

Setting of Figure 1 of Chien & Li 2025, and the end of a run of 100 steps. Left: the distance that two coupled runs
may be apart for free, min(D, D_t), and from the start of the window on the distance that is still to be hidden,
which updates stretch and shifts shrink to 0. Right: the shifts; their squares over the noise add up to mu^2.
"""

from typing import Final

import numpy as np
from plotting import COLORS, Curve, CurveKind, Figure, Panel

from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth, StronglyConvex
from lastiterate.numeric.published.theorems import SETTING, run_at
from lastiterate.numeric.rounding import printed_up, upper
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram

_KINDS: Final[tuple[tuple[str, Assumption, str], ...]] = (
    ("smooth", Smooth(1.0), "blue"),
    ("convex", Convex(1.0), "orange"),
    ("strongly convex", StronglyConvex(1.0, 1.0), "green"),
)


def figure_path(steps: int = 100, shown: int = 30) -> Figure:
    """The paths of three assumptions over T steps, of which the last ones are shown."""
    drawn = [_paths(words, assumption, COLORS[color], steps, shown) for words, assumption, color in _KINDS]
    distances = Panel(
        tuple(curve for tracked, hidden, _shifts, _epsilon in drawn for curve in (tracked, hidden)),
        top=1.2,
        across="iteration $t$",
        upward="distance of the two runs (length)",
        logarithmic=False,
        title="the distance: free until the window starts, then hidden",
    )
    shifts = Panel(
        tuple(shift for _tracked, _hidden, shift, _epsilon in drawn),
        top=1.1 * max(max(shift.y) for _tracked, _hidden, shift, _epsilon in drawn),
        across="iteration $t$",
        upward="shift $a_t$ (length)",
        logarithmic=False,
        title="the shifts: $\\varepsilon$ is $\\alpha/2$ times the sum of $a_t^2 / \\sigma^2$",
    )
    costs = ", ".join(
        f"{words} {printed_up(found[3])}"
        for (words, _assumption, _color), found in zip(_KINDS, drawn, strict=True)
    )
    note = (
        f"Full batches, η = 0.1, K = 2, n = 5, D = 1, noise 1, L = m = 1, T = {steps} (Chien & Li 2025, A.13). "
        f"Rényi ε at order {SETTING['alpha']:g}, smaller is better, upper bounds: {costs}.\n"
        "Every path that ends at distance 0 proves the bound that its shifts cost; these are the cheapest."
    )
    return Figure("The cheapest paths of the shift program", note, (distances, shifts))


def _paths(
    words: str, assumption: Assumption, color: str, steps: int, shown: int
) -> tuple[Curve, Curve, Curve, float]:
    """The tracked distance, the distance left to hide, the shifts, and their cost as Rényi epsilon."""
    program = ShiftProgram(run_at(steps), assumption)
    found = optimum(program)
    start, left = found.path.start, [min(found.path.distance, program.diameter)]
    for t, shift in enumerate(found.path.shifts, start=start):
        left.append(max(float(program.expansion(t).value(np.array(left[-1:]))[0]) - float(shift), 0.0))
    first = max(steps - shown, 0)
    free = tuple(range(first, max(start, first) + 1))
    window = tuple(range(max(start, first), steps + 1))
    hidden, shifts = left[-len(window) :], found.path.shifts.tolist()[1 - len(window) :]
    epsilon = DominatingPair(upper(found.cost)).rdp(SETTING["alpha"])
    name = words.replace(" ", "_")
    tracked = tuple(float(program.tracked[t]) for t in free)
    return (
        Curve(f"free {name}", "free of cost, min(D, $D_t$)", free, tracked, CurveKind.BOUND, color, ":", of=words),
        Curve(f"hidden {name}", "still to be hidden, $z_t$", window, tuple(hidden), CurveKind.PATH, color, of=words,
              marker="o"),
        Curve(f"shift {name}", "shift $a_t$", window[1:], tuple(shifts), CurveKind.PATH, color, "--", of=words,
              marker="s"),
        epsilon,
    )  # fmt: skip
