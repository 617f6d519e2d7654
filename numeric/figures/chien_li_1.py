"""Figures 1 (a) and 1 (b) of Chien & Li 2025, drawn from the published theorems: the paper's curves and ours.

Setting of both (appendix A.13): L = m = 1, K = 2, sigma = 1, D = 1, n = 5, eta = 0.1. The paper does not say
its Rényi order; ours is 2, where epsilon is the cost of the shift program itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth, StronglyConvex
from lastiterate.numeric.plotting.drawing import COLORS, Curve, Figure, Panel, Status, paler, spaced
from lastiterate.numeric.published.chourasia import chourasia_strongly_convex
from lastiterate.numeric.published.record import Setting, run_of
from lastiterate.numeric.published.registry import claimed_at

SETTING: Final[Mapping[str, float]] = {
    "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "m": 1.0, "lam": 1.0, "alpha": 2.0,
}  # fmt: skip
"""Appendix A.13, Figure 1, with the order chosen here."""

_LOSSES: Final[Mapping[str, Assumption]] = {
    "smooth": Smooth(SETTING["L"]),
    "convex": Convex(SETTING["L"]),
    "strongly_convex": StronglyConvex(SETTING["L"], SETTING["m"]),
}

_NOTE = (
    "Full batches, η = 0.1, K = 2, n = 5, D = 1, noise 1, L = m = 1 (Chien & Li 2025, A.13). "
    "Every upper bound is rounded up."
)


def figure_1a(last: int = 1000, count: int = 90) -> Figure:
    """Figure 1 (a): non-convex, convex and strongly convex losses.

    Args:
        last: greatest number of iterations.
        count: about how many points a curve has.
    """
    steps = spaced(last, count)
    curves = [
        _curve("composition", "composition", steps, color="black", line=":"),
        _curve("output_perturbation", "output perturbation, as printed", steps, color="grey",
               line=":", status=Status.REFUTED),
        _curve("last_step", "one last step, $e(D)^2$", steps, Smooth(SETTING["L"]), color="black", line="-."),
    ]  # fmt: skip
    for kind, color in (("smooth", "blue"), ("convex", "orange"), ("strongly_convex", "green")):
        words, assumption = kind.replace("_", " "), _LOSSES[kind]
        curves += [
            _curve(
                f"chien_li_3_1_{kind}", f"{words}, Theorem 3.1", steps, assumption, color=color, width=4.0, pale=True
            ),
            _ours(f"shift_{kind}", f"{words}, ours", steps, assumption, color),
        ]
    title = "Figure 1 (a): one bound for smooth, convex and strongly convex losses"
    return Figure(title, _NOTE, (Panel(tuple(curves), order=SETTING["alpha"], top=1.5),))


def figure_1b(last: int = 1000, count: int = 90) -> Figure:
    """Figure 1 (b): strongly convex losses, against the earlier bounds. Arguments as `figure_1a`."""
    steps, strong = spaced(last, count), _LOSSES["strongly_convex"]
    curves = (
        _curve("composition", "composition", steps, color="black", line=":"),
        _computed("chourasia_ye_shokri", "Ye & Shokri 2022 / Chourasia, Ye & Shokri 2021", steps,
                  chourasia_strongly_convex, color="purple", line="-.", status=Status.SECOND_HAND),
        _curve("altschuler_talwar_b3_full", "Altschuler & Talwar 2022, (B.3)", steps, strong, color="orange"),
        _curve("chien_li_3_1_strongly_convex", "Chien & Li 2025, Theorem 3.1", steps, strong, color="green",
               width=4.0, pale=True),
        _ours("shift_strongly_convex", "ours, shifts without noise splitting", steps, strong, "green"),
    )  # fmt: skip
    title = "Figure 1 (b): strongly convex losses, against earlier bounds"
    return Figure(title, _NOTE, (Panel(curves, order=SETTING["alpha"], top=0.3),))


def _curve(
    name: str, label: str, steps: Sequence[int], assumption: Assumption | None = None, *, color: str, line: str = "-",
    width: float = 1.6, pale: bool = False, status: Status = Status.BOUND,
) -> Curve:  # fmt: skip
    def theorem(setting: Setting) -> float:
        return claimed_at(name, setting, assumption)

    shade = paler(COLORS[color]) if pale else COLORS[color]
    return Curve(name, label, tuple(steps), _values(theorem, steps), status, shade, line, width)


def _ours(name: str, label: str, steps: Sequence[int], assumption: Assumption, color: str) -> Curve:
    def evaluate(setting: Setting) -> float:
        return bound(run_of(setting), assumption, order=setting["alpha"]).epsilon

    return _computed(name, label, steps, evaluate, color=color, line="--")


def _computed(
    name: str, label: str, steps: Sequence[int], evaluator: Callable[[Setting], float], *,
    color: str, line: str, status: Status = Status.BOUND,
) -> Curve:  # fmt: skip
    return Curve(name, label, tuple(steps), _values(evaluator, steps), status, COLORS[color], line)


def _values(evaluator: Callable[[Setting], float], steps: Sequence[int]) -> tuple[float, ...]:
    return tuple(evaluator({**SETTING, "T": T}) for T in steps)
