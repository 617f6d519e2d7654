"""Privacy loss against T for each assumption: the certified upper bound, and below it the certified lower bound.

Setting of Figure 1 of Chien & Li 2025. The lower bound is that of some run which meets the assumption, so that the
truth for the worst run lies between the two curves of a colour.
"""

from typing import Final

from chien_li_1 import claim_curve
from curves import bounded, lowest, spaced
from plotting import CYCLE, Figure, Panel

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.theorems import SETTING, run_at

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
    order, steps, few = SETTING["alpha"], spaced(last, count), spaced(last, below)
    curves = [claim_curve("composition", "composition of all steps", steps, line=":")]
    for (words, losses), color in zip(KINDS, CYCLE, strict=False):
        look = {"color": color, "of": words}
        label = "least bound known"
        curves.append(bounded(f"bound {words}", label, steps, run_at, losses, {"order": order}, **look))
    for (words, losses), color in zip(KINDS, CYCLE, strict=False):
        thin = {"color": color, "of": words, "width": 1.2}
        curves.append(
            lowest(f"lower {words}", "worst run known", few, run_at, losses, {"order": order}, **thin)
        )
    note = (
        f"Full batches, η = 0.1, K = 2, n = 5, D = 1, noise 1 (Chien & Li 2025, A.13). Rényi ε at order {order:g} "
        "of the last iterate; smaller is more private. Upper bounds are rounded up, lower bounds down."
    )
    panel = Panel(tuple(curves), top=10.0, order=order, bottom=0.003)
    return Figure("What each assumption on the losses buys", note, (panel,))
