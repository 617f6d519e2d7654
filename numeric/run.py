"""The description of a run of noisy SGD; accounting for it is elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, isnan, nextafter
from numbers import Integral, Real
from typing import Any, Final

from lastiterate.numeric.errors import InputError, suggestion

__all__ = ["SCHEMES", "NoisySGD", "Schedule", "Scheme", "described_run", "renyi_order"]

Schedule = float | tuple[float, ...]
"""One number for all steps, or one number a step."""


@dataclass(frozen=True)
class Scheme:
    """How the batches of a run are drawn.

    Attributes:
        name: as in `NoisySGD.sampling`.
        statement: what a number for the run assumes of the batches, to be formatted with the run.
        claim: key of the ledger's claim behind a bound; empty where that of the losses says all.
        random: whether every batch is drawn afresh.
        in_epochs: whether every sample is met once an epoch.
        adjacency: the relation of data sets that is accounted for.
    """

    name: str
    statement: str
    claim: str = ""
    random: bool = False
    in_epochs: bool = False
    adjacency: str = "replace"

    @property
    def fixed(self) -> bool:
        """Whether it is known in advance which batches meet a sample."""
        return self.name in ("full", "cyclic")


SCHEMES: Final = {
    one.name: one
    for one in (
        Scheme("full", "batches are full"),
        Scheme(
            "cyclic",
            "the {run.batches} batches are fixed in advance and come in the same order in every epoch",
            "ours/cyclic/last_step",
            in_epochs=True,
        ),
        Scheme(
            "shuffled",
            "the {run.batches} batches of an epoch are cut from a fresh uniform permutation, the same for both data "
            "sets",
            "ours/shuffled/worst",
            in_epochs=True,
        ),
        Scheme(
            "without_replacement",
            "each batch is {run.batch} of the {run.dataset_size} samples, drawn independently",
            "ours/sampled/step",
            random=True,
        ),
        Scheme(
            "poisson",
            "every sample is in every batch with chance {run.batch}/{run.dataset_size}, independently, and the sum of "
            "gradients is divided by {run.batch}; nothing is assumed of the sizes of the batches",
            "ours/poisson/step",
            random=True,
            adjacency="add_remove",
        ),
    )
}
_MOST = 10**15


def real(name: str, value: Any, need: str) -> float:
    """The value as a float, or an `InputError` that says what is needed."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write a number.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{name} needs {need}, got a {name} beyond every float; write a smaller number.") from None
    if isnan(number):
        raise InputError(f"{name} needs {need}, got {name}=nan; check where the value comes from.")
    return number


def positive(name: str, value: Any, *, finite: bool = True) -> float:
    """The value as a float above zero."""
    need = "a positive number"
    number = real(name, value, need)
    if number <= 0 or (finite and not isfinite(number)):
        raise InputError(f"{name} needs {need}, got {name}={number:g}; give a value above 0.")
    return number


def chance(name: str, value: Any) -> float:
    """The value as a float in (0, 1)."""
    need = "a number in (0, 1)"
    number = real(name, value, need)
    if not 0 < number < 1:
        raise InputError(f"{name} needs {need}, got {name}={number:g}; choose one between them.")
    return number


def renyi_order(value: Any) -> float:
    """The order of a Renyi divergence: a finite float above 1."""
    number = real("order", value, "a finite number above 1")
    if not (number > 1 and isfinite(number)):
        raise InputError(f"order needs a finite number above 1, got order={number:g}; 2 is customary.")
    return number


def count(name: str, value: Any, least: int = 1) -> int:
    """The value as an integer of at least ``least``."""
    need = f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write an integer.")
    number = int(value)
    if number > _MOST:  # it may have too many digits to be printed
        raise InputError(f"{name} needs a whole number of at most {_MOST:g}, got a larger {name}; lower it.")
    if number < least:
        raise InputError(f"{name} needs {need}, got {name}={max(number, -_MOST)}; give at least {least}.")
    return number


def _schedule(name: str, value: Any, steps: int) -> Schedule:
    if isinstance(value, str | Real) or not (isinstance(value, Sequence) or hasattr(value, "__array__")):
        return positive(name, value)
    entries = tuple(positive(f"{name}[{t}]", entry) for t, entry in enumerate(value))
    if len(entries) != steps:
        raise InputError(
            f"{name} needs one number or one for each of the steps={steps}, got {len(entries)} numbers; "
            "give a list as long as the run."
        )
    return entries[0] if len(set(entries)) == 1 else entries


