"""Figure 5 of Liang et al. 2026 (E.1): the trivial bound of a bounded domain against theirs, and ours.

Setting of E.1: as Figure 1, with n = 16.
"""

from typing import Final

from lastiterate.numeric.figures.liang_1 import ORDER, composed, liang_run, lower, ours, printed, worst_batch
from lastiterate.numeric.losses.assumptions import Smooth
from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status
from lastiterate.numeric.plotting.style import COLORS, spaced
from lastiterate.numeric.published.liang import naive_bound
from lastiterate.numeric.published.registry import claimed_at

__all__ = ["figure_5"]

_N: Final = 16


def figure_5(last: int = 1000, count: int = 24, below: int = 6) -> Figure:
    """The trivial bounds, Theorem 3.4 in both versions, and ours.

    Args:
        last: greatest number of iterations.
        count: about how many points a curve has.
        below: about how many points the lower bound has.
    """
    steps, smooth = spaced(last, count), Smooth(1.0)
    runs = [liang_run(T, _N) for T in steps]
    naive = tuple(naive_bound(run, ORDER) for run in runs)
    one_step = claimed_at("last_step", worst_batch(runs[0]) | {"T": 1}, smooth)
    curves = (
        composed(steps, _N),
        Curve("naive", "trivial bound of E.1", steps, naive, Status.REFUTED, COLORS["black"], ":"),
        Curve("last_step", "one last step, in the worst batch", steps, (one_step,) * len(steps), line="-."),
        printed("liang_3_4", steps, runs, smooth, "blue", ":"),
        printed("liang_3_4_earlier", steps, runs, smooth, "purple", ":"),
        ours("ours, smooth losses", steps, runs, smooth, "blue"),
        lower(spaced(last, below), lambda T: liang_run(T, _N), smooth),
    )
    restored = naive[0] / runs[0].step_size_at(0) ** 2
    note = (
        "L = 1, C = 2, σ_DP = 4, D = 1 (a diameter), n = 16, b = 2 without replacement, η = 0.2 (Liang et al. 2026, "
        "E.1). Rényi ε; smaller is more private; upper bounds are rounded up.\n"
        "Dotted: as printed, refuted by the ledger. E.1 divides a squared length by the variance of noise on "
        f"gradients; with η² below it, as it must be meant, its bound is {restored:.3g}, above this picture.\n"
        "What is trivially true is one last step: the iterates are at most D apart before it, and its noise hides what "
        "the step makes of that. Theorem 3.4 is drawn as it is stated, not as the released code has it."
    )
    return Figure("Liang et al., Figure 5: the trivial bound of a bounded domain", note, (Panel(curves, 2.2, ORDER),))
