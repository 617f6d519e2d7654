"""Assumptions on the losses.

A `Modulus` bounds the change of every per-sample gradient g: |g(x) - g(y)| <= omega(|x - y|) for all x, y in
the domain. `Convex` and `StronglyConvex` bound the update map directly. Both require losses whose Lipschitz
constant is the clip norm K, so that clipping never acts; where it acts on convex losses, a step can expand
(`ClippedConvex`).

Source: docs/proofs/expansions.md (claims ours/layers/*); Chien & Li 2025, Definition 2.5, Lemma 3.4, sec. 5.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from fractions import Fraction
from functools import cached_property
from inspect import isabstract
from itertools import pairwise
from math import inf
from typing import ClassVar, Final, Self

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, echo, is_list, portion, positive, teaches, within
from lastiterate.numeric.losses.expansion import (
    Affine,
    Increasing,
    LeastOf,
    ModulusExpansion,
    RootExpansion,
    UpdateExpansion,
)
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD


def loss_constant(name: str, value: object) -> float:
    """Return the value as a finite float >= 0, or raise an `InputError`."""
    return within(name, value, "a finite number of at least 0", lambda x: 0 <= x < inf, "give the constant.")


def _smoothness(value: object) -> float:
    return within("L", value, "a number of at least 0, or inf", lambda x: x >= 0, "give the smoothness.")


def _sensitivity(run: NoisySGD, t: int, *, differs: int) -> arb:
    """2 eta K k / b, a length, if the batch of step t holds k = ``differs`` differing samples."""
    return 2 * differs * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch_at(t)


def _kept(run: NoisySGD, t: int) -> arb:
    """Factor 1 - eta lambda of weight decay in step t."""
    return 1 - exact(run.step_size_at(t)) * exact(run.weight_decay)


class Assumption(ABC):
    """An assumption on the losses over the domain."""

    parts: "tuple[Assumption, ...]" = ()
    """Assumptions that this assumption combines, if any."""
    claim: ClassVar[str] = "ours/derived/known_windows"
    """Key of the ledger's claim that bounds the divergence of full batches under this assumption."""

    def __new__(cls, *_: object, **__: object) -> Self:
        if isabstract(cls) or not (cls._words or cls.statement is not Assumption.statement):
            raise InputError(
                f"An assumption must be of a specific kind, got {cls.__name__}(...); write for example Smooth(1.0)."
            )
        return super().__new__(cls)

    def cited(self, run: NoisySGD) -> str:  # noqa: ARG002
        """Key of the claim that bounds the divergence of a run on full batches."""
        return self.claim

    @abstractmethod
    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        """Expansion of the update in step t, whose batch holds ``differs`` differing samples."""

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> UpdateExpansion:
        """The expansion of an update on the same data, valid for all batches of ``low`` to ``high`` samples.

        Sums of gradients are divided by b = ``run.batch_at(t)`` for every size. By default, clipping gives (1
        - eta lambda) z + 2 eta K high / b.
        """
        return Clipped().over_sizes(run, t, low, high)

    def expansive(self, run: NoisySGD) -> bool:
        """Tell whether every step has e(z) >= z + e(0): distances never shrink without a shift."""
        return not run.weight_decay and all(part.expansive(run) for part in self.parts)

    _words: ClassVar[str] = ""
    """The assumption in words, with its fields in braces; those of its parts follow."""

    @property
    def statement(self) -> str:
        """The assumption in words."""
        words = self._words.format(**vars(self)).replace(", inf-smooth", "").replace(" and inf-smooth", "")
        return words + "; ".join(part.statement for part in self.parts)


def described_assumption(assumption: object) -> Assumption:
    """Return the argument if it is an assumption, or raise an `InputError`."""
    if not isinstance(assumption, Assumption):
        remedy = "write for example Smooth(1.0)"
        if callable(getattr(assumption, "assumption", None)):
            remedy = "pass its assumption(run)"
        elif isinstance(assumption, Measured) or hasattr(assumption, "holder"):
            remedy = "measured constants give an estimate, not a bound: call estimate"
        known = (
            "Smooth, Holder, Clipped, Convex, ClippedConvex, StronglyConvex, Tabulated, Sum, Blocks, Minimum"
        )
        got = f"the class {assumption.__name__}" if isinstance(assumption, type) else echo(assumption)
        if " at 0x" in got or (is_dataclass(assumption) and not isinstance(assumption, type)):
            got = type(assumption).__name__
        raise InputError(f"assumption needs one of {known}, got assumption={got}; {remedy}.")
    return assumption


