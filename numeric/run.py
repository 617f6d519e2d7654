"""Description of runs of noisy SGD, without accounting.

Searches for paths use floats, and their certificates assume relative errors of a few units in the last place.
Runs whose products and squares may leave the range of floats are rejected (`refuse_extreme`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, nextafter
from typing import Any

from lastiterate.numeric.errors import InputError, count, is_list, positive, suggestion, teaches, within
from lastiterate.numeric.schemes import GROUPS, SCHEMES, Scheme

Schedule = float | tuple[float, ...]
"""One number for all steps, or one number per step."""

_LENGTH, _APART = 1e60, 1e30
"""Largest number that float searches can handle, and largest ratio of two lengths."""


def _schedule(name: str, value: Any, steps: int, each: Callable[[str, Any], Any] = positive) -> Any:
    if not is_list(value):
        return each(name, value)
    entries = tuple(each(f"{name}[{t}]", entry) for t, entry in enumerate(value))
    if len(entries) != steps:
        raise InputError(
            f"{name} needs one number, or a list of steps={steps} numbers, got {len(entries)} numbers; "
            "give one number per step."
        )
    return entries[0] if len(set(entries)) == 1 else entries


class StepSchedule:
    """Batch, step size and noise of every step of a run."""

    steps: int
    step_size: Schedule
    noise_std: Schedule
    dataset_size: int
    batch_size: int | tuple[int, ...] | None
    sampling: str

    @property
    def batch(self) -> int:
        """Number of samples in an update; raises `InputError` if the number varies."""
        if isinstance(self.batch_size, tuple):
            raise InputError(
                f"This computation needs one batch_size for all steps, got a schedule of {min(self.batch_size)} to "
                f"{max(self.batch_size)}; bound, bound_by_shifts, compare and lower_bound accept a schedule."
            )
        return self.dataset_size if self.batch_size is None else self.batch_size

    def batch_at(self, t: int) -> int:
        """Number of samples in step t, from iterate t to t + 1; the expected number for Poisson batches."""
        return self.batch_size[t] if isinstance(self.batch_size, tuple) else self.batch

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """Distinct batch sizes in increasing order."""
        return tuple(sorted(set(self.batch_size))) if isinstance(self.batch_size, tuple) else (self.batch,)

    @property
    def batch_text(self) -> str:
        """Size of a batch, in words."""
        return str(self.batch_sizes[0]) if len(self.batch_sizes) == 1 else "its size in the schedule"

    @property
    def batches(self) -> int:
        """Number of batches in an epoch; 1 for full batches."""
        return self.dataset_size // self.batch

    @property
    def constant(self) -> bool:
        """Tell whether step size, noise and batch size are all constant."""
        return not any(isinstance(one, tuple) for one in (self.step_size, self.noise_std, self.batch_size))

    def step_size_at(self, t: int) -> float:
        """Step size eta of step t."""
        return self.step_size[t] if isinstance(self.step_size, tuple) else self.step_size

    def noise_std_at(self, t: int) -> float:
        """Standard deviation of the noise of step t."""
        return self.noise_std[t] if isinstance(self.noise_std, tuple) else self.noise_std


@teaches()
@dataclass(frozen=True)
class NoisySGD(StepSchedule):
    """Projected noisy SGD with per-sample clipping, of which only the last iterate is released.

    ``W <- Proj_K[(1 - step_size weight_decay) W - step_size / batch * sum over the batch of clip(grad) + N(0,
    noise_std^2 I)]``, which without weight decay is (1) of Chien & Li 2025.

    Attributes:
        steps: number of updates T.
        step_size: eta, in length / gradient; one number or one per step.
        noise_std: standard deviation of the Gaussian added to the *iterate*, a length; one number or one per step.
            For noise added to the gradient see `gradient_noise`.
        clip_norm: bound K on the norm of every per-sample gradient.
        dataset_size: number n of samples.
        batch_size: samples per update; None for all. For "poisson" batches, the expected number, by which the
            sum of gradients is always divided. "poisson" and "without_replacement" also take a list with one
            number per step, fixed before training.
        sampling: "full" batches; "cyclic": dataset_size / batch_size fixed batches in the same order in every
            epoch; "shuffled": as many batches from a fresh uniform permutation in every epoch;
            "without_replacement": an independent batch of exactly batch_size samples in every step; or
            "poisson": each sample is in each batch independently, with probability batch_size / dataset_size.
        diameter: largest distance between two points of the domain (not the radius), a length; inf for no
            projection.
        adjacency: "replace": two data sets differ in one sample; "add_remove", only for "poisson" batches:
            one data set has an additional sample, which dataset_size includes.
        group: number k of samples, such as those of one person, in which the two data sets can differ.
        weight_decay: lambda, gradient / length, applied outside the clipping; 0 <= step_size lambda <= 1.
        momentum: beta in [0, 1); an update also adds beta (W - W'), with the iterate W' before W, at first W itself:
            a projected heavy ball. It needs full batches, one step_size and one noise_std.
        nesterov: whether gradients are taken at W + beta (W - W'), and weight decay too. The assumption on the losses
            must then hold up to momentum * diameter outside the domain.

    Raises:
        InputError: a value is out of range, not a number, or a schedule of the wrong length.

    >>> NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5).batch
    5
    """

    steps: int
    step_size: Schedule
    noise_std: Schedule
    clip_norm: float
    dataset_size: int
    batch_size: int | tuple[int, ...] | None = None
    sampling: str = "full"
    diameter: float = inf
    adjacency: str = ""
    weight_decay: float = 0.0
    group: int = 1
    momentum: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "steps", count("steps", self.steps))
        put(self, "step_size", _schedule("step_size", self.step_size, self.steps))
        put(self, "noise_std", _schedule("noise_std", self.noise_std, self.steps))
        put(self, "clip_norm", positive("clip_norm", self.clip_norm))
        sizes: Any = self.dataset_size
        if is_list(sizes):
            raise InputError(
                f"dataset_size needs one number for all steps, got a list of {len(sizes)}; if data are added during "
                "training, bound each stage as a separate run and compose the stages (examples/dp_events.py)."
            )
        put(self, "dataset_size", count("dataset_size", self.dataset_size))
        put(self, "diameter", positive("diameter", self.diameter, finite=False))
        longest = max(self.step_size) if isinstance(self.step_size, tuple) else self.step_size
        decay = within(
            "weight_decay",
            self.weight_decay,
            f"a number from 0 to 1 / step_size = {1 / longest:g}",
            lambda x: isfinite(x) and x >= 0 and Fraction(x) * Fraction(longest) <= 1,
            "0 means none.",
        )
        put(self, "weight_decay", decay)
        if self.batch_size is not None:
            put(self, "batch_size", _schedule("batch_size", self.batch_size, self.steps, count))
        if self.batch_sizes[-1] > self.dataset_size:
            raise InputError(
                f"batch_size must be at most dataset_size={self.dataset_size}, got "
                f"batch_size={self.batch_sizes[-1]}; leave it out for full batches."
            )
        put(self, "group", count("group", self.group))
        if self.group > self.batch_sizes[0]:
            hint = "bound smaller groups that make up this one, and add their values of mu."
            if self.sampling == "poisson":
                hint = "bound one sample, and multiply epsilon by group, delta by group * exp((group - 1) * epsilon)."
            raise InputError(
                f"group must be at most batch_size={self.batch_sizes[0]}, got group={self.group}; {hint}"
            )
        if not isinstance(self.sampling, str) or self.sampling not in SCHEMES:
            raise InputError(
                f"sampling must be one of {', '.join(SCHEMES)}, got sampling={self.sampling!r}; "
                f"{suggestion(self.sampling, SCHEMES)}"
            )
        if sentence := SCHEMES[self.sampling].refusal(self):
            raise InputError(sentence)
        supported = SCHEMES[self.sampling].adjacency
        put(self, "adjacency", supported if self.adjacency == "" else self.adjacency)
        if self.adjacency != supported:
            raise InputError(
                f"sampling={self.sampling!r} needs adjacency={supported!r}, got adjacency={self.adjacency!r}; "
                "Poisson batches are accounted for under add_remove, all others under replace."
            )
        self._check_momentum()

    def _check_momentum(self) -> None:
        beta = within(
            "momentum", self.momentum, "a number from 0 to below 1", lambda x: 0 <= x < 1, "0 means none."
        )
        object.__setattr__(self, "momentum", beta)
        if not isinstance(self.nesterov, bool) or (self.nesterov and not beta):
            raise InputError(
                f"nesterov must be True or False, and needs a momentum, got nesterov={self.nesterov!r} with "
                f"momentum={beta:g}; leave it out, or give a momentum."
            )
        if beta and not (self.constant and self.scheme.full):
            raise InputError(
                f"momentum needs full batches, one step_size and one noise_std, got momentum={beta:g} with "
                f"sampling={self.sampling!r}; its theorem has equal steps that all use the sample, so leave batch_size "
                "out, or compose the steps (examples/dp_events.py)."
            )

    @classmethod
    @teaches()
    def gradient_noise(cls, *, gradient_noise_std: float, step_size: float, **rest: Any) -> "NoisySGD":
        """Describe a run with noise on the averaged *gradient*: noise_std = step_size * gradient_noise_std.

        The product is rounded down. Source: Altschuler & Talwar 2022 and Liang et al. 2026.

        >>> NoisySGD.gradient_noise(gradient_noise_std=5, step_size=0.2, steps=1, clip_norm=1, dataset_size=5).noise_std
        1.0
        """
        eta, std = positive("step_size", step_size), positive("gradient_noise_std", gradient_noise_std)
        noise = eta * std
        if isfinite(noise) and Fraction(noise) > Fraction(eta) * Fraction(std):
            noise = nextafter(noise, 0.0)
        return cls(step_size=eta, noise_std=noise, **rest)

    @cached_property
    def scheme(self) -> Scheme:
        """Scheme of the batches; under replace-one adjacency, batches of all samples are full."""
        whole = self.batch_sizes == (self.dataset_size,) and self.adjacency == "replace"
        found = SCHEMES["full" if whole else self.sampling]
        return found if self.group == 1 or found.fixed_size else replace(found, claim=GROUPS)

    @cached_property
    def period(self) -> int:
        """Number of steps in which a sample is used once; 1 if every step may use it."""
        return 1 if self.scheme.random else self.batches


def described_run(what: str, run: object, *, groups: bool = False, momentum: bool = False) -> NoisySGD:
    """Return the run; raise `InputError` if it is not a `NoisySGD`, or has a group or momentum that is not covered."""
    if not isinstance(run, NoisySGD):
        raise InputError(f"{what} needs a NoisySGD, got run={type(run).__name__}; describe it first.")
    if run.momentum and not momentum:
        raise InputError(
            f"{what} needs a run without momentum, got momentum={run.momentum:g}; bound, calibrate and sweep take it."
        )
    if run.group > 1 and not groups:
        raise InputError(
            f"{what} needs data sets that differ in one sample, got group={run.group}; leave group out, or call bound."
        )
    return run


def extreme(run: NoisySGD, assumption: object) -> str:
    """First number that float searches cannot handle, as ``name=value``; "" if there is none."""
    # An infinite L is a class of its own, not a large number.
    constants = [(name, value) for name, value in _numbers(assumption, "assumption") if isfinite(value)]
    for field in ("clip_norm", "diameter", "step_size", "noise_std"):
        for name, value in _numbers(getattr(run, field), field):
            if isfinite(value) and not 1 / _LENGTH <= value <= _LENGTH:
                return f"{name}={value:g}"
    for name, value in constants:  # tiny constants are harmless, except distances, which must differ
        if value > _LENGTH or (name.startswith("distances") and value < 1 / _LENGTH):
            return f"{name}={value:g}"
    etas, noises = ([x for _, x in _numbers(one, "")] for one in (run.step_size, run.noise_std))
    lengths = [("noise_std", min(noises)), ("noise_std", max(noises))]
    lengths += [("diameter", run.diameter)] if isfinite(run.diameter) else []
    move = "step_size * clip_norm / batch_size"
    lengths += [(move, min(etas) * run.clip_norm / run.batch_sizes[-1]), (move, max(etas) * run.clip_norm)]
    (least_name, least), *_, (most_name, most) = sorted(lengths, key=lambda pair: pair[1])
    if most > least * _APART:
        return f"{most_name}={most:g} and {least_name}={least:g}"
    for name, value in constants:
        if value * max(etas) > _APART:
            return f"{name}={value:g} with step_size={max(etas):g}"
    return ""


def refuse_extreme(what: str, run: NoisySGD, assumption: object) -> None:
    """Raise `InputError` if float searches, which ``what`` needs, cannot handle the run."""
    found = extreme(run, assumption)
    if found:
        raise InputError(
            f"{what} needs numbers between {1 / _LENGTH:g} and {_LENGTH:g}, and lengths within a factor of {_APART:g} "
            f"of each other, got {found}; measure lengths in another unit."
        )


def _numbers(value: object, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from _numbers(part, f"{name}[{i}]")
    elif is_dataclass(value):
        for one in fields(value):
            yield from _numbers(getattr(value, one.name), one.name)
