"""The assumptions on the losses, all in one place.

A `Modulus` bounds the change of every per-sample gradient (see `lastiterate.numeric.losses.moduli`). `Convex` and
`StronglyConvex` bound the update map directly; they need losses that are K-Lipschitz, so that clipping never
acts (a clipped convex gradient step need not contract).

Source: docs/proofs/expansions.md; Chien & Li 2025, Lemma 3.4.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from flint import arb

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, positive
from lastiterate.numeric.losses.blocks import Blocks as Blocks
from lastiterate.numeric.losses.expansion import Affine, Expansion, LeastOf
from lastiterate.numeric.losses.moduli import Assumption as Assumption
from lastiterate.numeric.losses.moduli import Clipped as Clipped
from lastiterate.numeric.losses.moduli import Holder as Holder
from lastiterate.numeric.losses.moduli import Modulus as Modulus
from lastiterate.numeric.losses.moduli import Size as Size
from lastiterate.numeric.losses.moduli import Sized as Sized
from lastiterate.numeric.losses.moduli import Smooth as Smooth
from lastiterate.numeric.losses.moduli import Sum as Sum
from lastiterate.numeric.losses.moduli import constant, kept, parts_of, sensitivity
from lastiterate.numeric.losses.moduli import described_assumption as described_assumption
from lastiterate.numeric.losses.tabulated import Tabulated as Tabulated
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.run import NoisySGD


def _weight(run: NoisySGD, t: int, size: int) -> arb:
    """Eta size / b: the step that a batch of this size takes along its mean gradient."""
    return exact(run.step_size_at(t)) * size / run.batch_at(t)


def _lipschitz(constant: arb, clipped: Expansion) -> Expansion:
    """Constant times z, and no more than clipping allows."""
    map_ = Affine(constant, arb(0))
    return map_ if constant <= 1 else LeastOf((map_, clipped))


def _step_limit(run: NoisySGD, t: int, L: float, kind: str) -> None:
    eta, decay = run.step_size_at(t), run.weight_decay
    if not exact(eta) * (exact(L) + exact(decay)) <= 2:
        most, beside = ("2/(L + weight_decay)", f" and weight_decay={decay:g}") if decay else ("2/L", "")
        raise InputError(
            f"A {kind} loss needs step_size <= {most} = {2 / (L + decay):g}, got step_size={eta:g} with "
            f"L={L:g}{beside}; lower the step size, or assume Smooth(L) only."
        )


def _factor(run: NoisySGD, t: int, L: float, m: float, low: int, high: int) -> arb:
    """max(k - h m, h' L - k), k = 1 - eta lambda and h, h' the weights of the least and the greatest batch.

    All of |k - h c| for a curvature c in [m, L] of a batch between these; convex in the size.
    """
    stays = kept(run, t)
    return (stays - _weight(run, t, low) * exact(m)).max(_weight(run, t, high) * exact(L) - stays)


@teaches()
@dataclass(frozen=True)
class Convex(Assumption):
    """Losses are convex, L-smooth and K-Lipschitz, and eta <= 2/L: e(z) = z + 2 eta K / b.

    With weight decay lambda it is c z + 2 eta K / b, c = max(1 - eta lambda, eta (lambda + L) - 1): decay outside of
    the clip makes a contraction of it. Source: Chien & Li 2025, Lemma 3.4; docs/proofs/expansions.md.

    Attributes:
        L: smoothness, gradient / length.
        origin: where L comes from, in words; empty where it is just assumed.
    """

    L: float
    origin: str = field(default="", compare=False, repr=False, kw_only=True)
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/convex"

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", constant("L", self.L))

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        _step_limit(run, t, self.L, "convex")
        factor = _factor(run, t, self.L, 0.0, run.batch_at(t), run.batch_at(t))
        return Affine(factor, sensitivity(run, t, differs=differs))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> Expansion:
        """Not above max(1, h L - 1) z, h = eta high / b: a large batch takes a step beyond 2 / L."""
        factor = _factor(run, t, self.L, 0.0, low, high)
        return _lipschitz(factor, super().over_sizes(run, t, low, high))

    @property
    def statement(self) -> str:
        return (
            f"every per-sample loss is convex, {self.L:g}-smooth, and Lipschitz with the clip norm as its "
            "constant (clipping never acts)" + (f"; L is that of {self.origin}" if self.origin else "")
        )


@teaches()
@dataclass(frozen=True)
class StronglyConvex(Assumption):
    """Losses are m-strongly convex, L-smooth and K-Lipschitz, and eta <= 2/L.

    e(z) = c z + 2 eta K / b with c = max(1 - eta m, eta L - 1): all of |1 - eta h| for a curvature h in
    [m, L]. Sharper than Lemma 3.4 of Chien & Li 2025, which stops at eta <= 1/L.
    """

    L: float
    m: float
    claim: ClassVar[str] = "chien_li/theorem_3_1/direct/strongly_convex"

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", constant("L", self.L))
        object.__setattr__(self, "m", positive("m", self.m))
        if self.m > self.L:
            raise InputError(f"m needs to be at most L={self.L:g}, got m={self.m:g}; strong convexity is below L.")

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        _step_limit(run, t, self.L, "strongly convex")
        factor = _factor(run, t, self.L, self.m, run.batch_at(t), run.batch_at(t))
        return Affine(factor, sensitivity(run, t, differs=differs))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> Expansion:
        """Not above max(1 - h m, h' L - 1) z, h and h' of the least and the greatest batch: convex in the size."""
        factor = _factor(run, t, self.L, self.m, low, high)
        return _lipschitz(factor, super().over_sizes(run, t, low, high))

    def expansive(self, run: NoisySGD) -> bool:  # noqa: ARG002
        return False

    @property
    def statement(self) -> str:
        return (
            f"every per-sample loss is {self.m:g}-strongly convex, {self.L:g}-smooth, and Lipschitz with the "
            "clip norm as its constant (clipping never acts)"
        )


@teaches()
@dataclass(frozen=True, init=False)
class Minimum(Assumption):
    """All parts hold at once, and each update expands by the least of them."""

    parts: tuple[Assumption, ...]

    def __init__(self, *parts: Assumption) -> None:
        parts_of("Minimum", parts, Assumption)
        object.__setattr__(self, "parts", parts)

    def expansion(self, run: NoisySGD, t: int, *, differs: bool) -> Expansion:
        return LeastOf(tuple(part.expansion(run, t, differs=differs) for part in self.parts))

    def over_sizes(self, run: NoisySGD, t: int, low: int, high: int) -> Expansion:
        return LeastOf(tuple(part.over_sizes(run, t, low, high) for part in self.parts))

    @property
    def statement(self) -> str:
        return "all of: " + "; ".join(part.statement for part in self.parts)


KINDS: Final[Mapping[str, tuple[Callable[..., Assumption], tuple[str, ...]]]] = {
    "smooth": (Smooth, ("L",)),
    "holder": (Holder, ("L", "lam")),
    "clipped": (Clipped, ()),
    "convex": (Convex, ("L",)),
    "strongly_convex": (StronglyConvex, ("L", "m")),
    "tabulated": (Tabulated, ("distances", "values")),
    "sum": (Sum, ("parts",)),
    "blocks": (Blocks, ("parts",)),
    "minimum": (Minimum, ("parts",)),
}
"""Every assumption by the name that run files and certificates give it, and its fields."""


@teaches()
@dataclass(frozen=True)
class Measured:
    """An assumption whose constants were measured, not proved.

    Attributes:
        assumption: the assumption with the measured constants in it.
        conditional_on: what a number made from it is conditional on, in one sentence.
    """

    assumption: Assumption
    conditional_on: str
