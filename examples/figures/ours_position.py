"""Privacy by position: epsilon of the samples of each batch of an epoch, the worst and the median among them.

A single pass and five epochs of convex losses on a bounded domain; by contraction and by shifts alone.
"""

from plotting import COLORS, Curve, CurveKind, Figure, Panel

from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.participation import by_position
from lastiterate.numeric.run import NoisySGD

_DELTA = 1e-5


def figure_position(batches: int = 50, epochs: int = 5) -> Figure:
    """The epsilons of a pass over so many batches, and of several epochs."""
    panels = tuple(_panel(batches, count) for count in (1, epochs))
    note = (
        f"Cyclic batches, {batches} an epoch, 2ηK/b = 0.5, D = 1.5, noise 1, convex losses; δ = {_DELTA:g}. Upper "
        "bounds for a sample of each batch; smaller is more private. The order is fixed before training."
    )
    return Figure("Who is protected how well", note, panels)


def _panel(batches: int, epochs: int) -> Panel:
    run = NoisySGD(batches * epochs, 0.25, 1.0, 1.0, batches, 1, sampling="cyclic", diameter=1.5)
    found, places = (
        by_position(run, Convex(1.0), delta=_DELTA),
        tuple(float(place) for place in range(1, batches + 1)),
    )
    ends = (places[0], places[-1])
    curves = (
        Curve("shifts", "shifts alone", places, found.shifts, CurveKind.BOUND, COLORS["grey"], ":"),
        Curve("position", "contraction and shifts", places, found.epsilons, CurveKind.BOUND, COLORS["blue"]),
        Curve("worst", "worst sample", ends, (found.worst,) * 2, CurveKind.BOUND, COLORS["orange"], "--"),
        Curve("median", "median sample", ends, (found.median,) * 2, CurveKind.BOUND, COLORS["green"], "-."),
    )
    return Panel(
        curves,
        top=1.1 * max(found.shifts),
        across="batch of the epoch",
        upward="privacy loss $\\varepsilon$",
        logarithmic=False,
        title="a single pass" if epochs == 1 else f"{epochs} epochs",
    )
