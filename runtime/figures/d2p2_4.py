"""Figures 4 and 5 of D2P2-SGD: accuracy and privacy loss against the noise."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Final

import numpy as np

from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status
from lastiterate.numeric.plotting.style import COLORS
from lastiterate.runtime.figures.d2p2_2 import DIGITS
from lastiterate.runtime.figures.d2p2_methods import DELTA, METHODS, Method, Training, certified, claimed, trained
from lastiterate.runtime.figures.figure_cache import FigureCache, OnPart

__all__ = ["accuracies", "epsilons", "figure_4", "figure_5"]

_NOISES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_ACROSS: Final = r"$\sigma_\varepsilon$ (in units of the clip norm, on the sum of a batch)"


def figure_4(epochs: int = 10, seeds: int = 2, folder: Path | None = None, on_part: OnPart | None = None) -> Figure:
    """Accuracy after the last epoch.

    Args:
        epochs: passes over the data.
        seeds: runs of each optimiser and each noise.
        folder: where finished runs are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    settings = [replace(DIGITS, epochs=epochs, noise=noise) for noise in _NOISES]
    private = [method for method in METHODS if method.private]
    keep = FigureCache("d2p2/4", (len(private) * len(settings) + 1) * seeds, folder, on_part)
    curves = [accuracies(keep, method, settings, _NOISES, seeds) for method in private]
    plain = accuracies(keep, METHODS[0], [settings[0]], (_NOISES[0],), seeds)
    ends = (_NOISES[0], _NOISES[-1])
    flat = replace(plain, x=ends, y=plain.y * 2, low=plain.low * 2, high=plain.high * 2, marker="")
    panel = Panel((flat, *curves), 1.0, across=_ACROSS, upward="test accuracy (higher is better)")
    note = (
        f"{_setting(settings[0], epochs)}; {seeds} seeds. SGD has no noise, it is drawn for comparison.\n"
        "A Aᵀ/√p lengthens the mean step by √p, and the noise with it: projection is hurt first by large noise."
    )
    return Figure("D2P2-SGD, Figure 4: accuracy against noise (digits)", note, (panel,), "optimiser")


def figure_5(epochs: int = 10, folder: Path | None = None, on_part: OnPart | None = None) -> Figure:
    """Certified epsilon after the last epoch, and the claim of Theorem 1.

    Args:
        epochs: passes over the data.
        folder: where finished numbers are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    settings = [replace(DIGITS, epochs=epochs, noise=noise) for noise in _NOISES]
    private = [method for method in METHODS if method.private]
    keep = FigureCache("d2p2/5", len(private) * len(settings), folder, on_part)
    costs = [epsilons(keep, method, settings, _NOISES) for method in private]
    claims = tuple(claimed(one, one.steps_an_epoch * epochs) for one in settings)
    theirs = Curve(
        "theorem_1", "Theorem 1, constants of its proof", _NOISES, claims, Status.REFUTED, COLORS["black"], ":"
    )
    curves = (*(curve for curve in costs if curve.x), theirs)
    panel = Panel(
        curves,
        top=2 * max(max(curve.y) for curve in curves),
        across=_ACROSS,
        upward=r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)",
        bottom=min(min(curve.y) for curve in curves) / 2,
    )
    note = (
        f"{_setting(settings[0], epochs)}; δ = {DELTA:g}. Upper bounds are rounded up and drawn where they are "
        "finite. Dashed: the remedy, which lies on D2P-SGD.\n"
        "Theorem 1 is refuted; it speaks of the dynamic methods alone, and says the same for every p."
    )
    return Figure("D2P2-SGD, Figure 5: privacy loss against noise (digits)", note, (panel,), "optimiser")


def accuracies(
    keep: FigureCache, method: Method, settings: Sequence[Training], places: Sequence[float], seeds: int
) -> Curve:
    """Accuracy after the last epoch: the mean over seeds, and the least and the greatest as a band."""
    ends = np.array([[trained(keep, method, one, seed)["accuracy"][-1] for seed in range(seeds)] for one in settings])
    return Curve(f"accuracy {method.name}", "mean, band: least to greatest", tuple(places), tuple(ends.mean(axis=1)),
                 Status.MEASURED, method.color, method.line, marker="o", low=tuple(ends.min(axis=1)),
                 high=tuple(ends.max(axis=1)), of=method.name)  # fmt: skip


def epsilons(keep: FigureCache, method: Method, settings: Sequence[Training], places: Sequence[float]) -> Curve:
    """The certified epsilon at each place where it is finite; perhaps at none."""
    found = [certified(keep, method, one, one.steps_an_epoch * one.epochs) for one in settings]
    finite = [(place, value) for place, value in zip(places, found, strict=True) if isfinite(value)]
    x, y = tuple(place for place, _value in finite), tuple(value for _place, value in finite)
    return Curve(
        f"epsilon {method.name}", "certified", x, y, Status.BOUND, method.color, method.line, marker="o", of=method.name
    )


def _setting(training: Training, epochs: int) -> str:
    return (
        f"{training.workload} instead of FashionMNIST, {training.samples} rows, {epochs} epochs, B = "
        f"{training.batch_size} without replacement, α = {training.step_size:g}, γ = 0.01, p/d = {training.kept:g}"
    )
