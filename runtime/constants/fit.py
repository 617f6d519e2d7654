"""Fit of constants for many orders, and of the measured modulus, to a table of measured pairs.

Everything here is a *lower* estimate. The largest ratio over sampled pairs is at most the true Hölder constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.errors import InputError, portion
from lastiterate.numeric.losses.assumptions import Tabulated
from lastiterate.numeric.rounding import printed_down
from lastiterate.runtime.pair_table import Kind, PairTable

TRUSTED_ERROR: Final = 1e-3
"""Pairs whose difference has a larger assumed relative rounding error are left out of every maximum."""

_KNOTS: Final = 48


@dataclass(frozen=True)
class Constants:
    """The constants of one kind of gradient. Direction: lower estimates, measured.

    Attributes:
        constants: for each order the largest |g(x) - g(y)| / |x - y|^lambda, in gradient / length^lambda;
            0 where every pair was left out, which says nothing.
        float_errors: for each order the assumed relative rounding error of the pair that attains it.
        left_out: pairs left out because rounding may dominate their difference.
        kept: pairs that the maxima are over.
    """

    constants: tuple[float, ...]
    float_errors: tuple[float, ...]
    left_out: int
    kept: int

    def cell(self, order: int) -> str:
        """The constant of the order with this index, printed rounded down: no pair is trusted where there is none."""
        return printed_down(self.constants[order], 4) if self.kept else "none trusted"


@dataclass(frozen=True)
class Envelope:
    """Measured modulus: values[i] is the largest change over pairs at distance at most distances[i].

    Direction: a lower estimate of the true modulus at every distance. Shapes (k,), distances increasing.
    """

    distances: tuple[float, ...]
    values: tuple[float, ...]

    def tabulated(self) -> Tabulated:
        """The same table as a modulus of `lastiterate.numeric`; what it gives is an estimate."""
        return Tabulated(self.distances, self.values)

    def join(self, other: "Envelope") -> "Envelope":
        """The larger of two measured moduli at every distance; both are lower estimates, and so is this."""
        distances = sorted({*self.distances, *other.distances})
        values = [max(part.at(r) for part in (self, other)) for r in distances]
        return Envelope(tuple(distances), tuple(values))

    def at(self, distance: float) -> float:
        """The largest change measured at most this far apart; 0 below the first distance."""
        place = int(np.searchsorted(self.distances, distance, side="right"))
        return self.values[place - 1] if place else 0.0


def orders(values: Sequence[float]) -> tuple[float, ...]:
    """The Hölder orders, sorted and without repetition.

    Raises:
        InputError: none was given, or one lies outside (0, 1].
    """
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"The Hölder orders are a list, got lambdas={values!r}; for example (0.5, 1.0).")
    found = {portion("lambda", value, "a Hölder order in (0, 1]", "use 1 for smoothness.") for value in values}
    if not len(values):
        raise InputError("At least one Hölder order is needed, got lambdas=(); give values in (0, 1].")
    return tuple(sorted(found))


def read_off(table: PairTable, kind: Kind, lambdas: Sequence[float]) -> Constants:
    """The constants of one kind of gradient for every order in (0, 1], from one table, less their assumed rounding."""
    kept = trusted(table, kind)
    distances, differences, floors = table.distances[kept], table.differences[kind][kept], table.floors[kept]
    constants, errors = [], []
    for lam in lambdas:
        if not len(distances):
            constants.append(0.0)
            errors.append(0.0)
            continue
        ratios = (differences - floors) / distances**lam
        best = int(np.argmax(ratios))
        constants.append(float(ratios[best]))
        errors.append(float(floors[best] / differences[best]))
    return Constants(tuple(constants), tuple(errors), len(kept) - len(distances), len(distances))


def envelope_of(table: PairTable, kind: Kind, radius: float) -> Envelope:
    """The measured modulus, less the assumed rounding, on at most 48 distances, equally spaced in the logarithm.

    Where all pairs were left out it is zero up to ``radius``. The last distance is at least ``radius``.
    """
    kept = trusted(table, kind)
    if not kept.any():
        return Envelope((radius,), (0.0,))
    order = np.argsort(table.distances[kept])
    distances = table.distances[kept][order]
    highest = np.maximum.accumulate((table.differences[kind] - table.floors)[kept][order])
    last = max(radius, float(distances[-1]))
    knots = np.geomspace(distances[0], last, _KNOTS)
    knots[0], knots[-1] = distances[0], last
    knots = np.unique(knots)
    values = highest[np.searchsorted(distances, knots, side="right") - 1]
    return Envelope(tuple(knots.tolist()), tuple(values.tolist()))


def trusted(table: PairTable, kind: Kind) -> NDArray[np.bool_]:
    """Mask of the pairs that rounding does not dominate, shape (pairs,)."""
    kept: NDArray[np.bool_] = table.floors <= TRUSTED_ERROR * table.differences[kind]
    return kept & (table.distances > 0) & (table.differences[kind] > 0)
