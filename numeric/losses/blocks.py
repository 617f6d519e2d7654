"""The modulus of a gradient from those of its blocks, for example one block a layer, each of an order of its own.

If |g_j(x) - g_j(y)| <= omega_j(|x - y|), |x - y| the distance of all parameters, then omega = (sum_j omega_j^2)^(1/2)
is a modulus of g = (g_1, ..., g_m). For omega_j(r) = L_j r^(lambda_j) it is concave if, with the least order p and the
greatest q, q <= 1/2, or p >= 1/2, or 8 p q >= (2 p + 2 q - 1)^2. Elsewhere the shift program wants concave pieces: the
roots of the two groups of orders, up to 1/2 and above, are added, which is never less.

Source: docs/proofs/expansions.md (claims ours/layers/*); Chien & Li 2025, section 5, asks for per-layer constants.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.moduli import Holder, Modulus, parts_of
from lastiterate.numeric.losses.tabulated import Tabulated

_HALF = Fraction(1, 2)


@teaches()
@dataclass(frozen=True, init=False)
class Blocks(Modulus):
    """The gradient consists of blocks, one a part, and each changes by at most that part's modulus.

    Args:
        parts: `Holder`, `Smooth` or `Tabulated`, at least one.

    Raises:
        InputError: no part, or one of another type.

    >>> float(Blocks(Holder(3.0, 1.0), Holder(4.0, 1.0)).value(np.array(2.0)))
    10.0
    """

    parts: tuple[Holder | Tabulated, ...]

    def __init__(self, *parts: Holder | Tabulated) -> None:
        parts_of("Blocks", parts, Modulus)
        for part in parts:
            if not isinstance(part, Holder | Tabulated):
                raise InputError(
                    f"Blocks needs parts that are Holder, Smooth or Tabulated, got part={part!r}; for clipping, take "
                    "the Minimum with Clipped."
                )
        object.__setattr__(self, "parts", parts)

    @cached_property
    def groups(self) -> tuple[tuple[Holder | Tabulated, ...], ...]:
        """Parts whose root of the sum of squares is concave between the knots; the groups are added."""
        orders = [_order(part) for part in self.parts]
        least, most = min(orders), max(orders)
        if most <= _HALF or least >= _HALF or 8 * least * most >= (2 * least + 2 * most - 1) ** 2:
            return (self.parts,)
        together = tuple(zip(orders, self.parts, strict=True))
        return tuple(tuple(part for order, part in together if (order > _HALF) == above) for above in (False, True))

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

    @property
    def statement(self) -> str:
        return "every block of a per-sample gradient has its own modulus: " + "; ".join(p.statement for p in self.parts)


def _order(part: Holder | Tabulated) -> Fraction:
    """The order of a part between its knots, where a table is constant."""
    return Fraction(part.lam) if isinstance(part, Holder) else Fraction(0)


def _values(group: tuple[Modulus, ...], z: Array) -> Array:
    """The moduli of the parts, shape (*z.shape, parts)."""
    return np.ascontiguousarray(np.stack([np.asarray(part.value(z)) for part in group], axis=-1))


def _root(values: Array) -> Array:
    """Root of the sum of squares along the last axis; scaled, so that no square overflows or vanishes."""
    most = values.max(axis=-1)
    known = (most > 0) & np.isfinite(most)
    scaled = values / np.where(known, most, 1.0)[..., None]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.square(np.where(known[..., None], scaled, 0.0)).sum(axis=-1))
        return np.asarray(np.where(known, most * lengths, most))


def _slope(group: tuple[Modulus, ...], z: Array) -> Array:
    """The right derivative: the slopes weighted by the values, and at 0 the root of the sum of their squares."""
    values = _values(group, z)
    slopes = np.stack([np.asarray(part.slope(z)) for part in group], axis=-1)
    root = _root(values)
    inside = (root > 0) & np.isfinite(root)
    weights = np.where(inside[..., None], values, 0.0) / np.where(inside, root, 1.0)[..., None]
    with np.errstate(invalid="ignore"):
        weighted = np.where(weights > 0, weights * slopes, 0.0).sum(axis=-1)
    return np.asarray(np.where(inside, weighted, np.where(root > 0, 0.0, _root(slopes))))
