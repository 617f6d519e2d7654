"""Figures 2 to 6 of D2P2-SGD: accuracy, training loss and privacy loss of five optimisers and of the remedy.

Digits and breast cancer of scikit-learn stand for SVHN and FashionMNIST; a small network and a logistic regression for
the network of Table 5. Hyperparameters are those of Table 6, but for the step size on the digits.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np
from d2p2_methods import DELTA, METHODS, Method, Training, certified, claimed, trained
from figure_cache import FigureCache, OnPart
from numpy.typing import ArrayLike
from plotting import COLORS, CYCLE, Curve, CurveKind, Figure, Panel

DIGITS: Final = Training(
    "builtin:digits-cnn", held_out=360, samples=1437, batch_size=128, epochs=20, step_size=0.1
)
"""Training of Figures 2, 4, 5 and 6; ten times the step size of Table 6, since there are far fewer steps."""

_CANCER: Final = Training("builtin:breast-cancer", held_out=119, samples=450, batch_size=64, epochs=40)
_NOISES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_PRIVATE: Final = tuple(method for method in METHODS if method.private)
_ACROSS: Final = r"$\sigma_\varepsilon$ (in units of the clip norm, on the sum of a batch)"
_ACCURACY: Final = "test accuracy (higher is better)"
_EPSILON: Final = r"$\varepsilon$ at $\delta = 10^{-5}$ (lower is more private)"

# Of Figure 6.
_BATCHES: Final = (64, 128, 256)
_FEW_NOISES: Final = (1.0, 4.0, 16.0)
_KEPT: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
_SHOWN: Final = METHODS[4:]
"""D2P2-SGD, and with the clipping behind the projection."""


def figure_2(
    epochs: int = 20, seeds: int = 3, places: int = 6, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Learning curves on the digits, and privacy loss against epochs at about so many places; several seeds.

    Finished runs are kept in ``folder``, the user's cache folder if None; ``on_part`` is called with (finished, all)
    parts.
    """
    return _learning("2", replace(DIGITS, epochs=epochs), seeds, places, "digits, not SVHN", folder, on_part)


