"""The exact optimum for affine expansions that change over time: a taut string.

With P_t = c_t ... c_{T-1} let X_t = sum_{i>=t} (sigma_i P_{i+1})^2, H_t = sum_{i>=t} P_{i+1} s_i, and R_t = P_t z_t +
H_t. The cost is the energy of a string R over X that ends at R_T = 0, pulled taut above the points (X_t, H_t): their
least concave majorant up to the start. Its slopes give the shifts, a_t = slope sigma_t^2 P_{t+1}. One stack serves
every start tau, O(T log T).

Source: docs/proofs/affine_windows.md (claims ours/taut_string/*).
"""

from itertools import pairwise
from typing import NamedTuple

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
    hull, growth, x, h = [_Vertex(0.0, 0.0, 0.0, None)], 1.0, 0.0, 0.0
    best, start = None, len(c) - 1
    steps = zip(c.tolist()[::-1], s.tolist()[::-1], noise.tolist()[::-1], tracked.tolist()[::-1], strict=True)
    for t, (contraction, sensitivity, deviation, distance) in zip(reversed(range(len(c))), steps, strict=True):
        before, x, h = x, x + (deviation * growth) ** 2, h + growth * sensitivity
        growth *= contraction
        if x == before:  # earlier steps no longer count in floats
            break
        end = _pulled(hull, x, h + growth * distance)
        if best is None or end.energy < best.energy:
            best, start = end, t
        while len(hull) > 1 and _beyond(hull[-2], hull[-1], x, h):
            hull.pop()
        hull.append(hull[-1].to(x, h))  # where z = 0, the string must pass above
        # Even from 0 an earlier start costs more, and from further away still more.
        if hull[-1].energy >= best.energy or not 1 / _HUGE < growth < _HUGE:
            break
    ends, vertex = list[tuple[float, float]](), best
    while vertex is not None:
        ends.append((vertex.x, vertex.h))
        vertex = vertex.before
    return Path(start, float(tracked[start]), _shifts(ends[::-1], c[start:], noise[start:]))


class _Vertex(NamedTuple):
    """A vertex of a string, with the energy up to it from the end of time backwards, and the vertex before it there."""

    x: float
    h: float
    energy: float
    before: "_Vertex | None"

    def to(self, x: float, h: float) -> "_Vertex":
        """The end of a string that leaves here."""
        return _Vertex(x, h, self.energy + (h - self.h) ** 2 / (x - self.x), self)


def _pulled(hull: list[_Vertex], x: float, h: float) -> _Vertex:
    """The end (x, h) of the string that is pulled taut above the hull."""
    low, high = 0, len(hull) - 1
    while low < high:
        middle = (low + high) // 2
        if _beyond(hull[middle], hull[middle + 1], x, h):
            high = middle
        else:
            low = middle + 1
    return hull[low].to(x, h)


def _beyond(one: _Vertex, other: _Vertex, x: float, h: float) -> bool:
    """Tell whether an edge is beyond the tangent point: its slope is below that of the line from it to (x, h)."""
    return (other.h - one.h) * (x - other.x) < (h - other.h) * (other.x - one.x)


def _shifts(vertices: list[tuple[float, float]], c: Array, noise: Array) -> Array:
    """Slopes of the string, read back as shifts."""
    growth = np.append(np.cumprod(c[:0:-1])[::-1], 1.0)
    x = np.cumsum(((noise * growth) ** 2)[::-1])[::-1]
    ends = [vertex[0] for vertex in vertices]
    slopes = [(r1 - r0) / (x1 - x0) for (x0, r0), (x1, r1) in pairwise(vertices)]
    middle = x - (noise * growth) ** 2 / 2
    piece = np.clip(np.searchsorted(ends, middle) - 1, 0, len(slopes) - 1)
    return np.asarray(np.array(slopes)[piece] * noise**2 * growth * _SPARE)