class Modulus(Assumption, Increasing):
    """A modulus of continuity omega of every per-sample gradient on the domain, with omega(0) = 0."""

    parts: "tuple[Modulus, ...]" = ()

    @property
    def linear(self) -> arb | None:
        """L if omega(z) = L z for every z, else None."""
        return None

    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        weight = exact(run.step_size_at(t)) * (run.batch_at(t) - differs) / run.batch_at(t)
        moved = _sensitivity(run, t, differs=differs)
        return ModulusExpansion(self, weight, run.clip_norm, moved, _kept(run, t))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> UpdateExpansion:  # noqa: ARG002
        weight = exact(upper(exact(run.step_size_at(t)) * high / run.batch_at(t)))
        return ModulusExpansion(self, weight, run.clip_norm, arb(0), _kept(run, t))


@teaches()
@dataclass(frozen=True)
class Holder(Modulus):
    """(L, lambda)-Hoelder gradients: omega(z) = L z^lambda, 0 < lambda <= 1, L in gradient / length^lambda.

    >>> float(Holder(2.0, 0.5).value(np.array(4.0)))
    4.0
    """

    L: float
    lam: float
    claim: ClassVar[str] = "chien_li/theorem_3_7/sharper"
    _words = "every per-sample gradient is ({L:g}, {lam:g})-Hoelder continuous on the domain"

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", loss_constant("L", self.L))
        lam = portion("lam", self.lam, "a Hoelder order in (0, 1]", "use 1 for smooth losses.")
        object.__setattr__(self, "lam", lam)

    def value(self, z: Array) -> Array:
        return self.L * np.power(z, self.lam) if self.L else np.zeros_like(z)  # also at infinity

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


@teaches()
@dataclass(frozen=True)
class Smooth(Holder):
    """L-Lipschitz gradients: omega(z) = L z."""

    lam: float = 1.0
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/smooth"
    _words = "every per-sample loss is {L:g}-smooth on the domain"


@teaches()
@dataclass(frozen=True)
class Clipped(Modulus):
    """Clipping alone: two clipped gradients differ by at most 2 K."""

    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/clipped"
    _words = "per-sample gradients are clipped; nothing else is assumed of the losses"

    def value(self, z: Array) -> Array:
        return np.where(z > 0, inf, 0.0)

    def slope(self, z: Array) -> Array:
        return np.where(z > 0, 0.0, inf)

    def ball(self, z: arb) -> arb:
        return arb(0) if z == 0 else arb(inf)


@teaches()
@dataclass(frozen=True)
class Tabulated(Modulus):
    """A modulus known at some distances: omega(z) = values[i] for distances[i-1] < z <= distances[i].

    Beyond the last distance only clipping applies. ``distances`` (lengths, increasing) and ``values``
    (gradients, nondecreasing) have equal shapes.
    """

    distances: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("distances", "values"):
            if not is_list(row := getattr(self, name)):
                raise InputError(
                    f"{name} needs a list of numbers, got {name}={row!r}; write one number for each distance."
                )
        distances = tuple(positive(f"distances[{i}]", r) for i, r in enumerate(self.distances))
        values = tuple(loss_constant(f"values[{i}]", v) for i, v in enumerate(self.values))
        if not distances or len(distances) != len(values):
            raise InputError(
                "Tabulated needs at least one distance and one value for each distance, got "
                f"len(distances)={len(distances)}, len(values)={len(values)}; give lists of equal length."
            )
        for name, row, least in (("distances", distances, "increasing"), ("values", values, "nondecreasing")):
            for i, (before, after) in enumerate(pairwise(row), start=1):
                if after < before or (name == "distances" and after == before):
                    raise InputError(
                        f"{name} must be {least}, got {name}[{i}]={after:g} after {before:g}; sort the table and "
                        "take running maxima."
                    )
        object.__setattr__(self, "distances", distances)
        object.__setattr__(self, "values", values)

    def value(self, z: Array) -> Array:
        place = np.searchsorted(self.distances, z, side="left")
        return np.where(z > 0, np.append(self.values, inf)[place], 0.0)

    def slope(self, z: Array) -> Array:
        return np.zeros_like(z)

    def ball(self, z: arb) -> arb:
        if z == 0:
            return arb(0)
        first = next((i for i, r in enumerate(self.distances) if not z > exact(r)), None)
        last = next((i for i, r in enumerate(self.distances) if z <= exact(r)), None)
        if first is None or last is None:
            return arb(inf)
        low = exact(self.values[first]) if z > 0 else arb(0)
        return low.union(exact(self.values[last]))

    @property
    def knots(self) -> tuple[float, ...]:
        return self.distances

    @property
    def concave(self) -> bool:
        return False

    @property
    def statement(self) -> str:
        return (
            f"per-sample gradients have the tabulated modulus of continuity ({len(self.distances)} distances)"
        )


