"""Figure 6 of D2P2-SGD: what the batch size B and the reduced dimension p do to accuracy and privacy loss."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lastiterate.numeric.plotting.drawing import Curve, Figure, Panel, Status
from lastiterate.numeric.plotting.style import CYCLE
from lastiterate.runtime.figures.d2p2_2 import DIGITS
from lastiterate.runtime.figures.d2p2_4 import accuracies, epsilons
from lastiterate.runtime.figures.d2p2_methods import DELTA, METHODS, Training, claimed
from lastiterate.runtime.figures.figure_cache import FigureCache, OnPart

__all__ = ["figure_6"]

_BATCHES: Final = (64, 128, 256)
_NOISES: Final = (1.0, 4.0, 16.0)
_KEPT: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
_SHOWN: Final = METHODS[4:]
"""D2P2-SGD, and with the clipping behind the projection."""


def figure_6(epochs: int = 10, seeds: int = 2, folder: Path | None = None, on_part: OnPart | None = None) -> Figure:
    """(a) for several B against the noise, (b) against p / d.

    Args:
        epochs: passes over the data.
        seeds: runs of each setting.
        folder: where finished runs are kept; the user's cache folder if None.
        on_part: called with (finished, all) parts.
    """
    parts = (len(_BATCHES) * len(_NOISES) + len(_KEPT)) * (seeds + len(_SHOWN))
    keep = FigureCache("d2p2/6", parts, folder, on_part)
    learned: list[Curve] = []
    costs: list[Curve] = []
    for batch, color in zip(_BATCHES, CYCLE, strict=False):
        settings = [replace(DIGITS, epochs=epochs, noise=noise, batch_size=batch) for noise in _NOISES]
        found = _curves(keep, settings, _NOISES, seeds)
        look = [replace(curve, name=f"{curve.name} B={batch}", color=color, of=f"B = {batch}") for curve in found]
        learned.append(look[0])
        costs += look[1:]
    settings = [replace(DIGITS, epochs=epochs, kept=kept) for kept in _KEPT]
    color = CYCLE[_BATCHES.index(DIGITS.batch_size)]
    found = _curves(keep, settings, _KEPT, seeds)
    by_rank = [replace(curve, color=color, of=f"B = {DIGITS.batch_size}") for curve in found]
    epsilon, accuracy = (
        r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)",
        "test accuracy (higher is better)",
    )
    noise, rank = r"$\sigma_\varepsilon$ (units of the clip norm)", r"$p/d$ of every layer"
    panels = (
        Panel(tuple(learned), 1.0, across=noise, upward=accuracy, title="(a)"),
        _priced(costs, noise, epsilon, "(a)", logarithmic=True),
        Panel((by_rank[0],), 1.0, across=rank, upward=accuracy, logarithmic=False, title="(b)"),
        _priced(by_rank[1:], rank, epsilon, "(b)", logarithmic=False),
    )
    note = (
        f"{DIGITS.workload} instead of FashionMNIST, {DIGITS.samples} rows, {epochs} epochs, {seeds} seeds, without "
        f"replacement, α = {DIGITS.step_size:g}, γ = 0.01; (a) p/d = {DIGITS.kept:g}, (b) σ_ε = {DIGITS.noise:g}; σ_ε "
        f"is on the sum of a batch. δ = {DELTA:g}. Accuracy is that of D2P2-SGD as printed.\n"
        "Upper bounds are rounded up and drawn where they are finite. With more samples in a batch the same epochs "
        "take fewer steps. Privacy loss does not depend on p if clipping comes after the projection; as printed it "
        "does, since the layer with the smallest p decides."
    )
    return Figure("D2P2-SGD, Figure 6: batch size and reduced dimension (digits)", note, panels, "batch size")


def _curves(keep: FigureCache, settings: Sequence[Training], places: Sequence[float], seeds: int) -> list[Curve]:
    """Accuracy, the certified epsilons where there are any, and Theorem 1."""
    claims = tuple(claimed(one, one.steps_an_epoch * one.epochs) for one in settings)
    found = [accuracies(keep, _SHOWN[0], settings, places, seeds)]
    for method, line in zip(_SHOWN, ("-", "--"), strict=True):
        found.append(replace(epsilons(keep, method, settings, places), label=f"certified, {method.name}", line=line))
    theirs = Curve("theorem_1", "Theorem 1, constants of its proof", tuple(places), claims, Status.REFUTED, line=":")
    return [curve for curve in (*found, theirs) if curve.x]


def _priced(curves: Sequence[Curve], across: str, upward: str, title: str, *, logarithmic: bool) -> Panel:
    values = [value for curve in curves for value in curve.y]
    return Panel(tuple(curves), 2 * max(values), across=across, upward=upward, bottom=min(values) / 2,
                 logarithmic=logarithmic, title=title)  # fmt: skip
