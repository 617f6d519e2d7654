"""Figures 2 and 3 of Liang et al. 2026: estimated and theoretical privacy of DPSGD-GC and of DPSGD-DC.

The first is drawn for several batch sizes, the second for several diameters of the domain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curves import RunOf, bounded, lowest, printed
from figure_cache import FigureCache, OnPart
from liang import ORDER
from liang_attacked import DELTA, SAMPLES, WORKLOAD, attack_note, attacked, doublings
from plotting import CYCLE, Curve, Figure, Panel

from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth
from lastiterate.numeric.run import NoisySGD

if TYPE_CHECKING:
    from lastiterate.numeric.losses.certified import LossConstants

BATCHES_2: Final = (10, 20, 70)
BATCHES_3: Final = (14, 70)
DIAMETERS: Final = (0.1, 0.4, 1.6)
_NOISE_2: Final = 0.2
_NOISE_3: Final = 0.8
_AT_DELTA: Final = {"delta": DELTA}
_AT_ORDER: Final = {"order": ORDER}
_EPOCHS: Final = "epochs $E$"
_EPSILON: Final = r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)"


def run_2(batch: int, epochs: int) -> NoisySGD:
    """DPSGD-GC: no domain, batches without replacement, as many steps as the paper counts in these epochs."""
    return _run(batch, epochs, _NOISE_2, 1.0, inf)


def run_3(batch: int, diameter: float, clip_norm: float, epochs: int) -> NoisySGD:
    """DPSGD-DC with a clip norm that never acts, so that the losses stay convex."""
    return _run(batch, epochs, _NOISE_3, clip_norm, diameter)


def constants_3() -> "LossConstants":
    """Smoothness and Lipschitz constant of the losses, in closed form."""
    return _constants(max(DIAMETERS))


def figure_2(
    last: int = 64, runs: int = 200, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Attacks and certified bounds on the left, Theorem 3.3 and certified bounds on the right, up to ``last`` epochs.

    Attacked are so many runs on each of the two data sets after 1, 4, 16, ... epochs, half of which are counted.
    Finished attacks are kept in ``folder``, the user's cache folder if None; ``on_part`` is called with (finished, all)
    parts.
    """
    smooth = Smooth(_constants(inf).smoothness)
    every, few = doublings(last), doublings(last, every=2)
    seen: list[Curve] = []
    said: list[Curve] = []
    keep = FigureCache("liang/2", 2 * len(BATCHES_2) * len(few), folder, on_part)
    for batch, color in zip(BATCHES_2, CYCLE, strict=False):
        run_of = partial(run_2, batch)
        left = (
            bounded("bound", "ours", every, run_of, smooth, _AT_DELTA),
            _lower(every, run_of, smooth, _AT_DELTA),
            attacked(keep, "canary", few, run_of, runs),
            attacked(keep, "shadow", few, run_of, runs),
        )
        right = (
            printed("liang_3_3", every, run_of, smooth, ORDER, width=2.0),
            bounded("bound", "ours", every, run_of, smooth, _AT_ORDER),
            _lower(every, run_of, smooth, _AT_ORDER),
        )
        seen += _members(left, f"b={batch}", f"b = {batch}", color)
        said += _members(right, f"b={batch} order", f"b = {batch}", color)
    panels = (Panel(tuple(seen), 1.05 * _highest(seen), across=_EPOCHS, upward=_EPSILON), _at_order(said))
    note = (
        f"{WORKLOAD}, {SAMPLES} samples, no domain, without replacement, η = 0.1, C = 1, σ_DP = {_NOISE_2:g}; the "
        "paper has CIFAR-10 and so little noise (D.4) that nothing is hidden.\n"
        f"{attack_note(runs)}\n"
        "Larger batches hide more at the same number of epochs. Theorem 3.3 is drawn as stated (with b) and with "
        "the constant of its own proof, not normalised, and not as the released code has it."
    )
    return Figure("Liang et al., Figure 2: estimated and certified privacy of DPSGD-GC", note, panels)


