"""Figure 2 of Liang et al. 2026: estimated and theoretical privacy of DPSGD-GC for several batch sizes."""

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Final

from lastiterate.numeric.figures.liang_1 import ORDER
from lastiterate.numeric.losses.assumptions import Smooth
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

__all__ = ["BATCHES", "figure_2", "run_2"]

BATCHES: Final = (10, 20, 70)
_NOISE: Final = 0.2


def run_2(batch: int, epochs: int) -> NoisySGD:
    """DPSGD-GC: no domain, batches without replacement, as many steps as the paper counts in these epochs."""
    return NoisySGD.gradient_noise(
        steps=ceil(SAMPLES / batch) * epochs, step_size=0.1, gradient_noise_std=_NOISE, clip_norm=1.0,
        dataset_size=SAMPLES, batch_size=batch, sampling="without_replacement",
    )  # fmt: skip


def figure_2(last: int = 64, runs: int = 200, folder: Path | None = None, on_part: OnPart | None = None) -> Figure:
    """Attacks and certified bounds on the left, Theorem 3.3 and certified bounds on the right.

    Args:
        last: greatest number of epochs; runs are attacked after 1, 4, 16, ... of them.
        runs: runs of an attack on each of the two data sets, half of which are counted.
        folder: where finished attacks are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    from lastiterate.runtime.workloads.loading import load_workload

    smooth = Smooth(load_workload(WORKLOAD).certified(0, float("inf")).smoothness)
    every, few = doublings(last), doublings(last, every=2)
    seen: list[Curve] = []
    said: list[Curve] = []
    keep = FigureCache("liang/2", 2 * len(BATCHES) * len(few), folder, on_part)
    for batch, color in zip(BATCHES, CYCLE, strict=False):

        def run_of(epochs: int, batch: int = batch) -> NoisySGD:
            return run_2(batch, epochs)

        of = f"b = {batch}"
        left = (
            bounded("bound", "ours", every, run_of, smooth),
            cornered(every, run_of, smooth),
            attacked(keep, "canary", few, run_of, runs),
            attacked(keep, "shadow", few, run_of, runs),
        )
        right = (
            claimed("liang_3_3", every, run_of, smooth),
            bounded("bound", "ours", every, run_of, smooth, order=ORDER),
            cornered(every, run_of, smooth, order=ORDER),
        )
        seen += [replace(curve, name=f"{curve.name} b={batch}", color=color, of=of) for curve in left]
        said += [replace(curve, name=f"{curve.name} b={batch} order", color=color, of=of) for curve in right]
    panels = (
        Panel(tuple(seen), 1.05 * max(max(curve.y) for curve in seen), across="epochs $E$",
              upward=r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)"),
        Panel(tuple(said), 1.5 * max(max(curve.y) for curve in said), ORDER, across="epochs $E$",
              bottom=min(min(curve.y) for curve in said) / 1.5),
    )  # fmt: skip
    note = (
        f"{WORKLOAD}, {SAMPLES} samples, no domain, without replacement, η = 0.1, C = 1, σ_DP = {_NOISE:g}; the paper "
        "has CIFAR-10 and so little noise (D.4) that nothing is hidden.\n"
        f"{attack_note(runs)}\n"
        "Larger batches hide more at the same number of epochs. Theorem 3.3 is drawn as it is stated (with b) and with "
        "the constant of its own proof, not normalised, and not as the released code has it."
    )
    return Figure("Liang et al., Figure 2: estimated and certified privacy of DPSGD-GC", note, panels, "batch size")
