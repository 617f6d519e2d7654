"""Figure 4 of Liang et al. 2026 (D.3): the training loss of DPSGD-GC for several batch sizes.

Their step size, noise and clipping threshold (D.4) and their sampling rates, 1 to 10 percent, on the digits of
scikit-learn instead of CIFAR-10, and a small network instead of ResNet-18.
"""

from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import Final

import numpy as np
from figure_cache import FigureCache, OnPart
from plotting import CYCLE, Curve, CurveKind, Figure, Panel

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays

_RATES: Final = (0.01, 0.02, 0.03, 0.04, 0.06, 0.1)
_HELD_OUT: Final = 360
_BAND: Final = (2.5, 97.5)
_DELTA: Final = 1e-5


def figure_4(
    epochs: int = 10,
    trials: int = 10,
    rates: Sequence[float] = _RATES,
    folder: Path | None = None,
    on_part: OnPart | None = None,
) -> Figure:
    """Mean training loss over the epochs, and the middle 95 percent of the trials, each with seeds of its own.

    There are at most six rates b / n, increasing. Finished runs are kept in ``folder``, the user's cache folder if
    None; ``on_part`` is called with (finished, all) parts.
    """
    from learning import split

    from lastiterate.runtime.workloads.loading import load_workload

    workload = load_workload("builtin:digits-cnn")
    rows = split(workload, _HELD_OUT)
    curves = []
    keep = FigureCache("liang/4", len(rates) * trials, folder, on_part)
    for rate, color in zip(rates, CYCLE, strict=False):
        run = _run(len(rows[0]), rate, epochs)
        settings: dict[str, object] = {"batch": run.batch, "epochs": epochs}
        found = np.stack(
            [keep(settings | {"seed": seed}, partial(_train, run, seed))["loss"] for seed in range(trials)]
        )
        low, high = np.percentile(found, _BAND, axis=0)
        curves.append(
            Curve(
                f"loss b={run.batch}",
                f"mean of {trials} trials, band: 95% of them",
                tuple(range(epochs + 1)),
                tuple(found.mean(axis=0)),
                CurveKind.MEASURED,
                color,
                low=tuple(low),
                high=tuple(high),
                of=f"b = {run.batch}",
            )
        )
    top = 1.05 * max(max(curve.high) for curve in curves)
    panel = Panel(
        tuple(curves),
        top,
        across="epochs $E$",
        upward="training loss (cross-entropy; lower is better)",
        logarithmic=False,
    )
    return Figure(
        "Liang et al., Figure 4: training loss of DPSGD-GC", _note(len(rows[0]), epochs, rates), (panel,)
    )


def _run(samples: int, rate: float, epochs: int) -> NoisySGD:
    batch = ceil(rate * samples)
    return NoisySGD.gradient_noise(
        steps=ceil(samples / batch) * epochs, step_size=0.1, gradient_noise_std=0.002, clip_norm=20.0,
        dataset_size=samples, batch_size=batch, sampling="without_replacement",
    )  # fmt: skip


def _train(run: NoisySGD, seed: int) -> Arrays:
    from learning import learning_curve, split, stepping

    from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
    from lastiterate.runtime.workloads.loading import load_workload

    workload = load_workload("builtin:digits-cnn")
    rows = split(workload, _HELD_OUT)
    module = workload.initial(seed)
    optimiser = ProjectedNoisySGD(module, workload.loss, run, seed=seed)
    step = stepping(optimiser.batches(), rows, optimiser.step)
    return learning_curve(workload, module, rows, step, ceil(run.dataset_size / run.batch))


def _note(samples: int, epochs: int, rates: Sequence[float]) -> str:
    certified = [
        bound(_run(samples, rate, epochs), Clipped(), delta=_DELTA).epsilon for rate in (rates[0], rates[-1])
    ]
    return (
        f"builtin:digits-cnn, {samples} digits of scikit-learn, batches without replacement; η = 0.1, σ_DP = 0.002, "
        f"C = 20 and sampling rates of {100 * rates[0]:g} to {100 * rates[-1]:g}% as in Liang et al. 2026, D.4, who "
        "train ResNet-18 on CIFAR-10.\n"
        "No domain (DPSGD-GC). With so little noise nothing is hidden: the certified ε at δ = 1e-5 after the last "
        f"epoch is {printed_up(certified[0])} for the smallest batch and {printed_up(certified[1])} for the largest "
        "(upper bounds)."
    )
