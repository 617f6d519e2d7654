"""The exact optimum for affine expansions that change over time: a taut string.

With P_t = c_t ... c_{T-1} let X_t = sum_{i>=t} (sigma_i P_{i+1})^2, H_t = sum_{i>=t} P_{i+1} s_i, and R_t = P_t z_t +
H_t. The cost is the energy of a string R over X that ends at R_T = 0, pulled taut above the points (X_t, H_t): their
least concave majorant up to the start. Its slopes give the shifts, a_t = slope sigma_t^2 P_{t+1}. One stack serves
every start tau, O(T log T).

Source: docs/proofs/affine_windows.md (claims ours/taut_string/*).
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.shift_program.paths import Path

_HUGE = 1e100

_SPARE = 1 + 1e-13
"""Shifts are this much longer than the string says: where it touches, z falls to 0 and not to a rounding error above,
which steps that expand would blow up into a real distance."""


def taut_string(c: Array, s: Array, noise: Array, tracked: Array) -> Path:
    """The cheapest path over all starts; in floats, so certify its cost with `ShiftProgram.cost`.

    Args:
        c: (T,) contraction or expansion of each step.
        s: (T,) sensitivity of each step, lengths.
        noise: (T,) standard deviation of each step's noise, lengths.
        tracked: (T,) the distance that is there for free at each time, min(D, D_t), lengths.
    """
    best, start = np.inf, len(c) - 1
    for t, string, growth in _backwards(c, s, noise):
        energy, _ = string.energy_to(growth * float(tracked[t]))
        if energy < best:
            best, start = energy, t
        if string.energy_to(0.0)[0] >= best:
            break  # even from 0 an earlier start costs more, and from further away still more
    for t, string, growth in _backwards(c, s, noise):
        if t == start:
            height = growth * float(tracked[t])
            _, anchor = string.energy_to(height)
            held = [*string.vertices[: anchor + 1], (string.x, string.h + height)]
            break
    return Path(start, float(tracked[start]), _shifts(held, c[start:], noise[start:]))


def _backwards(c: Array, s: Array, noise: Array) -> Iterator[tuple[int, "_String", float]]:
    """For t = T - 1, ..., 0 the string with its end at t, and P_t; until earlier steps no longer count in floats."""
    string, growth = _String(), 1.0
    for t in reversed(range(len(c))):
        before = string.x
        string.extend((noise[t] * growth) ** 2, growth * s[t])
        growth *= c[t]
        if string.x == before:
            return
        yield t, string, growth
        string.fix()
        if not 1 / _HUGE < growth < _HUGE:
            return


def _shifts(vertices: list[tuple[float, float]], c: Array, noise: Array) -> Array:
    """Slopes of the string, read back as shifts."""
    growth = np.append(np.cumprod(c[:0:-1])[::-1], 1.0)
    x = np.cumsum(((noise * growth) ** 2)[::-1])[::-1]
    ends = [vertex[0] for vertex in vertices]
    slopes = [(r1 - r0) / (x1 - x0) for (x0, r0), (x1, r1) in pairwise(vertices)]
    middle = x - (noise * growth) ** 2 / 2
    piece = np.clip(np.searchsorted(ends, middle) - 1, 0, len(slopes) - 1)
    return np.asarray(np.array(slopes)[piece] * noise**2 * growth * _SPARE)


class _String:
    """The upper hull of the points so far, from the end of time backwards, with the energy up to each vertex."""

    def __init__(self) -> None:
        self.x, self.h = 0.0, 0.0
        self.vertices: list[tuple[float, float]] = [(0.0, 0.0)]
        self.energy: list[float] = [0.0]

    def extend(self, width: float, drift: float) -> None:
        """Move one step back in time."""
        self.x += width
        self.h += drift

    def energy_to(self, extra: float) -> tuple[float, int]:
        """Energy of the taut string to (x, h + extra), and the vertex it leaves the hull at."""
        height = self.h + extra
        anchor = bisect_left(range(len(self.vertices) - 1), True, key=lambda i: self._below(i, height))
        x0, r0 = self.vertices[anchor]
        return self.energy[anchor] + (height - r0) ** 2 / (self.x - x0), anchor

    def fix(self) -> None:
        """Make the current point (x, h), where z = 0, one that the string must pass above."""
        while len(self.vertices) > 1 and self._below(len(self.vertices) - 2, self.h):
            self.vertices.pop()
            self.energy.pop()
        x0, r0 = self.vertices[-1]
        self.energy.append(self.energy[-1] + (self.h - r0) ** 2 / (self.x - x0))
        self.vertices.append((self.x, self.h))

    def _below(self, i: int, height: float) -> bool:
        """Tell whether edge i is beyond the tangent point: its slope is below that of the line from it to the end."""
        (x0, r0), (x1, r1) = self.vertices[i], self.vertices[i + 1]
        return (r1 - r0) * (self.x - x1) < (height - r1) * (x1 - x0)
