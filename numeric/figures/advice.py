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
    """Curves of epsilon over so many lengths of the run, spread evenly on a logarithmic axis."""
    last = advice.run.steps
    steps = sorted({max(1, round(last ** (k / (lengths - 1)))) for k in range(lengths)})
    rows: list[tuple[float, float, float, float]] = []
    for done, count in enumerate(steps):
        if on_length is not None:
            on_length(done, len(steps))
        rows.append(_row(advice, replace(advice.run, steps=count)))
    composed, ours, below, linear = (tuple(column) for column in zip(*rows, strict=True))
    x = tuple(float(count) for count in steps)
    panel = Panel(
        (
            Curve("composition", "all iterates, composition", x, composed, color=COLORS["grey"], line=":"),
            Curve("last iterate", "last iterate", x, ours, color=COLORS["blue"], width=2.0),
            Curve("lower", "last iterate, at least", x, below, Status.LOWER, color=COLORS["black"], line="--"),
            Curve("linear", "linear losses", x, linear, Status.ESTIMATE, color=COLORS["orange"], line="-."),
        ),
        top=1.5 * max(composed),
        bottom=max(min(value for value in (*below, *linear) if value > 0) / 2, min(ours) / 100),
        across="steps $T$",
        upward="$\\varepsilon$",
        title=f"δ = {advice.delta:g}",
    )
    note = f"{advice.assumption.statement}; {advice.run.scheme.statement.format(run=advice.run)}."
    return Figure("What the last iterate costs, by the length of the run", note, (panel,))


def _row(advice: Advice, run: NoisySGD) -> tuple[float, float, float, float]:
    delta, plain = advice.delta, replace(run, diameter=inf, weight_decay=0.0)
    return (
        bound(plain, Clipped(), delta=delta).epsilon,
        bound(run, advice.assumption, delta=delta).epsilon,
        lower_bound(run, advice.assumption, delta=delta).value or nan,  # nothing is known
        lower_bound(plain, Convex(0.0), delta=delta).value,
    )
