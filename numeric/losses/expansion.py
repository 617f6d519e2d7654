"""Expansions: the largest distance e(z) after one update of two coupled runs at distance z.

If ``|x - y| <= z`` then ``|psi(x) - psi'(y)| <= e(z)`` for the updates psi, psi' on two adjacent data sets.
Every expansion is nondecreasing, e(0) is the sensitivity of one step, and it answers the same questions: its
float value (relative error below `ULPS` units in the last place), its right slope, an enclosure, and the
points between which it is concave.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Modulus

ULPS = 64
"""Error of `UpdateExpansion.value` in units in the last place; numpy's vectorised pow is within 4."""


class Increasing(ABC):
    """A nondecreasing function of a distance, piecewise concave."""

    parts: "tuple[Increasing, ...]" = ()
    """The expansions that it combines, if any."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """The value at z, elementwise, in floats; infinite where nothing is known."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """The right derivative, elementwise; infinite where the function is vertical."""

    @abstractmethod
    def ball(self, z: arb) -> arb:
        """An enclosure over the ball z; not finite where the function is infinite."""

    @property
    def knots(self) -> tuple[float, ...]:
        """Points between which it is concave (it may jump up just after a knot)."""
        return tuple(sorted({knot for part in self.parts for knot in part.knots}))

    @property
    def concave(self) -> bool:
        """Tell whether it is concave on z >= 0: then stationary paths suffice."""
        return all(part.concave for part in self.parts)


class UpdateExpansion(Increasing):
    """One update's worst expansion e of a distance."""

    parts: "tuple[UpdateExpansion, ...]" = ()
    sensitivity: arb
    """e(0), enclosed: how far one update on adjacent data moves equal iterates, a length."""

    @abstractmethod
    def plus(self, step: arb) -> "UpdateExpansion":
        """e(z) + step: what copies of one run do, and a move of at most ``step`` of one of them."""

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:  # noqa: ARG002
        """(c, s) where e(z) = c z + s for every z in [0, diameter], else None."""
        return None

    @property
    def expansive(self) -> bool:
        """Tell whether e(z) >= z + e(0) for every z, as far as its parts show it."""
        return all(part.expansive for part in self.parts)


@dataclass(frozen=True)
class Affine(UpdateExpansion):
    """e(z) = c z + s: an update map that is c-Lipschitz. ``contraction`` and ``sensitivity`` enclose c and s."""

    contraction: arb
    sensitivity: arb

    def plus(self, step: arb) -> "Affine":
        return Affine(self.contraction, self.sensitivity + step)

    def affine_on(self, diameter: float) -> tuple[arb, arb]:  # noqa: ARG002
        return self.contraction, self.sensitivity

    @property
    def expansive(self) -> bool:
        return bool(self.contraction >= 1)

    def value(self, z: Array) -> Array:
        return float(self.contraction) * z + float(self.sensitivity)

    def slope(self, z: Array) -> Array:
        return np.full_like(z, float(self.contraction))

    def ball(self, z: arb) -> arb:
        return self.contraction * z + self.sensitivity


@dataclass(frozen=True)
class ModulusExpansion(UpdateExpansion):
    """e(z) = kept z + weight min(omega(z), 2 K) + sensitivity.

    The samples that both runs share drift apart by their modulus, capped by the clip norm K; ``weight`` is the step
    size times their share of the batch. The one that differs, where it is in the batch, adds at most 2 eta K / b.
    ``kept`` is what weight decay leaves of an iterate, in [0, 1].
    """

    modulus: "Modulus"
    weight: arb
    clip_norm: float
    sensitivity: arb
    kept: arb = arb(1)  # noqa: RUF009  # never changed

    def plus(self, step: arb) -> "ModulusExpansion":
        return replace(self, sensitivity=self.sensitivity + step)

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:
        slope = self.modulus.linear
        if slope is None or not slope * exact(diameter) <= 2 * exact(self.clip_norm):
            return None
        return self.kept + self.weight * slope, self.sensitivity

    @property
    def expansive(self) -> bool:
        return bool(self.kept >= 1)

    @property
    def knots(self) -> tuple[float, ...]:
        return self.modulus.knots

    @property
    def concave(self) -> bool:
        return self.modulus.concave

    def value(self, z: Array) -> Array:
        drift = np.minimum(self.modulus.value(z), 2 * self.clip_norm)
        return float(self.kept) * z + float(self.weight) * drift + float(self.sensitivity)

    def slope(self, z: Array) -> Array:
        free = self.modulus.value(z) < 2 * self.clip_norm
        return float(self.kept) + float(self.weight) * np.where(free, self.modulus.slope(z), 0.0)

    def ball(self, z: arb) -> arb:
        cap = 2 * exact(self.clip_norm)
        drift = self.modulus.ball(z)
        if drift.is_finite():
            capped = drift.min(cap)
        else:
            capped = cap if z > 0 else cap.union(arb(0))
        return self.kept * z + self.weight * capped + self.sensitivity


