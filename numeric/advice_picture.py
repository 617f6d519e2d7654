"""A planned run at shorter lengths: composition, the last iterate, a lower bound, and what linear losses would lose."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from typing import Final

from lastiterate.numeric.advice import Advice
from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Clipped, Convex
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.plotting.drawing import COLORS, Curve, Figure, Panel, Status
from lastiterate.numeric.run import NoisySGD

_LENGTHS: Final = 9


def figure_advice(
    advice: Advice, lengths: int = _LENGTHS, *, on_length: Callable[[int, int], None] | None = None
) -> Figure:
    """Curves of epsilon over so many lengths, spread evenly on a logarithmic axis, and over those of the advice."""
    last = advice.run.steps
    told = {count for count in (advice.helps_from, advice.stop_after) if count}
    steps = sorted({max(1, round(last ** (k / (lengths - 1)))) for k in range(lengths)} | told)
    rows: list[tuple[float, float, float, float]] = []
    for done, count in enumerate(steps):
        if on_length is not None:
            on_length(done, len(steps))
        rows.append(_row(advice, replace(advice.run, steps=count)))
    composed, ours, below, linear = (tuple(column) for column in zip(*rows, strict=True))
    x = tuple(float(count) for count in steps)
    curves = [
        Curve("composition", "all iterates, composition", x, composed, color=COLORS["grey"], width=4.0),
        Curve("last iterate", "last iterate", x, ours, color=COLORS["blue"], width=2.0),
        Curve("lower", "last iterate, at least", x, below, Status.LOWER, color=COLORS["black"], line="--"),
    ]
    if advice.domain:
        words = "linear losses, without the domain"
        curves.append(Curve("linear", words, x, linear, Status.ESTIMATE, color=COLORS["orange"], line="-."))
    panel = Panel(
        tuple(curve for curve in curves if sum(value > 0 for value in curve.y) > 1),  # one point is no curve
        top=1.5 * max(composed),
        bottom=max(min(value for value in (*below, *linear) if value > 0) / 2, min(ours) / 100),
        across="steps $T$",
        upward="$\\varepsilon$",
        title=f"δ = {advice.delta:g}",
    )
    size = f"step size {advice.run.step_size_at(0):g}, noise {advice.run.noise_std_at(0):g}"
    note = f"{'; '.join(advice.found.assumptions)}; {size}."
    return Figure("What the last iterate costs, by the length of the run", note, (panel,))


def _row(advice: Advice, run: NoisySGD) -> tuple[float, float, float, float]:
    delta, plain = advice.delta, replace(run, diameter=inf, weight_decay=0.0)
    return (
        bound(plain, Clipped(), delta=delta).epsilon,
        bound(run, advice.assumption, delta=delta).epsilon,
        lower_bound(run, advice.assumption, delta=delta).value or nan,
        lower_bound(replace(run, diameter=inf), Convex(0.0), delta=delta).value or nan,  # nothing is known
    )
