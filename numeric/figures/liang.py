"""Figures 1 and 5 of Liang et al. 2026: what several works say of one run on a bounded domain, against T.

Setting of D.1: L = 1, C = 2, sigma_DP = 4, D = 1, n = 8, b = 2, alpha = 1.1, eta = 0.2. Batches are drawn without
replacement, and D is read as a diameter. Figure 5 (E.1) has n = 16, and the trivial bound of a bounded domain.
"""

from collections.abc import Callable, Sequence
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.compare import compare
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.plotting.drawing import COLORS, Curve, Figure, Panel, Status, spaced
from lastiterate.numeric.published.liang import naive_bound
from lastiterate.numeric.published.registry import claimed_at, named
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD

ORDER: Final = 1.1
"""The Rényi order of D.1 and of section 4."""


def liang_run(T: int, n: int) -> NoisySGD:
    """The run of D.1 with this many steps; n is 8 in Figure 1 and 16 in Figure 5."""
    return NoisySGD.gradient_noise(
        steps=T, step_size=0.2, gradient_noise_std=4.0, clip_norm=2.0, dataset_size=n, batch_size=2,
        sampling="without_replacement", diameter=1.0,
    )  # fmt: skip


def figure_1(last: int = 300, count: int = 24, below: int = 6) -> Figure:
    """Every theorem of the catalogue that speaks of the run, and ours.

    Args:
        last: greatest number of iterations.
        count: about how many points a curve has.
        below: about how many points the lower bound has.
    """
    steps = spaced(last, count)
    runs = [liang_run(T, 8) for T in steps]
    smooth, convex = Smooth(1.0), Convex(1.0)
    curves = (
        _composed(steps, 8),
        _every_step(steps),
        _printed("liang_3_4", steps, runs, smooth, "blue", ":"),
        _printed("liang_3_4_earlier", steps, runs, smooth, "purple", ":"),
        _printed("chien_li_3_12", steps, runs, smooth, "green", ":"),
        _printed("altschuler_talwar_b2", steps, runs, convex, "orange", ":"),
        _ours("ours, smooth losses", steps, runs, smooth, "blue"),
        _ours("ours, convex losses", steps, runs, convex, "orange"),
        _lower(spaced(last, below), lambda T: liang_run(T, 8), smooth),
    )
    note = (
        "L = 1, C = 2, σ_DP = 4, D = 1 (a diameter), n = 8, b = 2 without replacement, η = 0.2 (Liang et al. 2026, "
        "D.1). Rényi ε; smaller is more private; upper bounds are rounded up.\n"
        "Dotted: theorems as printed, with the constants of their own proofs; the ledger refutes them, whatever side "
        "of ours they are on. Theorem 3.4 is drawn as it is stated, not as the released code has it.\n"
        "Composition with amplification is what Mironov 2017 and Mironov, Talwar & Zhang 2019 give together; without "
        "amplification it is Feldman et al. 2018 as Table 1 has it.\n"
        "Kong & Ribero 2024 is left out: Table 1 has its rate up to a constant only, and that is no number."
    )
    return Figure("Liang et al., Figure 1: one run, several works", note, (Panel(curves, 2.2, ORDER),))


def figure_5(last: int = 1000, count: int = 24, below: int = 6) -> Figure:
    """The trivial bounds, Theorem 3.4 in both versions, and ours. Arguments as `figure_1`."""
    steps, smooth = spaced(last, count), Smooth(1.0)
    runs = [liang_run(T, 16) for T in steps]
    naive = tuple(naive_bound(run, ORDER) for run in runs)
    one_step = claimed_at("last_step", worst_batch(runs[0]) | {"T": 1}, smooth)
    curves = (
        _composed(steps, 16),
        Curve("naive", "trivial bound of E.1", steps, naive, Status.REFUTED, COLORS["black"], ":"),
        Curve("last_step", "one last step, in the worst batch", steps, (one_step,) * len(steps), line="-."),
        _printed("liang_3_4", steps, runs, smooth, "blue", ":"),
        _printed("liang_3_4_earlier", steps, runs, smooth, "purple", ":"),
        _ours("ours, smooth losses", steps, runs, smooth, "blue"),
        _lower(spaced(last, below), lambda T: liang_run(T, 16), smooth),
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


def _printed(
    name: str, steps: Sequence[int], runs: Sequence[NoisySGD], assumption: Assumption, color: str, line: str
) -> Curve:
    """A theorem of the catalogue as it is printed, with the status that its verdict gives it."""
    theorem = named(name)
    status = Status.BOUND if theorem.usable else Status.REFUTED
    values = tuple(theorem.epsilon(run, assumption, ORDER) for run in runs)
    return Curve(name, theorem.title, tuple(steps), values, status, COLORS[color], line)


def _ours(label: str, steps: Sequence[int], runs: Sequence[NoisySGD], assumption: Assumption, color: str) -> Curve:
    """Our upper bound."""
    values = tuple(bound(run, assumption, order=ORDER).epsilon for run in runs)
    name = f"bound {type(assumption).__name__.lower()}"
    return Curve(name, label, tuple(steps), values, Status.BOUND, COLORS[color], width=2.2)


def _lower(steps: Sequence[int], run_of: Callable[[int], NoisySGD], assumption: Assumption) -> Curve:
    """Lower bounds: no bound under the assumption can be below them."""
    values = tuple(lower_bound(run_of(T), assumption, order=ORDER).value for T in steps)
    return Curve("lower", "worst smooth run known", tuple(steps), values, Status.LOWER, COLORS["grey"], "--")


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
