"""Figure 2 (a) of Chien & Li 2025: privacy loss from Hölder constants measured on Iris."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from chien_li_1 import claim_curve
from curves import paler, spaced
from plotting import COLORS, Curve, CurveKind, Figure, Panel

from lastiterate.numeric.bound import estimate
from lastiterate.numeric.losses.assumptions import Holder, Measured, Tabulated
from lastiterate.numeric.published.theorems import SETTING, run_at
from lastiterate.numeric.store import cache_folder
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.pair_table import Kind

ORDERS: Final[tuple[float, ...]] = (0.25, 0.5, 0.75, 1.0)
"""The Hölder orders drawn."""

_SHADES: Final = ("#882255", "#D55E00", "#B8860B", "#0072B2")


def measured_2a(
    inits: int = 20,
    folder: Path | None = None,
    on_part: Callable[[int, int], None] = lambda _done, _parts: None,
) -> Figure:
    """Figure 2 (a), with a network measured from this many initialisations."""
    from lastiterate.runtime.constants.holder import estimate_holder
    from lastiterate.runtime.training.descent import paper_run
    from lastiterate.runtime.workloads.loading import load_workload

    iris, folder = load_workload("builtin:iris-mlp"), folder or cache_folder("estimate")
    uniform, logarithmic = (
        estimate_holder(iris, paper_run(iris), ORDERS, inits=inits, draw=draw, folder=folder, on_step=on_part)
        for draw in ("uniform", "log-uniform")
    )
    return figure_2a(uniform, logarithmic)


def figure_2a(
    uniform: HolderEstimate, logarithmic: HolderEstimate, last: int = 1000, count: int = 90
) -> Figure:
    """Privacy loss for several Hölder orders with measured constants, and for the measured modulus.

    The constants are per sample, as Theorem 3.7 assumes, from points drawn uniformly in the ball, as in appendix A.13.
    The modulus joins both draws, because a uniform draw knows no short distance; ``logarithmic`` is the same network
    measured with log-uniform radii. Like the paper, the figure carries the constants to the setting of Figure 1, which
    is not the run that was measured.

    Raises:
        InputError: an order that is drawn was not measured.
    """
    steps = spaced(last, count)
    curves = [
        claim_curve("composition", "composition", steps, line=":"),
        claim_curve("last_step", "one last step, clipping alone", steps, color=COLORS["grey"], line="-."),
    ]
    ours = []
    for lam, shade in zip(ORDERS, _SHADES, strict=True):
        constant = uniform.constant(lam)
        look = {"color": paler(shade), "status": CurveKind.ESTIMATE, "width": 4.0}
        words = f"$\\lambda$ = {lam:g}, $L$ = {constant:.3f}"
        printed = claim_curve("chien_li_3_7", f"{words}: Theorem 3.7", steps, Holder(constant, lam), **look)
        curves.append(replace(printed, name=f"chien_li_3_7 lambda={lam:g}"))
        ours.append(
            _estimated(f"ours_holder lambda={lam:g}", f"{words}: ours", steps, uniform.holder(lam), shade)
        )
    modulus = Measured(
        _larger(uniform.envelopes[Kind.SAMPLE], logarithmic.envelopes[Kind.SAMPLE]),
        uniform.modulus().conditional_on,
    )
    ours.append(
        _estimated("ours_tabulated", "measured modulus: ours", steps, modulus, COLORS["green"], line="-")
    )
    note = (
        f"Estimates, not bounds: the constants are the largest over {uniform.pairs} sampled pairs of "
        f"{uniform.workload} (the modulus: {uniform.pairs + logarithmic.pairs}), hence lower estimates.\n"
        f"Every uniformly drawn point lies {uniform.distances[0]:.3f} to {uniform.distances[1]:.3f} from its "
        "center, so all orders have nearly the same constant.\n"
        "Setting of Figure 1: full batches, η = 0.1, K = 2, n = 5, D = 1, noise 1 (Chien & Li 2025, A.13)."
        f"\n{uniform.remark}"
    )
    title = "Figure 2 (a): Hölder gradients with constants measured on Iris (estimates)"
    return Figure(title, note, (Panel((*curves, *ours), order=SETTING["alpha"], top=0.6),))


def _larger(*moduli: Tabulated) -> Tabulated:
    """The largest of several measured moduli at every distance; each is 0 below its first distance."""
    distances = sorted({r for one in moduli for r in one.distances})
    values = [max((v for one in moduli for r, v in zip(one.distances, one.values, strict=True) if r <= at), default=0.0)
              for at in distances]  # fmt: skip
    return Tabulated(distances, values)


def _estimated(
    name: str, label: str, steps: Sequence[int], measured: Measured, color: str, line: str = "--"
) -> Curve:
    values = tuple(estimate(run_at(T), measured, order=SETTING["alpha"]).epsilon for T in steps)
    return Curve(name, label, tuple(steps), values, CurveKind.ESTIMATE, color, line)
