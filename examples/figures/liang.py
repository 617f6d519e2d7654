"""Figures 1 and 5 of Liang et al. 2026: what several works say of one run on a bounded domain, against T.

Setting of D.1: L = 1, C = 2, sigma_DP = 4, D = 1, n = 8, b = 2, alpha = 1.1, eta = 0.2. Batches are drawn without
replacement, and D is read as a diameter. Figure 5 (E.1) has n = 16, and the trivial bound of a bounded domain.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from curves import RunOf, bounded, claimed_at, lowest, printed, spaced
from plotting import COLORS, Curve, CurveKind, Figure, Panel

from lastiterate.numeric.compare import compare
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth
from lastiterate.numeric.published.record import statement_value
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.notation import D, K, alpha, b, eta, sigma

ORDER: Final = 1.1
"""The Rényi order of D.1 and of section 4."""


def liang_run(T: int, n: int) -> NoisySGD:
    """The run of D.1 with this many steps; n is 8 in Figure 1 and 16 in Figure 5."""
    return NoisySGD.gradient_noise(
        steps=T, step_size=0.2, gradient_noise_std=4.0, clip_norm=2.0, dataset_size=n, batch_size=2,
        sampling="without_replacement", diameter=1.0,
    )  # fmt: skip


def figure_1(last: int = 300, count: int = 24, below: int = 6) -> Figure:
    """Every theorem of the catalogue that speaks of the run, and ours, up to ``last`` iterations.

    A curve has about ``count`` points, the lower bound about ``below``.
    """
    steps = spaced(last, count)
    run_of = partial(liang_run, n=8)
    smooth, convex = Smooth(1.0), Convex(1.0)
    curves = (
        _composed(steps, 8),
        _every_step(steps),
        printed("liang_3_4", steps, run_of, smooth, ORDER, color=COLORS["blue"]),
        printed("liang_3_4_earlier", steps, run_of, smooth, ORDER, color=COLORS["purple"]),
        printed("chien_li_3_12", steps, run_of, smooth, ORDER, color=COLORS["green"]),
        printed("altschuler_talwar_b2", steps, run_of, convex, ORDER, color=COLORS["orange"]),
        _ours("smooth", steps, run_of, smooth, "blue"),
        _ours("convex", steps, run_of, convex, "orange"),
        _lower(spaced(last, below), run_of, smooth),
    )
    note = (
        "L = 1, C = 2, σ_DP = 4, D = 1 (a diameter), n = 8, b = 2 without replacement, η = 0.2 (Liang et al. 2026, "
        "D.1). Rényi ε; smaller is more private; upper bounds are rounded up.\n"
        "Dotted: theorems as printed, with the constants of their own proofs; the ledger refutes them, whatever side "
        "of ours they are on. Theorem 3.4 is drawn as stated, not as the released code has it.\n"
        "Composition with amplification is what Mironov 2017 and Mironov, Talwar & Zhang 2019 give together; without "
        "amplification it is Feldman et al. 2018 as Table 1 has it.\n"
        "Kong & Ribero 2024 is left out: Table 1 has its rate up to a constant only, which is not a number."
    )
    return Figure("Liang et al., Figure 1: one run, several works", note, (Panel(curves, 2.2, ORDER),))


def figure_5(last: int = 1000, count: int = 24, below: int = 6) -> Figure:
    """The trivial bounds, Theorem 3.4 in both versions, and ours. Arguments as `figure_1`."""
    steps, smooth = spaced(last, count), Smooth(1.0)
    run_of = partial(liang_run, n=16)
    naive = naive_bound(run_of(1), ORDER)  # whatever T is
    one_step = claimed_at("last_step", worst_batch(run_of(1)) | {"T": 1}, smooth)
    curves = (
        _composed(steps, 16),
        Curve(
            "naive",
            "trivial bound of E.1",
            steps,
            (naive,) * len(steps),
            CurveKind.REFUTED,
            COLORS["black"],
            ":",
        ),
        Curve("last_step", "one last step, in the worst batch", steps, (one_step,) * len(steps), line="-."),
        printed("liang_3_4", steps, run_of, smooth, ORDER, color=COLORS["blue"]),
        printed("liang_3_4_earlier", steps, run_of, smooth, ORDER, color=COLORS["purple"]),
        _ours("smooth", steps, run_of, smooth, "blue"),
        _lower(spaced(last, below), run_of, smooth),
    )
    restored = naive / run_of(1).step_size_at(0) ** 2
    note = (
        "L = 1, C = 2, σ_DP = 4, D = 1 (a diameter), n = 16, b = 2 without replacement, η = 0.2 (Liang et al. 2026, "
        "E.1). Rényi ε; smaller is more private; upper bounds are rounded up.\n"
        "Dotted: as printed, refuted by the ledger. E.1 divides a squared length by the variance of noise on "
        f"gradients; with η² below it, as it must be meant, its bound is {restored:.3g}, above this picture.\n"
        "What is trivially true is one last step: the iterates are at most D apart before it, and its noise hides what "
        "the step makes of that. Theorem 3.4 is drawn as stated, not as the released code has it."
    )
    return Figure(
        "Liang et al., Figure 5: the trivial bound of a bounded domain", note, (Panel(curves, 2.2, ORDER),)
    )


def _ours(kind: str, steps: Sequence[int], run_of: RunOf, assumption: Assumption, color: str) -> Curve:
    label, look = f"ours, {kind} losses", {"color": COLORS[color], "width": 2.2}
    return bounded(f"bound {kind}", label, steps, run_of, assumption, {"order": ORDER}, **look)


def _lower(steps: Sequence[int], run_of: RunOf, assumption: Assumption) -> Curve:
    label = "worst smooth run known"
    return lowest("lower", label, steps, run_of, assumption, {"order": ORDER}, color=COLORS["grey"])


def _composed(steps: Sequence[int], n: int) -> Curve:
    """Composition of all steps with amplification by sampling: proportional to T."""
    rows = compare(liang_run(1, n), Smooth(1.0), order=ORDER)
    once = exact(next(row.epsilon for row in rows if row.name == "composition"))
    with precision():
        values = tuple(upper(T * once) for T in steps)
    return Curve("composition", "composition with amplification", tuple(steps), values, line="--")


def worst_batch(run: NoisySGD) -> dict[str, float]:
    """The setting of a full-batch run whose only batch is one that holds the sample that differs."""
    return {
        "n": run.batch, "eta": run.step_size_at(0), "sigma": run.noise_std_at(0), "K": run.clip_norm,
        "D": run.diameter, "alpha": ORDER,
    }  # fmt: skip


def _every_step(steps: Sequence[int]) -> Curve:
    """Composition as if every batch held the sample."""
    setting = worst_batch(liang_run(1, 8))
    values = tuple(claimed_at("composition", setting | {"T": T}) for T in steps)
    return Curve("composition without amplification", "composition", tuple(steps), values, line="-.")


def naive_bound(run: NoisySGD, order: float) -> float:
    """E.1 of Liang et al., later version: 2 alpha (D + eta K / b)^2 / sigma_DP^2, by post-processing; refuted.

    A squared length over the variance of noise on gradients: eta^2 is missing below it (``liang/appendix_e_1``).
    D is read as for Theorem 3.4, with which E.1 compares it.
    """
    return statement_value(2 * alpha * (D + eta * K / b) ** 2 / (sigma / eta) ** 2, run, order)