@dataclass(frozen=True)
class NoisySGD:
    """Projected noisy SGD with per-sample clipping, of which only the last iterate is released.

    ``W <- Proj_K[W - step_size / batch * sum over the batch of clip(grad) + N(0, noise_std^2 I)]``,
    Chien & Li 2025, (1).

    Attributes:
        steps: number of updates T.
        step_size: eta, in length / gradient; one number or one a step.
        noise_std: standard deviation of the Gaussian added to the *iterate*, a length; one number or one a
            step. For noise added to the gradient see `gradient_noise`.
        clip_norm: bound K on the norm of every per-sample gradient.
        dataset_size: number n of samples.
        batch_size: samples in an update; None for all of them. For "poisson" batches the expected number, by which
            the sum of the gradients is divided whatever the batch turns out to be.
        sampling: "full" batches; "cyclic", dataset_size / batch_size fixed batches in the same order in every
            epoch; "shuffled", as many batches from a fresh uniform permutation in every epoch;
            "without_replacement", an independent batch of exactly batch_size samples in every step; or "poisson",
            every sample is in every batch with chance batch_size / dataset_size, independently.
        diameter: greatest distance of two points of the domain (not its radius), a length; inf for no
            projection.
        adjacency: "replace": two data sets differ in one sample; "add_remove": one of them has a sample more, and
            dataset_size counts it. By default the one that is accounted for: "add_remove" for "poisson" batches,
            "replace" for all others.

    Raises:
        InputError: a value is missing its meaning (negative, NaN, a text, a schedule of the wrong length).

    Source: Chien & Li 2025, section 1.1 and (1).

    >>> NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5).batch
    5
    """

    steps: int
    step_size: Schedule
    noise_std: Schedule
    clip_norm: float
    dataset_size: int
    batch_size: int | None = None
    sampling: str = "full"
    diameter: float = inf
    adjacency: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "steps", count("steps", self.steps))
        put(self, "step_size", _schedule("step_size", self.step_size, self.steps))
        put(self, "noise_std", _schedule("noise_std", self.noise_std, self.steps))
        put(self, "clip_norm", positive("clip_norm", self.clip_norm))
        put(self, "dataset_size", count("dataset_size", self.dataset_size))
        put(self, "diameter", positive("diameter", self.diameter, finite=False))
        if self.batch_size is not None:
            put(self, "batch_size", count("batch_size", self.batch_size))
            if self.batch > self.dataset_size:
                raise InputError(
                    f"batch_size needs to be at most dataset_size={self.dataset_size}, got "
                    f"batch_size={self.batch_size}; leave it out for full batches."
                )
        if not isinstance(self.sampling, str) or self.sampling not in SCHEMES:
            raise InputError(
                f"sampling needs to be one of {', '.join(SCHEMES)}, got sampling={self.sampling!r}; "
                f"{suggestion(self.sampling, SCHEMES)}"
            )
        if self.sampling == "full" and self.batch != self.dataset_size:
            raise InputError(
                f"sampling='full' needs batch_size equal to dataset_size={self.dataset_size}, got "
                f"batch_size={self.batch_size}; leave batch_size out, or use sampling='cyclic'."
            )
        if SCHEMES[self.sampling].in_epochs and self.dataset_size % self.batch:
            raise InputError(
                f"sampling={self.sampling!r} needs a batch_size that divides dataset_size={self.dataset_size}, got "
                f"batch_size={self.batch_size}; drop the samples that are left over."
            )
        supported = SCHEMES[self.sampling].adjacency
        put(self, "adjacency", supported if self.adjacency == "" else self.adjacency)
        if self.adjacency != supported:
            raise InputError(
                f"sampling={self.sampling!r} needs adjacency={supported!r}, got adjacency={self.adjacency!r}; "
                "Poisson batches are accounted for under add_remove, all others under replace."
            )

    @classmethod
    def gradient_noise(cls, *, gradient_noise_std: float, step_size: float, **rest: Any) -> "NoisySGD":
        """A run whose noise is added to the averaged *gradient*: noise_std = step_size * gradient_noise_std.

        The product is rounded down. Source: the convention of Altschuler & Talwar 2022 and Liang et al. 2026.

        >>> NoisySGD.gradient_noise(gradient_noise_std=10, step_size=0.1, steps=1, clip_norm=1,
        ...                         dataset_size=5).noise_std
        1.0
        """
        eta, std = positive("step_size", step_size), positive("gradient_noise_std", gradient_noise_std)
        noise = eta * std
        if isfinite(noise) and Fraction(noise) > Fraction(eta) * Fraction(std):
            noise = nextafter(noise, 0.0)
        return cls(step_size=eta, noise_std=noise, **rest)

    @property
    def batch(self) -> int:
        """The number of samples in an update."""
        return self.dataset_size if self.batch_size is None else self.batch_size

    @property
    def batches(self) -> int:
        """The number of batches in an epoch, where there are epochs; 1 for full batches."""
        return self.dataset_size // self.batch

    @cached_property
    def scheme(self) -> Scheme:
        """How its batches are drawn; batches of all samples are full batches, however they are called."""
        whole = self.batch == self.dataset_size and self.adjacency == "replace"
        return SCHEMES["full" if whole else self.sampling]

    @cached_property
    def period(self) -> int:
        """The number of steps in which a sample is met once; 1 where it may be met in every step."""
        return 1 if self.scheme.random else self.batches

    @property
    def constant(self) -> bool:
        """Whether neither the step size nor the noise changes over time."""
        return not isinstance(self.step_size, tuple) and not isinstance(self.noise_std, tuple)

    def step_size_at(self, t: int) -> float:
        """Eta of the update from iterate t to t + 1."""
        return self.step_size[t] if isinstance(self.step_size, tuple) else self.step_size

    def noise_std_at(self, t: int) -> float:
        """Standard deviation of the noise in the update from iterate t to t + 1."""
        return self.noise_std[t] if isinstance(self.noise_std, tuple) else self.noise_std


def described_run(what: str, run: object) -> NoisySGD:
    """The run itself, or an `InputError` where it is none; ``what`` needs it."""
    if not isinstance(run, NoisySGD):
        raise InputError(f"{what} needs a NoisySGD, got run={type(run).__name__}; describe the run first.")
    return run
