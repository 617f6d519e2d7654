"""Privacy loss against T for each assumption: the certified upper bound, and below it the certified lower bound.

Setting of Figure 1 of Chien & Li 2025. The lower bound is that of some run which meets the assumption, so that the
truth for the worst run lies between the two curves of a colour.
"""

from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.figures.chien_li_1 import SETTING
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.plotting.drawing import CYCLE, Curve, Figure, Panel, Status, spaced
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.published.registry import claimed_at

KINDS: Final[tuple[tuple[str, Assumption], ...]] = (
    ("clipping alone", Clipped()),
    ("Hölder, L = 1, λ = 1/2", Holder(1.0, 0.5)),
    ("smooth, L = 1", Smooth(1.0)),
    ("convex, L = 1", Convex(1.0)),
    ("strongly convex, m = 1", StronglyConvex(1.0, 1.0)),
)
"""The assumptions drawn, each in words and as `lastiterate.numeric.bound.bound` takes it."""


def figure_assumptions(last: int = 1000, count: int = 60, below: int = 12) -> Figure:
    """Certified bounds up to ``last`` iterations, at about ``count`` points from above and ``below`` from below."""
    order = SETTING["alpha"]
    curves = []
    steps = spaced(last, count)
    composition = tuple(claimed_at("composition", {**SETTING, "T": T}) for T in steps)
    curves.append(Curve("composition", "composition of all steps", steps, composition, line=":"))
    for (words, assumption), color in zip(KINDS, CYCLE, strict=False):
        above = tuple(bound(run_of({**SETTING, "T": T}), assumption).rdp(order) for T in steps)
        curves.append(Curve(f"bound {words}", "cheapest path of shifts", steps, above, color=color, of=words))
    for (words, assumption), color in zip(KINDS, CYCLE, strict=False):
        few = spaced(last, below)
        values = tuple(lower_bound(run_of({**SETTING, "T": T}), assumption, order=order).value for T in few)
        curves.append(Curve(f"lower {words}", "worst run known", few, values, Status.LOWER, color, "--", 1.2, of=words))
    note = (
        f"Full batches, η = 0.1, K = 2, n = 5, D = 1, noise 1 (Chien & Li 2025, A.13). Rényi ε at order {order:g} "
        "of the last iterate; smaller is more private. Upper bounds are rounded up, lower bounds down."
    )
    panel = Panel(tuple(curves), top=10.0, order=order, bottom=0.003)
    return Figure("What each assumption on the losses buys", note, (panel,), members="assumption")
