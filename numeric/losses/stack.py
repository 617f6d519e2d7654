"""Expansions of many steps at once: numpy takes a matrix in hardly more time than one of its rows."""

from collections.abc import Sequence

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Affine, Expansion, LeastOf, ModulusExpansion


class Stack:
    """The expansions of steps 0, 1, ..., each evaluated on a row of its own."""

    def __init__(self, each: Sequence[Expansion]) -> None:
        self.each = each
        first = each[0]
        self.modulus = first.modulus if isinstance(first, ModulusExpansion) else None
        self.cap = 2 * first.clip_norm if isinstance(first, ModulusExpansion) else 0.0
        self.parts: list[Stack] = []
        lines = [(e.contraction, e.sensitivity) for e in each if isinstance(e, Affine)]
        alike = [e for e in each if isinstance(e, ModulusExpansion) and e.modulus is self.modulus]
        lines += [(e.weight, e.sensitivity) for e in alike if 2 * e.clip_norm == self.cap]
        self.known = len(lines) == len(each) and (self.modulus is None or len(alike) == len(each))
        if self.known:
            self.slope, self.shift = (np.array([[float(one)] for one in column]) for column in zip(*lines, strict=True))
        elif isinstance(first, LeastOf):
            least = [e.parts for e in each if isinstance(e, LeastOf) and len(e.parts) == len(first.parts)]
            self.parts = [Stack(column) for column in zip(*least, strict=True)] if len(least) == len(each) else []

    def value(self, rows: slice, z: Array) -> Array:
        """The values at z, shape (rows, any), row by row as `Expansion.value`."""
        if self.parts:
            return np.asarray(np.minimum.reduce([part.value(rows, z) for part in self.parts]))
        if not self.known:
            return np.array([e.value(one) for e, one in zip(self.each[rows], z, strict=True)])
        if self.modulus is None:
            return np.asarray(self.slope[rows] * z + self.shift[rows])
        return np.asarray(z + self.slope[rows] * np.minimum(self.modulus.value(z), self.cap) + self.shift[rows])
