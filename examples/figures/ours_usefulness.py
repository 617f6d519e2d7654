"""The last iterate beside composition: epsilon against epochs for several domains, sizes of data and noises.

A curve that lies on the dotted one gains nothing.
"""

from functools import partial
from typing import Final

from curves import bounded
from plotting import COLORS, CYCLE, Figure, Panel

from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD

_DELTA = 1e-5
_DOMAINS: Final = (0.1, 0.3, 1.0, 3.0)
"""D / eta at clip norm 1."""
_SETTINGS: Final = ((4_000, 400, 4.0), (60_000, 64, 1.0), (60_000, 1_024, 1.0))
"""Samples, batch, and the noise over eta K / b."""
_EPOCHS: Final = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def figure_usefulness(epochs: int = 6, settings: int = 3) -> Figure:
    """Composition and the last iterate at so many lengths of a run, in so many settings."""
    panels = tuple(_panel(*setting, _EPOCHS[:epochs]) for setting in _SETTINGS[:settings])
    note = (
        f"Poisson batches, convex losses with ηL = 1/4, clip norm 1; upper bounds at δ = {_DELTA:g}. The noise of an "
        "iterate is that many times ηK/b. A domain is narrow where few steps of noise cross it: then what is long ago "
        "costs nothing."
    )
    return Figure("Where the last iterate beats composition", note, panels)


def _run(n: int, batch: int, noise: float, diameter: float, epochs: float) -> NoisySGD:
    steps = round(epochs * n / batch)
    return NoisySGD(steps, 1.0, noise / batch, 1.0, n - n % batch, batch, "poisson", diameter=diameter)


def _panel(n: int, batch: int, noise: float, epochs: tuple[float, ...]) -> Panel:
    target, convex = {"delta": _DELTA}, Convex(0.25)
    composed = bounded(
        "composition", "composition", epochs, partial(_run, n, batch, noise, float("inf")), convex, target,
        color=COLORS["grey"], line=":",
    )  # fmt: skip
    ours = [
        bounded(f"D = {D:g} eta", f"last iterate, D = {D:g} η", epochs, partial(_run, n, batch, noise, D), convex,
                target, color=color)
        for D, color in zip(_DOMAINS, CYCLE, strict=False)
    ]  # fmt: skip
    return Panel(
        (composed, *ours), top=1.5 * max(composed.y), bottom=min(min(one.y) for one in ours) / 2,
        across="epochs", upward="privacy loss $\\varepsilon$", title=f"n = {n:,}, batch {batch:,}, noise {noise:g}",
    )  # fmt: skip
