"""Paths of the shift program: which shifts are made from which step on, hiding which distance."""

from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.errors import InputError

__all__ = ["AnyOrder", "GeometricPath", "Path", "Shifts"]

Array = NDArray[np.float64]


class Shifts(Protocol):
    """What every path answers."""

    @property
    def start(self) -> int:
        """The first step of the window."""
        ...

    @property
    def distance(self) -> float:
        """The distance that is hidden from there on, a length."""
        ...

    @property
    def shifts(self) -> Array:
        """Shape (T - start,), lengths."""
        ...


@dataclass(frozen=True, eq=False)
class Path:
    """Shifts from ``start`` to the end, hiding ``distance`` at the start.

    ``shifts`` has shape (T - start,), lengths.
    """

    start: int
    distance: float
    shifts: Array


@dataclass(frozen=True, eq=False)
class GeometricPath:
    """The optimal path of an affine expansion: shifts first * ratio^j for j = 0..length-1, made when asked for."""

    start: int
    distance: float
    first: float
    ratio: float
    length: int

    @property
    def shifts(self) -> Array:
        """Shape (length,), lengths, to float precision."""
        return self.first * self.ratio ** np.arange(self.length, dtype=float)


@dataclass(frozen=True)
class AnyOrder:
    """Stands for the paths of all orders: each order has shifts of its own.

    Attributes:
        start: first step of the windows, the earliest over orders.
        distance: distance that is hidden from a start on, a length; nan where starts differ.
    """

    start: int
    distance: float = nan

    @property
    def shifts(self) -> Array:
        """Refused: there is no one path.

        Raises:
            InputError: always.
        """
        raise InputError(
            "Shifts need batches in a known order, got sampling='shuffled', whose shifts depend on the order; "
            "ask for those of a cyclic run."
        )
