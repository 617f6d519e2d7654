"""Figures 1 (a) and 1 (b) of Chien & Li 2025, drawn from the published theorems: the paper's curves and ours.

Both use the setting of `lastiterate.numeric.published.theorems`.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final

from curves import bounded, claimed_at, paler, spaced
from plotting import COLORS, Curve, CurveKind, Figure, Panel
from sympy import exp

from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth, StronglyConvex
from lastiterate.numeric.published.record import Setting, run_of, statement_value
from lastiterate.numeric.published.theorems import SETTING, run_at
from lastiterate.symbolic.notation import K, T, alpha, eta, m, n, sigma

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
    """Figure 1 (a): non-convex, convex and strongly convex losses; about ``count`` points up to ``last`` iterations."""
    steps = spaced(last, count)
    curves = [
        claim_curve("composition", "composition", steps, line=":"),
        claim_curve("output_perturbation", "output perturbation, as printed", steps, color=COLORS["grey"],
                 line=":", status=CurveKind.REFUTED),
        claim_curve("last_step", "one last step, $e(D)^2$", steps, Smooth(SETTING["L"]), line="-."),
    ]  # fmt: skip
    for kind, color in (("smooth", "blue"), ("convex", "orange"), ("strongly_convex", "green")):
        words, shade = kind.replace("_", " "), paler(COLORS[color])
        theorem = f"{words}, Theorem 3.1"
        curves.append(
            claim_curve(f"chien_li_3_1_{kind}", theorem, steps, _LOSSES[kind], color=shade, width=4.0)
        )
        curves.append(_ours(f"ours_{kind}", f"{words}, ours", steps, _LOSSES[kind], color))
    title = "Figure 1 (a): one bound for smooth, convex and strongly convex losses"
    return Figure(title, _NOTE, (Panel(tuple(curves), order=SETTING["alpha"], top=1.5),))


def figure_1b(last: int = 1000, count: int = 90) -> Figure:
    """Figure 1 (b): strongly convex losses, against the earlier bounds. Arguments as `figure_1a`."""
    steps, strong = spaced(last, count), _LOSSES["strongly_convex"]
    cited = tuple(chourasia_strongly_convex({**SETTING, "T": T}) for T in steps)
    curves = (
        claim_curve("composition", "composition", steps, line=":"),
        Curve("chourasia_ye_shokri", "Ye & Shokri 2022 / Chourasia, Ye & Shokri 2021", steps, cited,
              CurveKind.SECOND_HAND, COLORS["purple"], "-."),
        claim_curve("altschuler_talwar_b3_full", "Altschuler & Talwar 2022, (B.3)", steps, strong,
                    color=COLORS["orange"]),
        claim_curve("chien_li_3_1_strongly_convex", "Chien & Li 2025, Theorem 3.1", steps, strong,
                 color=paler(COLORS["green"]), width=4.0),
        _ours("ours_strongly_convex", "ours", steps, strong, "green"),
    )  # fmt: skip
    title = "Figure 1 (b): strongly convex losses, against earlier bounds"
    return Figure(title, _NOTE, (Panel(curves, order=SETTING["alpha"], top=0.3),))


def claim_curve(
    name: str, label: str, steps: tuple[int, ...], assumption: Assumption | None = None, **look: Any
) -> Curve:
    """The claim of a theorem for the run of the setting; under clipping alone where no assumption is given."""
    values = tuple(claimed_at(name, {**SETTING, "T": T}, assumption) for T in steps)
    return Curve(name, label, steps, values, **look)


def _ours(name: str, label: str, steps: Sequence[int], assumption: Assumption, color: str) -> Curve:
    return bounded(
        name, label, steps, run_at, assumption, {"order": SETTING["alpha"]}, color=COLORS[color], line="--"
    )


def chourasia_strongly_convex(setting: Setting) -> float:
    """Epsilon = alpha S^2 / (m v n^2) (1 - exp(-m eta T / 2)), for strongly convex losses and full batches.

    Chourasia, Ye & Shokri 2021, Corollary 1, as quoted elsewhere. S = 2 K is the sensitivity of the summed
    gradient and v the noise variance, 2 eta v = sigma^2 with sigma the noise in the *iterate*. It asks for eta < 1/L
    and for a start drawn from N(0, 2 v / m) projected onto the domain, not for the fixed start of update (1). Ye &
    Shokri 2022 extend it to mini-batches. The formula is rounded up; it is not checked here.

    >>> run = {"T": 10**6, "n": 5, "eta": 0.1, "sigma": 1, "K": 2, "m": 1, "alpha": 2}
    >>> round(chourasia_strongly_convex(run), 6)
    0.256
    """
    run = run_of({"D": inf, **setting})
    stated = alpha * (2 * K / n) ** 2 / (m * sigma**2 / (2 * eta)) * (1 - exp(-m * eta * T / 2))
    return statement_value(stated, run, setting["alpha"], m=setting["m"])