def figure_3(
    last: int = 256,
    attacked_until: int = 16,
    runs: int = 200,
    folder: Path | None = None,
    on_part: OnPart | None = None,
) -> Figure:
    """Attacks and certified bounds for two batch sizes, and Theorem 3.4 beside certified bounds for the smaller one.

    Runs are attacked up to ``attacked_until`` epochs; other arguments as `figure_2`.
    """
    known = constants_3()
    smooth, convex = Smooth(known.smoothness), Convex(known.smoothness)
    every, few = doublings(last), doublings(attacked_until, every=2)
    seen: list[list[Curve]] = [[] for _ in BATCHES_3]
    said: list[Curve] = []
    keep = FigureCache("liang/3", len(BATCHES_3) * len(DIAMETERS) * len(few), folder, on_part)
    for diameter, color in zip(DIAMETERS, CYCLE, strict=False):
        of = f"D = {diameter:g}"
        for batch, curves in zip(BATCHES_3, seen, strict=True):
            run_of = partial(run_3, batch, diameter, known.lipschitz)
            found = (
                bounded("bound convex", "ours, convex losses", every, run_of, convex, _AT_DELTA),
                _lower(every, run_of, convex, _AT_DELTA),
                attacked(keep, "canary", few, run_of, runs),
            )
            curves += _members(found, f"b={batch} {of}", of, color)
        run_of = partial(run_3, BATCHES_3[0], diameter, known.lipschitz)
        found = (
            printed("liang_3_4", every, run_of, smooth, ORDER, width=2.0),
            bounded("bound smooth", "ours, smooth losses", every, run_of, smooth, _AT_ORDER, line="-."),
            bounded("bound convex", "ours, convex losses", every, run_of, convex, _AT_ORDER),
        )
        said += _members(found, f"b={BATCHES_3[0]} order {of}", of, color)
    top = 1.05 * max(map(_highest, seen))
    panels = [
        Panel(tuple(curves), top, across=_EPOCHS, upward=_EPSILON, title=f"b = {batch}")
        for batch, curves in zip(BATCHES_3, seen, strict=True)
    ]
    note = (
        f"{WORKLOAD}, {SAMPLES} samples, without replacement, η = 0.1, σ_DP = {_NOISE_3:g}, C = {known.lipschitz:.4g}, "
        f"the Lipschitz constant; L = {known.smoothness:.4g}; both in closed form. D is a diameter. The paper has "
        "CIFAR-10, D = 20, 60, 100, and so little noise (D.4) that nothing is hidden.\n"
        f"{attack_note(runs)}\n"
        "A bound converges once D is small beside the noise of the whole run. Theorem 3.4 is drawn as stated, "
        "with the constants of its own proof, not normalised, and not as the released code has it."
    )
    title = "Liang et al., Figure 3: estimated and certified privacy of DPSGD-DC"
    return Figure(title, note, (*panels, _at_order(said, f"b = {BATCHES_3[0]}")))


def _run(batch: int, epochs: int, noise: float, clip_norm: float, diameter: float) -> NoisySGD:
    return NoisySGD.gradient_noise(
        steps=ceil(SAMPLES / batch) * epochs, step_size=0.1, gradient_noise_std=noise, clip_norm=clip_norm,
        dataset_size=SAMPLES, batch_size=batch, sampling="without_replacement", diameter=diameter,
    )  # fmt: skip


def _constants(diameter: float) -> "LossConstants":
    from lastiterate.runtime.workloads.loading import load_workload

    return load_workload(WORKLOAD).certified(0, diameter)


def _lower(epochs: Sequence[int], run_of: RunOf, assumption: Assumption, target: dict[str, float]) -> Curve:
    return lowest("lower", "worst run known", epochs, run_of, assumption, target, width=1.2)


def _members(curves: Sequence[Curve], name: str, of: str, color: str) -> Iterator[Curve]:
    """The curves as those of one member of a family."""
    return (replace(curve, name=f"{curve.name} {name}", color=color, of=of) for curve in curves)


def _highest(curves: Sequence[Curve]) -> float:
    return max(max(curve.y) for curve in curves)


def _at_order(curves: Sequence[Curve], title: str = "") -> Panel:
    lowest = min(min(curve.y) for curve in curves)
    return Panel(tuple(curves), 1.5 * _highest(curves), ORDER, _EPOCHS, bottom=lowest / 1.5, title=title)