class _OfParts(Assumption):
    _takes: ClassVar[tuple[type | tuple[type, ...], str]]
    """The allowed types of the parts, and their description."""

    def __init__(self, *parts: Assumption) -> None:
        types, words = self._takes
        if not parts or not all(isinstance(part, types) for part in parts):
            got = next((part for part in parts if not isinstance(part, types)), ())
            raise InputError(
                f"{type(self).__name__} needs at least one part, and each must be {words}, got part={got!r}; "
                "correct the parts."
            )
        object.__setattr__(self, "parts", parts)


@teaches()
@dataclass(frozen=True, init=False)
class Sum(_OfParts, Modulus):
    """A sum of losses: omega is the sum of the moduli of the parts."""

    parts: tuple[Modulus, ...]

    _takes = (Modulus, "a Modulus")
    _words = "the loss is a sum of parts, of which "

    def value(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([part.value(z) for part in self.parts]))

    def slope(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([part.slope(z) for part in self.parts]))

    def ball(self, z: arb) -> arb:
        return sum((part.ball(z) for part in self.parts), arb(0))


@teaches()
@dataclass(frozen=True, init=False)
class Blocks(_OfParts, Modulus):
    """Gradients that consist of blocks, for example one per layer, each with its own modulus.

    If |g_j(x) - g_j(y)| <= omega_j(|x - y|), where |x - y| is the distance in all parameters, then g = (g_1,
    ..., g_m) has the modulus omega = (sum_j omega_j^2)^.5. If the orders of the blocks do not make omega
    concave, a sum of two concave roots bounds it (see ``groups``).

    >>> float(Blocks(Holder(3.0, 1.0), Holder(4.0, 1.0)).value(np.array(2.0)))
    10.0
    """

    parts: tuple[Holder | Tabulated, ...]

    _takes = ((Holder, Tabulated), "Holder, Smooth or Tabulated (for clipping, use the Minimum with Clipped)")
    _words = "every block of a per-sample gradient has its own modulus: "

    @cached_property
    def groups(self) -> tuple[tuple[Holder | Tabulated, ...], ...]:
        """Groups of parts whose root sum of squares is concave between knots; omega is the sum of these roots."""
        orders = [_order(part) for part in self.parts]
        least, most, half = min(orders), max(orders), Fraction(1, 2)
        if most <= half or least >= half or 8 * least * most >= (2 * least + 2 * most - 1) ** 2:
            return (self.parts,)
        together = tuple(zip(orders, self.parts, strict=True))
        return tuple(
            tuple(part for order, part in together if (order > half) == above) for above in (False, True)
        )

    def value(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([_root(_values(group, z)) for group in self.groups]))

    def slope(self, z: Array) -> Array:
        return np.asarray(np.add.reduce([_slope(group, z) for group in self.groups]))

    def ball(self, z: arb) -> arb:
        total = arb(0)
        for group in self.groups:
            squares = sum((part.ball(z) ** 2 for part in group), arb(0))
            total += squares.sqrt() if squares > 0 else arb(0).union(squares.upper().sqrt())
        return total

    @property
    def linear(self) -> arb | None:
        squares = arb(0)
        for part in self.parts:
            slope = part.linear
            if slope is None:
                return None
            squares += slope**2
        return squares.sqrt()


def _order(part: Holder | Tabulated) -> Fraction:
    return Fraction(part.lam) if isinstance(part, Holder) else Fraction(0)