def figure_3(
    epochs: int = 40, seeds: int = 4, places: int = 6, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """The same on breast cancer; arguments as `figure_2`."""
    training = replace(_CANCER, epochs=epochs)
    return _learning("3", training, seeds, places, "breast cancer, not FashionMNIST", folder, on_part)


def figure_4(
    epochs: int = 10, seeds: int = 2, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Accuracy after the last epoch against the noise; arguments as `figure_2`."""
    settings = [replace(DIGITS, epochs=epochs, noise=noise) for noise in _NOISES]
    keep = FigureCache("d2p2/4", (len(_PRIVATE) * len(settings) + 1) * seeds, folder, on_part)
    curves = [_accuracies(keep, method, settings, _NOISES, seeds) for method in _PRIVATE]
    plain = _accuracies(keep, METHODS[0], settings[:1], _NOISES[:1], seeds)
    ends = (_NOISES[0], _NOISES[-1])
    flat = replace(plain, x=ends, y=plain.y * 2, low=plain.low * 2, high=plain.high * 2, marker="")
    note = (
        f"{_setting(settings[0])}; {seeds} seeds. SGD has no noise, it is drawn for comparison.\n"
        "A Aᵀ/√p lengthens the mean step by √p, and the noise with it: projection is hurt first by large noise."
    )
    panel = Panel((flat, *curves), 1.0, across=_ACROSS, upward=_ACCURACY)
    return Figure("D2P2-SGD, Figure 4: accuracy against noise (digits)", note, (panel,))


def figure_5(epochs: int = 10, folder: Path | None = None, on_part: OnPart | None = None) -> Figure:
    """Certified epsilon after the last epoch against the noise, and the claim of Theorem 1; arguments as `figure_2`."""
    settings = [replace(DIGITS, epochs=epochs, noise=noise) for noise in _NOISES]
    keep = FigureCache("d2p2/5", len(_PRIVATE) * len(settings), folder, on_part)
    curves = [
        *(epsilons(keep, method, settings, _NOISES) for method in _PRIVATE),
        _theorem_1(settings, _NOISES),
    ]
    note = (
        f"{_setting(settings[0])}; δ = {DELTA:g}. Upper bounds are rounded up and drawn where they are "
        "finite. Dashed: the remedy, which lies on D2P-SGD.\n"
        "Theorem 1 is refuted; it speaks of the dynamic methods alone, and says the same for every p."
    )
    title = "D2P2-SGD, Figure 5: privacy loss against noise (digits)"
    return Figure(title, note, (_privacy(curves, _ACROSS),))


def figure_6(
    epochs: int = 10, seeds: int = 2, folder: Path | None = None, on_part: OnPart | None = None
) -> Figure:
    """Batch size B against the noise (a), and the reduced dimension p / d (b); arguments as `figure_2`."""
    parts = (len(_BATCHES) * len(_FEW_NOISES) + len(_KEPT)) * (seeds + len(_SHOWN))
    keep = FigureCache("d2p2/6", parts, folder, on_part)
    learned: list[Curve] = []
    costs: list[Curve] = []
    for batch, color in zip(_BATCHES, CYCLE, strict=False):
        settings = [replace(DIGITS, epochs=epochs, noise=noise, batch_size=batch) for noise in _FEW_NOISES]
        found = _of_one_batch(keep, settings, _FEW_NOISES, seeds, color)
        first, *rest = (replace(curve, name=f"{curve.name} B={batch}") for curve in found)
        learned.append(first)
        costs += rest
    settings = [replace(DIGITS, epochs=epochs, kept=kept) for kept in _KEPT]
    by_rank = _of_one_batch(keep, settings, _KEPT, seeds, CYCLE[_BATCHES.index(DIGITS.batch_size)])
    noise, rank = r"$\sigma_\varepsilon$ (units of the clip norm)", r"$p/d$ of every layer"
    panels = (
        Panel(tuple(learned), 1.0, across=noise, upward=_ACCURACY, title="(a)"),
        _privacy(costs, noise, title="(a)"),
        Panel((by_rank[0],), 1.0, across=rank, upward=_ACCURACY, logarithmic=False, title="(b)"),
        _privacy(by_rank[1:], rank, title="(b)", logarithmic=False),
    )
    note = (
        f"{DIGITS.workload} instead of FashionMNIST, {DIGITS.samples} rows, {epochs} epochs, {seeds} seeds, without "
        f"replacement, α = {DIGITS.step_size:g}, γ = 0.01; (a) p/d = {DIGITS.kept:g}, (b) σ_ε = {DIGITS.noise:g}; σ_ε "
        f"is on the sum of a batch. δ = {DELTA:g}. Accuracy is that of D2P2-SGD as printed.\n"
        "Upper bounds are rounded up and drawn where they are finite. With more samples in a batch the same epochs "
        "take fewer steps. Privacy loss does not depend on p if clipping comes after the projection; as printed it "
        "does, since the layer with the smallest p decides."
    )
    return Figure("D2P2-SGD, Figure 6: batch size and reduced dimension (digits)", note, panels)


def _learning(
    number: str,
    training: Training,
    seeds: int,
    places: int,
    data: str,
    folder: Path | None,
    on_part: OnPart | None,
) -> Figure:
    epochs = sorted({max(1, round(training.epochs ** (k / max(places - 1, 1)))) for k in range(places)})
    settings = [replace(training, epochs=epoch) for epoch in epochs]
    keep = FigureCache(f"d2p2/{number}", len(METHODS) * seeds + len(_PRIVATE) * len(epochs), folder, on_part)
    learned = {method: [trained(keep, method, training, seed) for seed in range(seeds)] for method in METHODS}
    costs = [epsilons(keep, method, settings, epochs) for method in _PRIVATE]
    accuracy, loss = (
        tuple(
            _band(f"{what} {method.name}", method, range(training.epochs + 1), [run[what] for run in runs])
            for method, runs in learned.items()
        )
        for what in ("accuracy", "loss")
    )
    top = 1.05 * max(max(curve.high) for curve in loss)
    panels = (
        Panel(accuracy, 1.0, across="epochs", upward=_ACCURACY, logarithmic=False),
        Panel(loss, top, across="epochs", upward="training loss (lower is better)", logarithmic=False),
        _privacy([*costs, _theorem_1(settings, epochs)], "epochs", logarithmic=False),
    )
    never = [curve.of for curve in costs if not curve.x]
    none = f" No finite bound is known for {' and '.join(never)}." if never else ""
    note = (
        f"{training.workload}, {training.samples} rows to train on and {training.held_out} for the test, {seeds} "
        f"seeds; B = {training.batch_size} without replacement, α = {training.step_size:g}, γ = 0.01, σ_ε = "
        f"{training.noise:g} (on the sum of a batch), p/d = {training.kept:g} in every layer. δ = {DELTA:g}.{none}\n"
        "Decaying noise is what costs: the loss of step k grows with k. Theorem 1 says one number for all dynamic "
        "methods, whatever p; the ledger refutes it. The paper's own picture ends at 2.45 and 2.75. "
        "Dashed: the remedy, which may lie on D2P-SGD.\n"
        "A Aᵀ/√p lengthens the mean step by √p: D2P2-SGD and DP2-SGD learn with a longer step than the others."
    )
    title = f"D2P2-SGD, Figure {number}: five optimisers and what they cost ({data})"
    return Figure(title, note, panels)


def _of_one_batch(
    keep: FigureCache, settings: Sequence[Training], places: Sequence[float], seeds: int, color: str
) -> list[Curve]:
    """Accuracy, the certified epsilons where there are any, and Theorem 1."""
    found = [_accuracies(keep, _SHOWN[0], settings, places, seeds)]
    for method, line in zip(_SHOWN, ("-", "--"), strict=True):
        found.append(
            replace(epsilons(keep, method, settings, places), label=f"certified, {method.name}", line=line)
        )
    found.append(_theorem_1(settings, places))
    return [replace(curve, color=color, of=f"B = {settings[0].batch_size}") for curve in found if curve.x]


def _accuracies(
    keep: FigureCache, method: Method, settings: Sequence[Training], places: Sequence[float], seeds: int
) -> Curve:
    """Accuracy after the last epoch."""
    ends = [[trained(keep, method, one, seed)["accuracy"][-1] for one in settings] for seed in range(seeds)]
    return _band(f"accuracy {method.name}", method, places, ends, marker="o")


def _band(name: str, method: Method, x: Sequence[float], found: ArrayLike, **look: Any) -> Curve:
    """The mean over runs, and the least and the greatest as a band; ``found`` of shape (runs, places)."""
    runs = np.asarray(found, dtype=np.float64)
    mean, low, high = (tuple(part) for part in (runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0)))
    label = "mean, band: least to greatest"
    return Curve(
        name,
        label,
        tuple(x),
        mean,
        CurveKind.MEASURED,
        method.color,
        method.line,
        low=low,
        high=high,
        of=method.name,
        **look,
    )


def epsilons(keep: FigureCache, method: Method, settings: Sequence[Training], places: Sequence[float]) -> Curve:
    """The certified epsilon after the last epoch at each place where it is finite; perhaps at none."""
    found = [certified(keep, method, one, one.steps_an_epoch * one.epochs) for one in settings]
    finite = [(place, value) for place, value in zip(places, found, strict=True) if isfinite(value)]
    x, y = tuple(place for place, _value in finite), tuple(value for _place, value in finite)
    return Curve(
        f"epsilon {method.name}",
        "certified",
        x,
        y,
        CurveKind.BOUND,
        method.color,
        method.line,
        marker="o",
        of=method.name,
    )


def _theorem_1(settings: Sequence[Training], places: Sequence[float]) -> Curve:
    claims = tuple(claimed(one, one.steps_an_epoch * one.epochs) for one in settings)
    words = "Theorem 1, constants of its proof"
    return Curve("theorem_1", words, tuple(places), claims, CurveKind.REFUTED, COLORS["black"], ":")


def _privacy(curves: Sequence[Curve], across: str, *, title: str = "", logarithmic: bool = True) -> Panel:
    shown = tuple(curve for curve in curves if curve.x)
    values = [value for curve in shown for value in curve.y]
    return Panel(
        shown,
        2 * max(values),
        across=across,
        upward=_EPSILON,
        bottom=min(values) / 2,
        logarithmic=logarithmic,
        title=title,
    )


def _setting(training: Training) -> str:
    return (
        f"{training.workload} instead of FashionMNIST, {training.samples} rows, {training.epochs} epochs, B = "
        f"{training.batch_size} without replacement, α = {training.step_size:g}, γ = 0.01, p/d = {training.kept:g}"
    )