@dataclass(frozen=True)
class LeastOf(UpdateExpansion):
    """The least of several expansions that all hold for the same run."""

    parts: tuple[UpdateExpansion, ...]

    @cached_property
    def sensitivity(self) -> arb:  # type: ignore[override]
        """The least of the parts'."""
        return reduce(arb.min, (part.sensitivity for part in self.parts))

    def plus(self, step: arb) -> "LeastOf":
        return LeastOf(tuple(part.plus(step) for part in self.parts))

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:
        """That of the least part, where one part is certainly the least: all parts agree at 0."""
        affine = [(part.affine_on(diameter), part) for part in self.parts]
        known = [(line, part) for line, part in affine if line is not None]
        if not known:
            return None
        (c, s), least = min(known, key=lambda pair: float(pair[0][0]))
        below = (line[0] >= c if line is not None else c <= 1 and part.expansive for line, part in affine)
        return (c, s) if all(part is least or ok for ok, (_, part) in zip(below, affine, strict=True)) else None

    def value(self, z: Array) -> Array:
        return np.asarray(np.minimum.reduce([part.value(z) for part in self.parts]))

    def slope(self, z: Array) -> Array:
        values = np.array([part.value(z) for part in self.parts])
        slopes = np.array([part.slope(z) for part in self.parts])
        return np.asarray(np.where(values <= values.min(axis=0), slopes, np.inf).min(axis=0))

    def ball(self, z: arb) -> arb:
        return reduce(arb.min, (part.ball(z) for part in self.parts))


@dataclass(frozen=True)
class PowerDrift:
    """g(z) = z + min(weight z^order, cap), 0 < order <= 1, distances in units of the noise."""

    weight: float
    order: float
    cap: float = inf

    def value(self, x: Array) -> Array:
        """g(x), elementwise."""
        return np.asarray(x + np.minimum(self.weight * x**self.order, self.cap))

    def inverse(self, y: Array) -> Array:
        """h(y), rounded down: g(h(y)) <= y."""
        if self.weight == inf:
            x = np.zeros_like(y)
        elif self.order == 1 or self.weight == 0:
            x = y / (1 + self.weight * (self.order == 1))
        else:  # Newton's method on a concave function, from below
            with np.errstate(over="ignore"):  # then y / 2 is the smaller
                x = np.minimum(y / 2, (y / (2 * self.weight)) ** (1 / self.order))
                x = np.maximum(x, y - self.weight * y**self.order)
            for _ in range(60):
                step = (y - x - self.weight * x**self.order) / (1 + self._steepness(x))
                x = x + np.where(x > 0, step, 0.0)
                if np.all(step <= 1e-15 * x):
                    break
        x = x * max(1 - 2e-14 / self.order, 0.0)
        if self.weight < inf:
            x = np.where(self.value(x) * (1 + 1e-14) <= y, x, 0.0)
        return np.asarray(np.maximum(x, (y - self.cap) * (1 - 1e-15)))

    def slope(self, x: Array) -> Array:
        """g'(x) where x > 0; 1 at 0, where a path has nothing left to hide."""
        if self.weight == inf:
            return np.ones_like(x)
        free = (x > 0) & (self.weight * x**self.order < self.cap)
        return np.where(free, 1 + self._steepness(x), 1.0)

    def _steepness(self, x: Array) -> Array:
        safe = np.where(x > 0, x, 1.0)
        with np.errstate(over="ignore"):  # as steep as it gets
            return np.asarray(self.weight * self.order * safe ** (self.order - 1))
