"""Expansions: the largest distance e(z) after one update of two coupled runs at distance z.

If ``|x - y| <= z`` then ``|psi(x) - psi'(y)| <= e(z)`` for the updates psi, psi' on two adjacent data sets.
Every expansion is nondecreasing, and e(0) is the sensitivity of one step.
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
"""Bound on the error of `UpdateExpansion.value` in units in the last place; numpy's ``pow`` errs by up to 4."""


class Increasing(ABC):
    """A nondecreasing function of a distance, concave between its knots unless stated otherwise."""

    parts: "tuple[Increasing, ...]" = ()
    """Functions that this function combines, if any."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """The value at z in floats, elementwise, within `ULPS`; infinite if no bound is known."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """The right derivative at z, elementwise; infinite if the function is vertical at z."""

    @abstractmethod
    def ball(self, z: arb) -> arb:
        """An enclosure of the values on the ball z; not finite if a value is infinite."""

    @property
    def knots(self) -> tuple[float, ...]:
        """Points between which the function is concave; it may jump up just after each of them."""
        return tuple(sorted({knot for part in self.parts for knot in part.knots}))

    @property
    def concave(self) -> bool:
        """Tell whether the function is concave on z >= 0."""
        return all(part.concave for part in self.parts)


class UpdateExpansion(Increasing):
    """The worst-case expansion e of a distance in one update."""

    parts: "tuple[UpdateExpansion, ...]" = ()
    sensitivity: arb
    """Enclosure of e(0), a length: the distance between equal iterates after one update on adjacent data."""

    @abstractmethod
    def plus(self, step: arb) -> "UpdateExpansion":
        """The expansion e(z) + ``step``, if one of the runs also moves by at most ``step``."""

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:  # noqa: ARG002
        """The pair (c, s) if e(z) = c z + s for every z in [0, diameter], else None."""
        return None

    @property
    def expansive(self) -> bool:
        """Tell whether the parts show that e(z) >= z + e(0) for every z."""
        return all(part.expansive for part in self.parts)


@dataclass(frozen=True)
class Affine(UpdateExpansion):
    """e(z) = c z + s of a c-Lipschitz update map; ``contraction`` and ``sensitivity`` enclose c and s."""

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

    ``weight`` is the step size times the fraction of shared samples in the batch. A shared sample's gradients
    at distance z differ by at most omega(z) and 2 K, where K is the clip norm. A differing sample adds at
    most 2 eta K / b. ``kept`` in [0, 1] is the factor of weight decay.
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
class RootExpansion(UpdateExpansion):
    """e(z) = base + (kept^2 z^2 + weight min(slope z, cap)^2)^(1/2) + sensitivity for z > 0; e(0) = sensitivity.

    Of convex losses: gradients at distance z differ by at most slope z and by at most the cap, and ``weight`` is
    what their square adds to the squared distance. An infinite slope is allowed. Beyond the distance at which the
    cap is reached, the root is convex.
    """

    kept: arb
    weight: arb
    slope_at_0: arb
    cap: arb
    sensitivity: arb
    base: arb = arb(0)  # noqa: RUF009  # never changed

    def plus(self, step: arb) -> "RootExpansion":
        return replace(self, sensitivity=self.sensitivity + step)

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:
        if self.base != 0 or not self.slope_at_0 * exact(diameter) <= self.cap:
            return None
        return (self.kept**2 + self.weight * self.slope_at_0**2).sqrt(), self.sensitivity

    @property
    def expansive(self) -> bool:
        return bool(self.kept >= 1)

    @property
    def concave(self) -> bool:
        return False

    def value(self, z: Array) -> Array:
        return np.where(z > 0, float(self.base) + self._root(z), 0.0) + float(self.sensitivity)

    def slope(self, z: Array) -> Array:
        steep = float(self.slope_at_0)
        start = np.inf if self.base > 0 else np.sqrt(float(self.kept) ** 2 + float(self.weight) * steep**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(steep * z < float(self.cap), float(self.weight) * steep * steep * z, 0.0)
            return np.where(z > 0, (float(self.kept) ** 2 * z + free) / self._root(z), start)

    def _root(self, z: Array) -> Array:
        with np.errstate(invalid="ignore"):
            change = np.where(z > 0, np.minimum(float(self.slope_at_0) * z, float(self.cap)), 0.0)
        return np.asarray(np.hypot(float(self.kept) * z, np.sqrt(float(self.weight)) * change))

    def ball(self, z: arb) -> arb:
        if z == 0:
            return self.sensitivity
        change = (self.slope_at_0 * z).min(self.cap) if self.slope_at_0.is_finite() else self.cap
        squares = self.kept**2 * z**2 + self.weight * change**2
        found = self.base + (squares.sqrt() if squares > 0 else arb(0).union(squares.upper().sqrt()))
        return (found if z > 0 else found.union(arb(0))) + self.sensitivity


@dataclass(frozen=True)
class LeastOf(UpdateExpansion):
    """The minimum of several expansions of one run."""

    parts: tuple[UpdateExpansion, ...]

    @cached_property
    def sensitivity(self) -> arb:  # type: ignore[override]
        """The least sensitivity."""
        return reduce(arb.min, (part.sensitivity for part in self.parts))

    def plus(self, step: arb) -> "LeastOf":
        return LeastOf(tuple(part.plus(step) for part in self.parts))

    def affine_on(self, diameter: float) -> tuple[arb, arb] | None:
        """The line (c, s) of the part that is certainly the smallest, else None; all parts are equal at 0."""
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
    """The drift g(z) = z + min(weight z^order, cap), 0 < order <= 1, in units of the noise."""

    weight: float
    order: float
    cap: float = inf

    def value(self, x: Array) -> Array:
        """g(x), elementwise."""
        return np.asarray(x + np.minimum(self.weight * x**self.order, self.cap))

    def inverse(self, y: Array) -> Array:
        """The inverse h(y), rounded down: g(h(y)) <= y."""
        if self.weight == inf:
            x = np.zeros_like(y)
        elif self.order == 1 or self.weight == 0:
            x = y / (1 + self.weight * (self.order == 1))
        else:  # Newton's method on a concave function, from below
            with np.errstate(over="ignore"):  # if it overflows, y / 2 is smaller
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
        """g'(x) for x > 0, and 1 at 0."""
        if self.weight == inf:
            return np.ones_like(x)
        free = (x > 0) & (self.weight * x**self.order < self.cap)
        return np.where(free, 1 + self._steepness(x), 1.0)

    def _steepness(self, x: Array) -> Array:
        safe = np.where(x > 0, x, 1.0)
        with np.errstate(over="ignore"):  # infinite near 0
            return np.asarray(self.weight * self.order * safe ** (self.order - 1))
