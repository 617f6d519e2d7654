"""Figures 2 and 3 of D2P2-SGD: accuracy and training loss of five optimisers, and what the private ones cost.

Digits and breast cancer of scikit-learn stand for SVHN and FashionMNIST; a small network and a logistic regression for
the network of Table 5. Hyperparameters are those of Table 6, but for the step size on the digits.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Final

import numpy as np

from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status
from lastiterate.numeric.plotting.style import COLORS
from lastiterate.runtime.figures.d2p2_methods import DELTA, METHODS, Method, Training, certified, claimed, trained
from lastiterate.runtime.figures.figure_cache import FigureCache, OnPart

__all__ = ["DIGITS", "figure_2", "figure_3"]

DIGITS: Final = Training("builtin:digits-cnn", held_out=360, samples=1437, batch_size=128, epochs=20, step_size=0.1)
"""Training of Figures 2, 4, 5 and 6; ten times the step size of Table 6, since there are far fewer steps."""

_CANCER: Final = Training("builtin:breast-cancer", held_out=119, samples=450, batch_size=64, epochs=40)


def figure_2(
    epochs: int = 20, seeds: int = 3, places: int = 6, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Digits.

    Args:
        epochs: passes over the data.
        seeds: runs of each optimiser.
        places: about how many points a curve of privacy loss has.
        folder: where finished runs are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    return _figure("2", replace(DIGITS, epochs=epochs), seeds, places, "digits, not SVHN", folder, on_part)


def figure_3(
    epochs: int = 40, seeds: int = 4, places: int = 6, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Breast cancer; arguments as `figure_2`."""
    training = replace(_CANCER, epochs=epochs)
    return _figure("3", training, seeds, places, "breast cancer, not FashionMNIST", folder, on_part)


def _figure(
    number: str, training: Training, seeds: int, places: int, data: str, folder: Path | None, on_part: OnPart | None
) -> Figure:
    epochs = sorted({max(1, round(training.epochs ** (k / max(places - 1, 1)))) for k in range(places)})
    private = [method for method in METHODS if method.private]
    keep = FigureCache(f"d2p2/{number}", len(METHODS) * seeds + len(private) * len(epochs), folder, on_part)
    learned = {method.name: [trained(keep, method, training, seed) for seed in range(seeds)] for method in METHODS}
    costs = [_cost(keep, method, training, epochs) for method in private]
    accuracy, loss = (
        [_band(what, method, learned[method.name]) for method in METHODS] for what in ("accuracy", "loss")
    )
    steps = [training.steps_an_epoch * epoch for epoch in epochs]
    claims = tuple(claimed(training, k) for k in steps)
    words = "Theorem 1, constants of its proof"
    theirs = Curve("theorem_1", words, tuple(epochs), claims, Status.REFUTED, COLORS["black"], ":")
    shown = [curve for curve in costs if curve is not None]
    highest = max(max(curve.y) for curve in (*shown, theirs))
    lowest = min(min(curve.y) for curve in (*shown, theirs))
    panels = (
        Panel(tuple(accuracy), 1.0, across="epochs", upward="test accuracy (higher is better)", logarithmic=False),
        Panel(tuple(loss), 1.05 * max(max(curve.high) for curve in loss), across="epochs",
              upward="training loss (lower is better)", logarithmic=False),
        Panel((*shown, theirs), 2 * highest, across="epochs", bottom=lowest / 2, logarithmic=False,
              upward=r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)"),
    )  # fmt: skip
    title = f"D2P2-SGD, Figure {number}: five optimisers and what they cost ({data})"
    return Figure(title, _note(training, seeds, costs, private), panels, "optimiser")


def _band(what: str, method: Method, runs: Sequence[dict[str, np.ndarray]]) -> Curve:
    found = np.stack([run[what] for run in runs])
    return Curve(f"{what} {method.name}", "mean, band: least to greatest", tuple(range(found.shape[1])),
                 tuple(found.mean(axis=0)), Status.MEASURED, method.color, method.line, low=tuple(found.min(axis=0)),
                 high=tuple(found.max(axis=0)), of=method.name)  # fmt: skip


def _cost(keep: FigureCache, method: Method, training: Training, epochs: Sequence[int]) -> Curve | None:
    """The certified epsilon after each number of epochs where it is finite; None where it never is."""
    found = [(epoch, certified(keep, method, training, training.steps_an_epoch * epoch)) for epoch in epochs]
    finite = [(epoch, value) for epoch, value in found if isfinite(value)]
    if not finite:
        return None
    x, y = zip(*finite, strict=True)
    return Curve(
        f"epsilon {method.name}", "certified", x, y, Status.BOUND, method.color, method.line, marker="o", of=method.name
    )


def _note(training: Training, seeds: int, costs: Sequence[Curve | None], private: Sequence[Method]) -> str:
    never = [method.name for method, curve in zip(private, costs, strict=True) if curve is None]
    none = f" No finite bound is known for {' and '.join(never)}." if never else ""
    return (
        f"{training.workload}, {training.samples} rows to train on and {training.held_out} for the test, {seeds} "
        f"seeds; B = {training.batch_size} without replacement, α = {training.step_size:g}, γ = 0.01, σ_ε = "
        f"{training.noise:g} (on the sum of a batch), p/d = {training.kept:g} in every layer. δ = {DELTA:g}.{none}\n"
        "Decaying noise is what costs: the loss of step k grows with k. Theorem 1 says one number for all dynamic "
        "methods, whatever p; the ledger refutes it. The paper's own picture ends at 2.45 and 2.75. "
        "Dashed: the remedy, which may lie on D2P-SGD.\n"
        "A Aᵀ/√p lengthens the mean step by √p: D2P2-SGD and DP2-SGD learn with a longer step than the others."
    )
