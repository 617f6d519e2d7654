"""Figure 3 of Liang et al. 2026: estimated and theoretical privacy of DPSGD-DC for several diameters of the domain."""

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lastiterate.numeric.figures.liang_1 import ORDER
from lastiterate.numeric.losses.assumptions import Convex, Smooth
from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel
from lastiterate.numeric.plotting.style import CYCLE
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.figures.figure_cache import FigureCache, OnPart
from lastiterate.runtime.figures.liang_attacked import (
    SAMPLES,
    WORKLOAD,
    attack_note,
    attacked,
    bounded,
    claimed,
    cornered,
    doublings,
)

if TYPE_CHECKING:
    from lastiterate.numeric.losses.certified import LossConstants

__all__ = ["BATCHES", "DIAMETERS", "constants_3", "figure_3", "run_3"]

BATCHES: Final = (14, 70)
DIAMETERS: Final = (0.1, 0.4, 1.6)
_NOISE: Final = 0.8


def constants_3() -> "LossConstants":
    """Smoothness and Lipschitz constant of the losses, in closed form."""
    from lastiterate.runtime.workloads.loading import load_workload

    return load_workload(WORKLOAD).certified(0, max(DIAMETERS))


def run_3(batch: int, diameter: float, epochs: int, clip_norm: float) -> NoisySGD:
    """DPSGD-DC with a clip norm that never acts, so that the losses stay convex."""
    return NoisySGD.gradient_noise(
        steps=ceil(SAMPLES / batch) * epochs, step_size=0.1, gradient_noise_std=_NOISE, clip_norm=clip_norm,
        dataset_size=SAMPLES, batch_size=batch, sampling="without_replacement", diameter=diameter,
    )  # fmt: skip


def figure_3(
    last: int = 256,
    attacked_until: int = 16,
    runs: int = 200,
    folder: Path | None = None,
    on_part: OnPart | None = None,
) -> Figure:
    """Attacks and certified bounds for two batch sizes, and Theorem 3.4 beside certified bounds for the smaller one.

    Args:
        last: greatest number of epochs.
        attacked_until: runs are attacked after 1, 4, 16, ... epochs up to here.
        runs: runs of an attack on each of the two data sets, half of which are counted.
        folder: where finished attacks are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    known = constants_3()
    smooth, convex = Smooth(known.smoothness), Convex(known.smoothness)
    every, few = doublings(last), doublings(attacked_until, every=2)
    seen: list[list[Curve]] = [[] for _ in BATCHES]
    said: list[Curve] = []
    keep = FigureCache("liang/3", len(BATCHES) * len(DIAMETERS) * len(few), folder, on_part)
    for diameter, color in zip(DIAMETERS, CYCLE, strict=False):
        of = f"D = {diameter:g}"

        def named(curve: Curve, name: str, color: str = color, of: str = of) -> Curve:
            return replace(curve, name=f"{curve.name} {name} {of}", color=color, of=of)

        for batch, curves in zip(BATCHES, seen, strict=True):

            def run_of(epochs: int, batch: int = batch, diameter: float = diameter) -> NoisySGD:
                return run_3(batch, diameter, epochs, known.lipschitz)

            found = (
                bounded("bound convex", "ours, convex losses", every, run_of, convex),
                cornered(every, run_of, convex),
                attacked(keep, "canary", few, run_of, runs),
            )
            curves += [named(curve, f"b={batch}") for curve in found]
            if batch == BATCHES[0]:
                found = (
                    claimed("liang_3_4", every, run_of, smooth),
                    bounded("bound smooth", "ours, smooth losses", every, run_of, smooth, order=ORDER, line="-."),
                    bounded("bound convex", "ours, convex losses", every, run_of, convex, order=ORDER),
                )
                said += [named(curve, f"b={batch} order") for curve in found]
    top = 1.05 * max(max(curve.y) for curves in seen for curve in curves)
    epsilon = r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)"
    panels = [
        Panel(tuple(curves), top, across="epochs $E$", upward=epsilon, title=f"b = {batch}")
        for batch, curves in zip(BATCHES, seen, strict=True)
    ]
    ends = [max(curve.y) for curve in said], [min(curve.y) for curve in said]
    panels.append(
        Panel(
            tuple(said), 1.5 * max(ends[0]), ORDER, "epochs $E$", bottom=min(ends[1]) / 1.5, title=f"b = {BATCHES[0]}"
        )
    )
    note = (
        f"{WORKLOAD}, {SAMPLES} samples, without replacement, η = 0.1, σ_DP = {_NOISE:g}, C = {known.lipschitz:.4g}, "
        f"the Lipschitz constant; L = {known.smoothness:.4g}; both in closed form. D is a diameter. The paper has "
        "CIFAR-10, D = 20, 60, 100, and so little noise (D.4) that nothing is hidden.\n"
        f"{attack_note(runs)}\n"
        "A bound converges once D is small beside the noise of the whole run. Theorem 3.4 is drawn as it is stated, "
        "with the constants of its own proof, not normalised, and not as the released code has it."
    )
    title = "Liang et al., Figure 3: estimated and certified privacy of DPSGD-DC"
    return Figure(title, note, tuple(panels), "diameter of the domain")
