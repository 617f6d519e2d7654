"""An accountant for Opacus that knows that only the last iterate is released.

Opacus tells an accountant the noise multiplier and the sampling rate of each step. The theorems need more, which
`LastIterateAccountant.describe` takes: the optimiser, for step size, clip norm and batch size; what is assumed of the
losses; the number of samples; and the diameter of the domain, if `project` keeps the parameters in one. The parameters
and batches before the last step must stay secret: no checkpoint, no validation score of an earlier model.

Units: Opacus adds noise of standard deviation sigma C to the sum of the clipped gradients, sigma the noise multiplier
and C max_grad_norm, and divides by the expected batch size b. On the *iterate* that is eta sigma C / b. Batches are
Poisson, and one sample is added or removed.

What cannot be shown falls back to composition, a valid bound without any of this; `LastIterateAccountant.route` says so
and why. Importing this module registers the accountant as "last_iterate".
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from math import inf, isfinite
from typing import Any, cast

from opacus.accountants import IAccountant, register_accountant
from opacus.optimizers import DPOptimizer

from lastiterate.numeric.accounting.composed import Composed, SampledStep
from lastiterate.numeric.accounting.gaussian import gdp_epsilon
from lastiterate.numeric.accounting.pld import composed_epsilon
from lastiterate.numeric.assumptions import Assumption
from lastiterate.numeric.balls import exact, lower, precision
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, count, positive, real
from lastiterate.runtime.opacus.plain import check_plain
from lastiterate.runtime.opacus.projection import Projection, attached, project

__all__ = ["LastIterateAccountant", "Projection", "project"]

_NAME = "last_iterate"
_KEYS = {"history", "mechanism", "step_sizes", "projected", "description"}


@dataclass(frozen=True)
class _Description:
    """What Opacus does not say, as numbers; ``centre`` is a fingerprint."""

    dataset_size: int
    batch_size: int
    clip_norm: float
    diameter: float
    centre: str


class LastIterateAccountant(IAccountant):  # type: ignore[misc]
    """Accounts for DP-SGD of which only the last iterate is released.

    Use it as ``PrivacyEngine(accountant="last_iterate")``, and after ``make_private``, before the first step:

        projection = project(optimizer, diameter=2.0)
        engine.accountant.describe(optimizer, Convex(L=1.0), dataset_size=len(data), diameter=2.0)

    Attributes:
        history: (noise multiplier, sampling rate, number of steps) of runs of equal steps, as Opacus has it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: list[tuple[float, float, int]] = []
        self._step_sizes: list[tuple[float, int]] = []
        self._description: _Description | None = None
        self._assumption: Assumption | None = None
        self._projection: Projection | None = None
        self._projected_before = 0
        self._route = ""

    def describe(
        self, optimizer: DPOptimizer, assumption: Assumption, *, dataset_size: int, diameter: float = inf
    ) -> None:
        """Say what the theorems for the last iterate need; again after a state was loaded.

        Args:
            optimizer: what ``make_private`` returned: plain SGD, flat clipping, gradients divided by the batch size.
            assumption: of the losses on the domain, as `lastiterate.numeric.bound.bound` takes it.
            dataset_size: number n of samples, the one that may be added or removed included.
            diameter: of the domain, a length; inf without projection. Where finite, `project` must be attached.

        Raises:
            InputError: the optimiser does more than plain SGD, the description does not fit it or the state that was
                loaded, or steps were taken before.
        """
        if not isinstance(assumption, Assumption):
            raise InputError(
                f"describe needs an assumption on the losses, got assumption={assumption!r}; for example Smooth(1.0)."
            )
        check_plain(optimizer)
        found = _Description(
            dataset_size=count("dataset_size", dataset_size),
            batch_size=count("expected_batch_size", optimizer.expected_batch_size),
            clip_norm=positive("max_grad_norm", optimizer.max_grad_norm),
            diameter=positive("diameter", diameter, finite=False),
            centre="",
        )
        projection = attached(optimizer)
        if isfinite(found.diameter):
            if projection is None or projection.diameter > found.diameter:
                got = "none" if projection is None else f"one of diameter={projection.diameter:g}"
                raise InputError(
                    f"diameter={found.diameter:g} needs an optimiser that projects onto a domain of that diameter, "
                    f"got {got}; call project(optimizer, {found.diameter:g}) first."
                )
            found = replace(found, centre=projection.fingerprint)
        if self._description is None and len(self):
            raise InputError(
                f"describe needs to come before the first step, got {len(self)} steps without a step size; "
                "describe right after make_private."
            )
        if self._description not in (None, found):
            raise InputError(
                f"describe needs to fit the steps so far, got {found} after {self._description}; "
                "go on with the same clip norm, batch size, data set and centre of the domain."
            )
        self._description, self._assumption = found, assumption
        self._projected_before = self._projected() - (projection.steps if projection else 0)
        self._projection = projection

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step of the optimiser, whose step size is not known: only composition can account for it.

        Args:
            noise_multiplier: sigma.
            sample_rate: q.
        """
        self._count(noise_multiplier, sample_rate, 0.0)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """What Opacus runs in each step: count it, with the step size that the optimiser has by now.

        Args:
            sample_rate: q of one batch.
        """

        def hook(optimizer: DPOptimizer) -> None:
            if self._description is not None:
                check_plain(optimizer)
                if (optimizer.expected_batch_size, optimizer.max_grad_norm) != (
                    self._description.batch_size,
                    self._description.clip_norm,
                ):
                    raise InputError(
                        f"The clip norm and the batch size need to stay as described, got max_grad_norm="
                        f"{optimizer.max_grad_norm:g} and expected_batch_size={optimizer.expected_batch_size}; "
                        "the accountant takes no schedule of either."
                    )
            rate = sample_rate * optimizer.accumulated_iterations
            step_size = optimizer.param_groups[0]["lr"] if optimizer.accumulated_iterations == 1 else 0.0
            self._count(optimizer.noise_multiplier, rate, float(step_size))

        return hook

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """Epsilon of (epsilon, delta)-DP of the last iterate, rounded up; `route` then says how it was found.

        Args:
            delta: in (0, 1).

        Raises:
            InputError: delta is out of range, or the domain was described and steps were not projected to it.
        """
        gdp_epsilon(0.0, delta)  # refuses a delta outside (0, 1)
        composed = composed_epsilon(self.composition(), delta)
        self._route = "composition through PLD"
        if self._description is None or not len(self):
            self._route += ", as describe() was not called"
            return composed
        try:
            found = bound(self.run(), cast(Assumption, self._assumption), delta=delta)
        except InputError as error:
            if isfinite(self._description.diameter) and not self._all_projected():
                raise
            self._route += f", as no theorem for the last iterate applies: {error}"
            return composed
        if found.epsilon < composed:
            self._route = found.route
        return min(found.epsilon, composed)

    @property
    def route(self) -> str:
        """How the last call of `get_epsilon` found its number; empty before it."""
        return self._route

    def composition(self) -> Composed:
        """All steps so far, as if every iterate were released; needs no description."""
        return Composed(0.0, tuple(SampledStep(q, sigma, "add_remove", times) for sigma, q, times in self.history))

    def run(self) -> NoisySGD:
        """The steps so far as a run, the noise rounded down.

        Raises:
            InputError: they were not described, or what happened does not fit the description.
        """
        told = self._description
        if told is None or self._assumption is None:
            raise InputError(
                "A run needs to be described, got no description; call describe(optimizer, assumption, ...) "
                "after make_private, and again after a state was loaded."
            )
        if isfinite(told.diameter) and not self._all_projected():
            raise InputError(
                f"diameter={told.diameter:g} needs a projection after every step, got one after "
                f"{self._projected()} of {len(self)} steps; attach project(optimizer, diameter) before the first."
            )
        for _, rate, _ in self.history:
            if abs(rate * told.dataset_size - told.batch_size) > 1e-9 * told.batch_size:
                raise InputError(
                    f"Poisson batches need their expected size as the divisor, got sample_rate={rate:g} of "
                    f"dataset_size={told.dataset_size} and a divisor of {told.batch_size}; Opacus rounds it down, so "
                    "take a batch size that divides the data set."
                )
        etas = _unrolled(self._step_sizes)
        noises: list[float] = []
        with precision():
            scale = exact(told.clip_norm) / told.batch_size
            for eta, sigma in zip(etas, _unrolled((sigma, times) for sigma, _, times in self.history), strict=True):
                if not eta > 0:
                    raise InputError("Each step needs its step size and one batch, got a step without; do not use "
                                     "gradient accumulation.")  # fmt: skip
                noises.append(lower(exact(eta) * exact(sigma) * scale))
        return NoisySGD(
            steps=len(self),
            step_size=tuple(etas),
            noise_std=tuple(noises),
            clip_norm=told.clip_norm,
            dataset_size=told.dataset_size,
            batch_size=told.batch_size,
            sampling="poisson",
            diameter=told.diameter,
        )

    def __len__(self) -> int:
        """Number of optimiser steps so far."""
        return sum(times for _, _, times in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name under which Opacus knows it."""
        return _NAME

    def state_dict(self, destination: Any = None) -> Any:
        """Numbers alone, for a checkpoint; the assumption and the optimiser are described again after loading.

        Args:
            destination: a mapping to write to; a new one if None.
        """
        found = OrderedDict() if destination is None else destination
        found |= {
            "history": deepcopy(self.history),
            "mechanism": self.mechanism(),
            "step_sizes": deepcopy(self._step_sizes),
            "projected": self._projected(),
            "description": None if self._description is None else _plainly(self._description),
        }
        return found

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state; `describe` must then be called again.

        Args:
            state_dict: what `state_dict` returned.

        Raises:
            InputError: keys are missing or unknown, or a value is not what `state_dict` writes.
        """
        keys = set(state_dict or {})
        if keys != _KEYS:
            raise InputError(
                f"The state needs the keys {', '.join(sorted(_KEYS))}, got missing={sorted(_KEYS - keys)} and "
                f"unknown={sorted(map(str, keys - _KEYS))}; load a state of this accountant."
            )
        if state_dict["mechanism"] != self.mechanism():
            raise InputError(
                f"The state needs mechanism={self.mechanism()!r}, got mechanism={state_dict['mechanism']!r}; "
                "load it into the accountant that wrote it."
            )
        history = [
            (positive("noise_multiplier", a), positive("sample_rate", b), count("steps", c))
            for a, b, c in _rows(state_dict["history"], 3)
        ]
        sizes = [(float(a), count("steps", b)) for a, b in _rows(state_dict["step_sizes"], 2)]
        told = state_dict["description"]
        if told is not None and set(told) != {one.name for one in fields(_Description)}:
            raise InputError(f"The state needs a whole description, got description={told!r}; load an intact one.")
        if sum(times for *_, times in history) != sum(times for _, times in sizes):
            raise InputError("The state needs a step size for every step, got lists of other lengths; load another.")
        self.history, self._step_sizes = history, sizes
        self._projected_before = int(real("projected", state_dict["projected"], "a number of steps"))
        self._description = None if told is None else _Description(**told)
        self._assumption = self._projection = None

    def _count(self, sigma: float, rate: float, step_size: float) -> None:
        _append(self.history, (sigma, rate))
        _append(self._step_sizes, (step_size,))

    def _projected(self) -> int:
        return self._projected_before + (0 if self._projection is None else self._projection.steps)

    def _all_projected(self) -> bool:
        return self._projected() == len(self)


def _append(runs: list[Any], kind: tuple[float, ...]) -> None:
    """One more of a kind at the end of a list of (*kind, number)."""
    times = runs.pop()[-1] if runs and runs[-1][:-1] == kind else 0
    runs.append((*kind, times + 1))


def _unrolled(runs: Iterable[tuple[float, int]]) -> list[float]:
    return [value for value, times in runs for _ in range(times)]


def _plainly(description: _Description) -> dict[str, Any]:
    return {one.name: getattr(description, one.name) for one in fields(description)}


def _rows(value: Any, width: int) -> list[Any]:
    if not isinstance(value, list) or any(not isinstance(row, list | tuple) or len(row) != width for row in value):
        raise InputError(f"The state needs rows of {width} numbers, got {value!r}; load an intact one.")
    return value


register_accountant(_NAME, LastIterateAccountant, force=True)
