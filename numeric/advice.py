"""Advice on a planned run: whether and when releasing only the last iterate helps, and which changes help.

Source: ours; the linear heuristic of Steinke et al. 2024 (arXiv 2410.06186) is the privacy loss of the run if
all losses were linear, and not a bound for other losses.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isfinite, nan, sqrt
from typing import Any, Final

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError, chance, teaches
from lastiterate.numeric.explain import why_composition
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Smooth, StronglyConvex
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.rounding import exact, printed_down, printed_up
from lastiterate.numeric.run import NoisySGD, described_run

HELPS: Final = 0.95
"""The last iterate helps if its epsilon is at most this share of the epsilon of composition."""

_NARROW: Final = 4.0
_FORGETS: Final = 10.0
"""Suggested: diameter = noise_std * sqrt(steps) / _NARROW, and weight_decay >= _FORGETS / (steps * step_size)."""


@dataclass(frozen=True)
class Knob:
    """A change of the run, the changed run, and upper bounds on epsilon for the last and for all iterates."""

    change: str
    run: NoisySGD
    epsilon: float
    composed: float

    def as_row(self) -> dict[str, Any]:
        """The change and its bounds."""
        return {"change": self.change, "epsilon": self.epsilon, "composition": self.composed}


@teaches()
@dataclass(frozen=True)
class Advice(Displayed):
    """Advice on a run; every epsilon is at ``delta``.

    Attributes:
        found: bound for the last iterate.
        composed: epsilon of all steps by composition, rounded up.
        below: lower bound on the epsilon of the last iterate.
        linear: estimate of epsilon for linear losses without a domain; nan if unknown.
        helps_from: smallest number of steps for which the last iterate helps, or None.
        stop_after: largest number of steps whose composition costs at most as much as the last iterate, or
            None.
        why: reason why the last iterate does not help; empty if it does.
        knobs: changes of the run, best first.
    """

    run: NoisySGD
    assumption: Assumption
    delta: float
    found: Bound
    composed: float
    below: float
    linear: float
    helps_from: int | None
    stop_after: int | None
    why: str
    knobs: tuple[Knob, ...]

    @property
    def helps(self) -> bool:
        """Tell whether the last iterate costs noticeably less than composition (`HELPS`)."""
        return self.found.epsilon <= HELPS * self.composed

    @property
    def in_words(self) -> str:
        """The advice in one or two sentences."""
        if not self.helps:
            return f"Releasing only the last iterate gains nothing here: {self.why}."
        gain = f"Releasing only the last iterate helps from about {self.helps_from} steps on."
        if self.stop_after is None:
            return gain
        return (
            f"{gain} But releasing all iterates of the first {self.stop_after} steps costs no more than releasing "
            f"only the last iterate of {self.run.steps} steps: if so few steps train well enough, stop after them."
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "kind": "advice",
            "delta": self.delta,
            "bound": self.found.as_dict(),
            "composition": self.composed,
            "lower_bound": self.below,
            "linear_estimate": self.linear,
            "helps": self.helps,
            "helps_from": self.helps_from,
            "stop_after": self.stop_after,
            "in_words": self.in_words,
            "knobs": [knob.as_row() for knob in self.knobs],
        }

    def records(self) -> list[dict[str, Any]]:
        plan = Knob("as planned", self.run, self.found.epsilon, self.composed)
        return [one.as_row() | {"delta": self.delta} for one in (plan, *self.knobs)]

    def table(self) -> TextTable:
        rows: list[tuple[str, ...]] = []
        for row in self.records():
            gain = 1 - row["epsilon"] / self.found.epsilon
            said = f"{gain:.0%} less" if gain >= 0.01 else "no help" if rows else ""
            rows.append((row["change"], printed_up(row["epsilon"]), printed_up(row["composition"]), said))
        by = f"As planned, epsilon follows by {self.found.route}"
        by += f"; no bound is below {printed_down(self.below)}." if self.below > 0 else "."
        if isfinite(self.run.diameter) and self.linear > 0:  # otherwise the lower bound covers linear losses
            by += f" Linear losses without the domain would give {self.linear:.6g}: an estimate, not a bound."
        caption = f"epsilon at delta = {self.delta:g}, {self.run.steps} steps"
        return TextTable(
            caption, ("change", "last iterate", "all iterates", ""), tuple(rows), (by, self.in_words)
        )


@teaches(order="advise needs a delta; bound accepts an order.")
def advise(run: NoisySGD, assumption: Assumption, *, delta: float) -> Advice:
    """Bound a planned run from above and below, and examine shorter runs and possible changes.

    Raises:
        InputError: as in `bound`, or the run has a schedule.

    >>> advice = advise(NoisySGD(2000, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0), Convex(1.0), delta=1e-5)
    >>> advice.helps, advice.helps_from < 20, advice.stop_after
    (True, True, 2)
    """
    described_run("advise", run)
    delta = chance("delta", delta, -inf)
    if not run.constant:
        raise InputError(
            f"advise needs one step_size and noise_std for all steps, got a schedule over steps={run.steps}; give "
            "single numbers, or call bound for the schedule."
        )

    def epsilon(one: NoisySGD, losses: Assumption) -> float:
        return bound(one, losses, delta=delta).epsilon

    def composed(steps: int) -> float:
        return epsilon(replace(run, steps=steps, diameter=inf, weight_decay=0.0), Clipped())

    def helps_at(steps: int) -> bool:
        return epsilon(replace(run, steps=steps), assumption) <= HELPS * composed(steps)

    found, all_steps = bound(run, assumption, delta=delta), composed(run.steps)
    knobs = []
    for words, one, losses in _changes(run, assumption):
        plain = replace(one, diameter=inf, weight_decay=0.0)
        knobs.append(Knob(words, one, epsilon(one, losses), epsilon(plain, Clipped())))
    helps = found.epsilon <= HELPS * all_steps
    return Advice(
        run=run,
        assumption=assumption,
        delta=delta,
        found=found,
        composed=all_steps,
        below=lower_bound(run, assumption, delta=delta).value,
        linear=lower_bound(replace(run, diameter=inf), Convex(0.0), delta=delta).value or nan,
        helps_from=bisect_left(range(run.steps), True, lo=1, key=helps_at) if helps else None,
        stop_after=bisect_right(range(run.steps + 1), found.epsilon, lo=1, key=composed) - 1 or None,
        why="" if helps else _why(run, assumption),
        knobs=tuple(sorted(knobs, key=lambda one: one.epsilon)),
    )


def _changes(run: NoisySGD, assumption: Assumption) -> Iterator[tuple[str, NoisySGD, Assumption]]:
    crossed = run.noise_std_at(0) * sqrt(run.steps)
    if not isfinite(run.diameter) or run.diameter > crossed / _NARROW:
        width = float(f"{crossed / _NARROW:.2g}")
        yield f"a domain of diameter {width:g}", replace(run, diameter=width), assumption
    else:
        yield (
            f"half the domain, diameter {run.diameter / 2:g}",
            replace(run, diameter=run.diameter / 2),
            assumption,
        )
    decay = float(
        f"{max(_FORGETS / run.steps, 2 * run.weight_decay * run.step_size_at(0)) / run.step_size_at(0):.2g}"
    )
    if decay * run.step_size_at(0) <= 1:
        with suppress(InputError):  # the product rounds to 1, or the assumption does not admit the decay
            decayed = replace(run, weight_decay=decay)
            assumption.expansion(decayed, 0, differs=True)
            yield f"weight decay {decay:g}, not clipped", decayed, assumption
    if run.steps > 1:
        yield f"half the steps, {run.steps // 2}", replace(run, steps=run.steps // 2), assumption
    if run.batch < run.dataset_size and run.adjacency == "replace":
        for sampling in ("cyclic", "shuffled", "without_replacement"):
            if sampling != run.sampling and run.dataset_size % run.batch == 0:
                yield f"{sampling.replace('_', ' ')} batches", replace(run, sampling=sampling), assumption


def _why(run: NoisySGD, assumption: Assumption) -> str:
    eta, line = run.step_size_at(0), why_composition(run)
    match assumption:
        case Convex() | StronglyConvex():
            return line
        case Clipped():
            length = 2 * run.clip_norm * eta
            return (
                f"with clipping, a step can add 2 K step_size = {length:g} to the distance between runs; {line}"
            )
        case Smooth():
            factor = float(1 + exact(eta) * exact(assumption.L))
            return (
                "without convexity, a step can multiply the distance between two runs by 1 + step_size L = "
                f"{factor:.4g}, so earlier steps are not forgotten; {line}"
            )
    return f"without convexity, updates can expand distances, so earlier steps are not forgotten; {line}"
