"""A modulus of continuity that is known at some distances, by measurement for example."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from flint import arb

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, positive
from lastiterate.numeric.losses.moduli import Modulus, constant
from lastiterate.numeric.rounding import exact


@teaches()
@dataclass(frozen=True)
class Tabulated(Modulus):
    """omega known at some distances: omega(z) = values[i] for distances[i-1] < z <= distances[i].

    The step function is what follows from monotonicity alone; past the last distance only clipping is used.
    ``distances`` (lengths, increasing) and ``values`` (gradients, nondecreasing) have the same shape (k,).
    """

    distances: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("distances", "values"):
            row = getattr(self, name)
            if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
                raise InputError(f"{name} needs a list of numbers, got {name}={row!r}; write one for each distance.")
        distances = tuple(positive(f"distances[{i}]", r) for i, r in enumerate(self.distances))
        values = tuple(constant(f"values[{i}]", v) for i, v in enumerate(self.values))
        if not distances or len(distances) != len(values):
            raise InputError(
                "Tabulated needs as many values as distances, at least one, got "
                f"len(distances)={len(distances)}, len(values)={len(values)}; give pairs."
            )
        for name, row, strict in (("distances", distances, True), ("values", values, False)):
            for i, (before, after) in enumerate(pairwise(row), start=1):
                if after < before or (strict and after == before):
                    raise InputError(
                        f"{name} needs to be {'increasing' if strict else 'nondecreasing'}, got "
                        f"{name}[{i}]={after:g} after {before:g}; sort the table and take running maxima."
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
        return f"per-sample gradients have the tabulated modulus of continuity ({len(self.distances)} distances)"
