"""Paths of the shift program: which shifts are made from which step on, hiding which distance."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lastiterate.numeric.arrays import Array


class Shifts(Protocol):
    """The interface of paths."""

    @property
    def start(self) -> int:
        """The first step of the window."""

    @property
    def distance(self) -> float:
        """The distance that is hidden from there on, a length."""

    @property
    def shifts(self) -> Array:
        """Shape (T - start,), lengths."""


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
