"""Moduli of continuity: how much a per-sample gradient changes over a distance.

|g(x) - g(y)| <= omega(|x - y|) for every per-sample gradient g and all x, y in the domain. A sum and a minimum of
moduli are moduli, and so is a measured table (`tabulated`).

Source: docs/proofs/expansions.md; Chien & Li 2025, Definition 2.5.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from inspect import isabstract
from math import inf
from typing import ClassVar, Self

import numpy as np
from flint import arb

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, echo, portion, within
from lastiterate.numeric.losses.expansion import Expansion, Increasing, ModulusExpansion
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD


def constant(name: str, value: object) -> float:
    """The value as a finite float of at least zero, or an `InputError`."""
    return within(name, value, "a finite number of at least 0", lambda x: 0 <= x < inf, "give the constant.")


def sensitivity(run: NoisySGD, t: int, *, differs: bool) -> arb:
    """2 eta K / b where the batch of step t holds the sample that differs, a length; else 0."""
    return 2 * differs * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch_at(t)


def kept(run: NoisySGD, t: int) -> arb:
    """1 - eta lambda: what weight decay leaves of an iterate in step t."""
    return 1 - exact(run.step_size_at(t)) * exact(run.weight_decay)


class Assumption(ABC):
    """Something the losses are assumed to satisfy on the domain."""

    parts: "tuple[Assumption, ...]" = ()
    """What it is made of, where it is made of others."""
    claim: ClassVar[str] = "chien_li/theorem_3_1/gdp/one_step"
    """Key of the ledger's claim that bounds the divergence under this assumption."""

    def __new__(cls, *_: object, **__: object) -> Self:
        """An object without its fields, of a class that says what is assumed."""
        if isabstract(cls):
            raise InputError(f"An assumption needs its kind, got {cls.__name__}(...); write for example Smooth(1.0).")
        return super().__new__(cls)

    @abstractmethod
    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        """The expansion of the update from iterate t to t + 1, whose batch holds the sample that differs or not.

        Raises:
            InputError: the run's step size is outside what the assumption allows.
        """

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> Expansion:
        """The expansion of an update of two copies of one run, over batches of ``low`` to ``high`` samples.

        The sum of the gradients is divided by ``run.batch_at(t)`` whatever the size. Where nothing better is known:
        z + 2 eta K high / b, by clipping; the first z less by weight decay.
        """
        return Clipped().over_sizes(run, t, low, high)

    def expansive(self, run: NoisySGD) -> bool:
        """Tell whether every e(z) >= z + e(0): then distances never shrink by themselves."""
        return not run.weight_decay and all(part.expansive(run) for part in self.parts)

    @property
    @abstractmethod
    def statement(self) -> str:
        """The assumption in words, for the reader of a bound."""


def described_assumption(assumption: object) -> Assumption:
    """The assumption itself, or an `InputError` where it is none."""
    if not isinstance(assumption, Assumption):
        remedy = "for example Smooth(1.0)"
        if callable(getattr(assumption, "assumption", None)):
            remedy = "say its assumption(run)"
        elif hasattr(assumption, "holder"):
            remedy = "what is measured gives an estimate and no bound: hand its holder(...) to estimate"
        known = "Smooth, Holder, Clipped, Convex, StronglyConvex, Tabulated, Sum, Blocks, Minimum"
        got = f"the class {assumption.__name__}" if isinstance(assumption, type) else f"{echo(assumption)}"
        if " at 0x" in got or (is_dataclass(assumption) and not isinstance(assumption, type)):
            got = type(assumption).__name__  # an address says nothing to anyone, and a record too much
        raise InputError(f"assumption needs one of {known}, got assumption={got}; {remedy}.")
    return assumption


class Modulus(Assumption, Increasing):
    """A modulus of continuity omega of every per-sample gradient, over distances inside the domain; omega(0) = 0."""

    parts: "tuple[Modulus, ...]" = ()

    @property
    def linear(self) -> arb | None:
        """L where omega(z) = L z for every z, else None."""
        return None

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        weight = exact(run.step_size_at(t)) * (run.batch_at(t) - differs) / run.batch_at(t)
        moved = sensitivity(run, t, differs=differs)
        return ModulusExpansion(self, weight, run.clip_norm, moved, kept(run, t))  # pyright: ignore[reportArgumentType]  # one class, found by two paths

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> Expansion:  # noqa: ARG002
        weight = exact(upper(exact(run.step_size_at(t)) * high / run.batch_at(t)))
        return ModulusExpansion(self, weight, run.clip_norm, arb(0), kept(run, t))  # pyright: ignore[reportArgumentType]