def _values(group: tuple[Modulus, ...], z: Array) -> Array:
    return np.stack([np.asarray(part.value(z)) for part in group], axis=-1)


def _root(values: Array) -> Array:
    """Root of the sum of squares along the last axis, without overflow or underflow."""
    most = values.max(axis=-1)
    known = (most > 0) & np.isfinite(most)
    scaled = values / np.where(known, most, 1.0)[..., None]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.square(np.where(known[..., None], scaled, 0.0)).sum(axis=-1))
        return np.asarray(np.where(known, most * lengths, most))


def _slope(group: tuple[Modulus, ...], z: Array) -> Array:
    """Right derivative of `_root`: slopes weighted by values, or, at 0, the root of the sum of squared slopes."""
    values = _values(group, z)
    slopes = np.stack([np.asarray(part.slope(z)) for part in group], axis=-1)
    root = _root(values)
    inside = (root > 0) & np.isfinite(root)
    weights = np.where(inside[..., None], values, 0.0) / np.where(inside, root, 1.0)[..., None]
    with np.errstate(invalid="ignore"):
        weighted = np.where(weights > 0, weights * slopes, 0.0).sum(axis=-1)
    return np.asarray(np.where(inside, weighted, np.where(root > 0, 0.0, _root(slopes))))


class _UpdateMap(Assumption):
    """An update map, without clipping, with Lipschitz constant max |1 - eta h| over curvatures h in [m, L]."""

    L: float

    @property
    def _least(self) -> float:
        return float(getattr(self, "m", 0.0))

    def cited(self, run: NoisySGD) -> str:
        short = all(self._short(run, t) for t in range(1 if run.constant else run.steps))
        return self.claim if short else Assumption.claim

    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        size, moved = run.batch_at(t), _sensitivity(run, t, differs=differs)
        if self._short(run, t):
            return Affine(self._factor(run, t, size, size), moved)
        return self.over_sizes(run, t, size - differs, size - differs).plus(moved)

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> UpdateExpansion:
        """The line through 0 with slope `_factor`; if the slope exceeds 1, a root that grows more slowly."""
        h, kept = exact(run.step_size_at(t)) * high / run.batch_at(t), _kept(run, t)
        if inf > self.L and (factor := self._factor(run, t, low, high)) <= 1:
            return Affine(factor, arb(0))
        weight = h * (h - 2 * kept / exact(self.L)).max(arb(0))
        return RootExpansion(kept, weight, exact(self.L), 2 * exact(run.clip_norm), arb(0))

    def _short(self, run: NoisySGD, t: int) -> bool:
        size = run.batch_at(t)
        return inf > self.L and bool(self._factor(run, t, size, size) <= 1)

    def _factor(self, run: NoisySGD, t: int, low: int, high: int) -> arb:
        """max(k - h m, h' L - k) with k = 1 - eta lambda, h = eta low / b, h' = eta high / b.

        This bounds |k - w c| for all curvatures c in [m, L] and weights w in [h, h'].
        """
        stays, eta = _kept(run, t), exact(run.step_size_at(t)) / run.batch_at(t)
        return (stays - eta * low * exact(self._least)).max(eta * high * exact(self.L) - stays)


