"""What is said of a printed theorem, and the conditions that one may need beyond scheme and assumption.

A condition maps a run and an assumption to what is missing, in words; to nothing where it is met.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.evaluators import EVALUATORS, Setting
from lastiterate.numeric.run import NoisySGD, described_run, positive
from lastiterate.numeric.shift_program.float_range import refuse_extreme

__all__ = [
    "Evaluator",
    "Theorem",
    "bounded",
    "by_setting",
    "nothing",
    "one_gradient_noise",
    "short_step",
    "smooth_only",
    "unbounded",
    "whole_epochs",
]

Evaluator = Callable[[NoisySGD, Assumption, float], float]
Refusal = Callable[[NoisySGD, Assumption], str]


def nothing(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """What else a theorem needs of a run: nothing."""
    return ""


def bounded(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """A domain of finite diameter."""
    return "" if isfinite(run.diameter) else "a domain of finite diameter"


def unbounded(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """No projection."""
    return "a run without projection" if isfinite(run.diameter) else ""


def short_step(run: NoisySGD, assumption: Assumption) -> str:
    """step_size <= 1/L."""
    L = getattr(assumption, "L", 0.0)
    return "" if run.step_size_at(0) * L <= 1 else "step_size <= 1/L"


def whole_epochs(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """Steps that make whole epochs."""
    return "" if run.steps % run.batches == 0 else "whole epochs"


def one_gradient_noise(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """Noise of one size on the gradient."""
    first = run.noise_std_at(0) / run.step_size_at(0)
    same = all(abs(run.noise_std_at(t) / run.step_size_at(t) - first) <= 1e-12 * first for t in range(run.steps))
    return "" if same else "noise of one size on the gradient, noise_std in proportion to step_size"


def smooth_only(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """A Hoelder order of 1."""
    return "" if getattr(assumption, "lam", 1.0) == 1 else "smooth losses, a Hoelder order of 1"


@dataclass(frozen=True)
class Theorem:
    """A theorem of a paper.

    Attributes:
        name: by which it is asked for.
        title: as a reader knows it.
        claim: key of the ledger's claim that decides it.
        kind: "bound", "refuted" or "gap"; only a bound is a bound.
        schemes: values of `NoisySGD.sampling` it speaks of; none where its run is no `NoisySGD`.
        kinds: assumptions it speaks of.
        evaluate: run, assumption and order to the Renyi epsilon it claims, rounded up.
        reading: how the paper's quantities are read off the run, and which constants are used.
        needs: what else the run must have, in words; empty where it has.
        schedules: whether it speaks of step sizes and noise that vary, and only of them.
    """

    name: str
    title: str
    claim: str
    kind: str
    schemes: tuple[str, ...]
    kinds: tuple[type[Assumption], ...]
    evaluate: Evaluator
    reading: str
    needs: Refusal = nothing
    schedules: bool = False

    @property
    def usable(self) -> bool:
        """Whether the number is a bound."""
        return self.kind == "bound"

    def refusal(self, run: NoisySGD, assumption: Assumption) -> str:
        """Why the theorem says nothing of this run: what it needs. Empty where it does say something."""
        if run.sampling not in self.schemes:
            return f"batches that are {' or '.join(self.schemes)}" if self.schemes else "an algorithm of its own"
        if not isinstance(assumption, self.kinds):
            return f"losses that are {' or '.join(kind.__name__ for kind in self.kinds)}"
        if run.constant == self.schedules:
            return "step sizes that vary" if self.schedules else "one step size and one noise for all steps"
        return self.needs(run, assumption)

    def epsilon(self, run: NoisySGD, assumption: Assumption, order: float) -> float:
        """What the theorem claims, rounded up; inf where it claims nothing.

        Raises:
            InputError: the theorem does not speak of this run.
        """
        missing = self.refusal(described_run(self.title, run), assumption)
        if missing:
            raise InputError(
                f"{self.title} needs {missing}, got sampling={run.sampling!r}, "
                f"assumption={type(assumption).__name__}; see lastiterate.numeric.published."
            )
        order = positive("order", order)
        refuse_extreme(self.title, run, assumption)
        return self.evaluate(run, assumption, order)


def by_setting(name: str) -> Evaluator:
    """The evaluator of this name in `lastiterate.numeric.published.evaluators`, asked with a run."""

    def evaluate(run: NoisySGD, assumption: Assumption, order: float) -> float:
        return EVALUATORS[name](_setting(run, assumption, order))

    return evaluate


def _setting(run: NoisySGD, assumption: Assumption, order: float) -> Setting:
    return {
        "T": run.steps,
        "n": run.dataset_size,
        "eta": run.step_size_at(0),
        "sigma": run.noise_std_at(0),
        "K": run.clip_norm,
        "D": run.diameter,
        "L": getattr(assumption, "L", 0.0),
        "lam": getattr(assumption, "lam", 1.0),
        "m": getattr(assumption, "m", 0.0),
        "alpha": order,
    }