@teaches()
@dataclass(frozen=True)
class Holder(Modulus):
    """Gradients are (L, lambda)-Hoelder: omega(z) = L z^lambda, 0 < lambda <= 1.

    L is in gradient / length^lambda. Source: Chien & Li 2025, Definition 2.5.

    >>> float(Holder(2.0, 0.5).value(np.array(4.0)))
    4.0
    """

    L: float
    lam: float
    claim: ClassVar[str] = "chien_li/theorem_3_7/sharper"

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", constant("L", self.L))
        lam = portion("lam", self.lam, "a Hoelder order in (0, 1]", "use 1 for smooth losses.")
        object.__setattr__(self, "lam", lam)

    def value(self, z: Array) -> Array:
        return self.L * np.power(z, self.lam) if self.L else np.zeros_like(z)  # at infinity, too

    def slope(self, z: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = self.L * self.lam * np.power(z, self.lam - 1)
        return np.where(np.isnan(steep), 0.0, steep)

    def ball(self, z: arb) -> arb:
        if self.lam == 1:
            return exact(self.L) * z
        if z > 0:
            return exact(self.L) * z ** exact(self.lam)
        top = z.upper()
        return exact(self.L) * arb(0).union(top ** exact(self.lam)) if top > 0 else arb(0)

    @property
    def linear(self) -> arb | None:
        return exact(self.L) if self.lam == 1 or self.L == 0 else None

    @property
    def statement(self) -> str:
        return f"every per-sample gradient is ({self.L:g}, {self.lam:g})-Hoelder continuous on the domain"


@teaches()
@dataclass(frozen=True)
class Smooth(Holder):
    """Gradients are L-Lipschitz: omega(z) = L z."""

    lam: float = 1.0
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/smooth"

    @property
    def statement(self) -> str:
        return f"every per-sample loss is {self.L:g}-smooth on the domain"


@teaches()
@dataclass(frozen=True)
class Clipped(Modulus):
    """Nothing but clipping: two clipped gradients differ by at most 2 K."""

    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/clipped"

    def value(self, z: Array) -> Array:
        return np.where(z > 0, inf, 0.0)

    def slope(self, z: Array) -> Array:
        return np.where(z > 0, 0.0, inf)

    def ball(self, z: arb) -> arb:
        return arb(0) if z == 0 else arb(inf)

    @property
    def statement(self) -> str:
        return "per-sample gradients are clipped; nothing else is assumed of the losses"


def parts_of(name: str, parts: Sequence[object], kind: type) -> None:
    """Refuse an empty list of parts, or a part that is not of the kind."""
    if not parts:
        raise InputError(f"{name} needs at least one part, got parts=(); name the assumptions that hold.")
    for part in parts:
        if not isinstance(part, kind):
            raise InputError(
                f"{name} needs parts of type {kind.__name__}, got part={part!r}; "
                "see lastiterate.numeric.losses.assumptions."
            )


@teaches()
@dataclass(frozen=True, init=False)
class Sum(Modulus):
    """The loss is a sum, and omega the sum of the parts' moduli."""

    parts: tuple[Modulus, ...]

    def __init__(self, *parts: Modulus) -> None:
        parts_of("Sum", parts, Modulus)
        object.__setattr__(self, "parts", parts)

    def value(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([part.value(z) for part in self.parts]))

    def slope(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([part.slope(z) for part in self.parts]))

    def ball(self, z: arb) -> arb:
        return sum((part.ball(z) for part in self.parts), arb(0))

    @property
    def statement(self) -> str:
        return "the loss is a sum of parts, of which " + "; ".join(part.statement for part in self.parts)


Size = int | tuple[int, ...]
"""Number of samples in a batch, or one number a step."""


@dataclass(frozen=True)
class Sized(Assumption):
    """An assumption, for Poisson batches that have, without the sample that differs, ``low`` to ``high`` samples."""

    inner: Assumption
    low: Size
    high: Size

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        low, high = (one[t] if isinstance(one, tuple) else one for one in (self.low, self.high))
        shared = self.inner.over_sizes(run, t, low, high)
        return shared.plus(differs * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch_at(t))

    def expansive(self, run: NoisySGD) -> bool:
        return self.inner.expansive(run)

    @property
    def statement(self) -> str:
        return self.inner.statement