@teaches()
@dataclass(frozen=True)
class Convex(_UpdateMap):
    """Convex, L-smooth and K-Lipschitz losses: e(z) = k z + 2 eta K / b with k = 1 - eta lambda, if eta L <= 2 k.

    Here lambda is the weight decay, which is not clipped. On the same data, longer steps of size h have e(z)^2 = k^2
    z^2 + h (h - 2 k / L) min(2 K, L z)^2. L = inf is allowed.

    Attributes:
        L: smoothness, gradient / length.
        origin: source of L in words; empty if it is assumed.
    """

    L: float
    origin: str = field(default="", compare=False, repr=False, kw_only=True)
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/convex"
    _words = (
        "every per-sample loss is convex, {L:g}-smooth, and Lipschitz with the clip norm as its constant (clipping "
        "never acts)"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", _smoothness(self.L))

    @property
    def statement(self) -> str:
        return super().statement + (f"; L is that of {self.origin}" if self.origin else "")


@teaches()
@dataclass(frozen=True)
class ClippedConvex(Assumption):
    """Convex, L-smooth losses whose gradients are clipped at K: a step of size h can expand distances.

    On the same data, e(z) is at most c z, with c^2 = 4 k^3 / (4 k - h L) up to h L = 3 k and c = h L - k beyond, and
    at most h K + (k^2 z^2 + h^2 K^2)^(1/2), with k = 1 - eta lambda for weight decay lambda. L = inf is allowed.
    """

    L: float
    _words = "every per-sample loss is convex and {L:g}-smooth; its gradients are clipped"

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", _smoothness(self.L))

    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        size = run.batch_at(t) - differs
        return self.over_sizes(run, t, size, size).plus(_sensitivity(run, t, differs=differs))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> UpdateExpansion:  # noqa: ARG002
        h, k = exact(run.step_size_at(t)) * high / run.batch_at(t), _kept(run, t)
        cap = exact(run.clip_norm)
        root = RootExpansion(k, h**2, arb(inf), cap, arb(0), h * cap)
        if inf == self.L:
            return root
        a = h * exact(self.L)
        factor = (4 * k**3 / (4 * k - a)).sqrt() if a <= 3 * k and k > 0 else (a - k).max(k)
        return LeastOf((Affine(factor, arb(0)), root))


@teaches()
@dataclass(frozen=True)
class StronglyConvex(_UpdateMap):
    """m-strongly convex, L-smooth and K-Lipschitz losses.

    e(z) = c z + 2 eta K / b, where c = max(1 - eta m, eta L - 1) bounds |1 - eta h| for all curvatures h in
    [m, L]. Where c exceeds 1, the expansion of `Convex` is used as well.
    """

    L: float
    m: float
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/strongly_convex"
    _words = (
        "every per-sample loss is {m:g}-strongly convex, {L:g}-smooth, and Lipschitz with the clip norm as its "
        "constant (clipping never acts)"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", loss_constant("L", self.L))
        object.__setattr__(self, "m", positive("m", self.m))
        if self.m > self.L:
            raise InputError(f"m must be at most L={self.L:g}, got m={self.m:g}; lower m, or raise L.")

    def expansive(self, run: NoisySGD) -> bool:  # noqa: ARG002
        return False


@teaches()
@dataclass(frozen=True, init=False)
class Minimum(_OfParts):
    """Assumptions that all hold; each update has the least of their expansions."""

    parts: tuple[Assumption, ...]

    _takes = (Assumption, "an assumption")
    _words = "all of: "

    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        return LeastOf(tuple(part.expansion(run, t, differs=differs) for part in self.parts))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> UpdateExpansion:
        return LeastOf(tuple(part.over_sizes(run, t, low, high) for part in self.parts))


Size = int | tuple[int, ...]
"""Number of samples in a batch, or one number per step."""


@dataclass(frozen=True)
class Sized(Assumption):
    """An assumption for Poisson batches of ``low`` to ``high`` samples, not counting the differing sample."""

    inner: Assumption
    low: Size
    high: Size

    def expansion(self, run: NoisySGD, t: int, *, differs: int) -> UpdateExpansion:
        low, high = (one[t] if isinstance(one, tuple) else one for one in (self.low, self.high))
        shared = self.inner.over_sizes(run, t, low, high)
        return shared.plus(differs * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch_at(t))

    def expansive(self, run: NoisySGD) -> bool:
        return self.inner.expansive(run)

    @property
    def statement(self) -> str:
        return self.inner.statement


KINDS: Final[Mapping[str, tuple[Callable[..., Assumption], tuple[str, ...]]]] = {
    "smooth": (Smooth, ("L",)),
    "holder": (Holder, ("L", "lam")),
    "clipped": (Clipped, ()),
    "convex": (Convex, ("L",)),
    "clipped_convex": (ClippedConvex, ("L",)),
    "strongly_convex": (StronglyConvex, ("L", "m")),
    "tabulated": (Tabulated, ("distances", "values")),
    "sum": (Sum, ("parts",)),
    "blocks": (Blocks, ("parts",)),
    "minimum": (Minimum, ("parts",)),
}
"""Every assumption and its fields, by its name in run files and certificates."""


@teaches()
@dataclass(frozen=True)
class Measured:
    """An assumption whose constants were measured, not proved.

    Attributes:
        assumption: the assumption with these constants.
        conditional_on: the condition, in one sentence, for values computed from ``assumption``.
    """

    assumption: Assumption
    conditional_on: str
