"""Exact optima of affine expansions: a taut string, and the same without a loop over T where steps are periodic.

With P_t = c_t ... c_{T-1} let X_t = sum_{i>=t} (sigma_i P_{i+1})^2, H_t = sum_{i>=t} P_{i+1} s_i, and R_t = P_t z_t +
H_t. The cost is the energy of a string R over X that ends at R_T = 0, pulled taut above the points (X_t, H_t): their
least concave majorant up to the start. Its slopes give the shifts, a_t = slope sigma_t^2 P_{t+1}. One stack serves
every start tau, O(T log T).

Where steps are constant free steps merge, and the n participations lie d_1 < d_2 < ... < d_n steps before the end,
d_k - d_{k-1} = l from k = 3 on. With w steps to go the string to a start w, at height H_j + c^w Delta, must pass above
(X(d_k), H_k) for k <= j,

    X(w) = sigma^2 (1 + c^2 + ... + c^(2w - 2)),   H_k = s (c^(d_1 - 1) + ... + c^(d_k - 1)).

The string of the merged steps is followed over the last participations; those before it hide themselves before the
next.

Source: docs/proofs/affine_windows.md (claims ours/taut_string/*, ours/participations/*); c < 1, d_1 = 1 is Bok, Su &
Altschuler 2024.
"""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Affine
from lastiterate.numeric.rounding import geometric_sum, lower, upper
from lastiterate.numeric.shift_program.program import Path, run_forward

_HUGE = 1e100

_SPARE = 1 + 1e-13
"""Shifts are this much longer than the string says: where it touches, z falls to 0 and not to a rounding error above,
which steps that expand would blow up into a real distance."""


def taut_string(c: Array, s: Array, noise: Array, tracked: Array) -> Path:
    """The cheapest path over all starts; in floats, so certify its cost with `ShiftProgram.cost`.

    Contraction, sensitivity and noise of each step have shape (T,), and so has ``tracked``, min(D, D_t), which bounds
    the distance at each time; the last three are lengths.
    """
    hull, growth, x, h = [_Vertex(0.0, 0.0, 0.0, None)], 1.0, 0.0, 0.0
    best, start = None, len(c) - 1
    steps = zip(c.tolist()[::-1], s.tolist()[::-1], noise.tolist()[::-1], tracked.tolist()[::-1], strict=True)
    for t, (contraction, sensitivity, deviation, distance) in zip(reversed(range(len(c))), steps, strict=True):
        before, x, h = x, x + (deviation * growth) ** 2, h + growth * sensitivity
        growth *= contraction
        if x == before:  # floats no longer resolve earlier steps
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
    """A vertex of a string, the energy up to it from the end of time backwards, and the vertex before it there."""

    x: float
    h: float
    energy: float
    before: "_Vertex | None"

    def to(self, x: float, h: float) -> "_Vertex":
        """The end of a string that leaves here."""
        return _Vertex(x, h, self.energy + (h - self.h) ** 2 / (x - self.x), self)


def _pulled(hull: list[_Vertex], x: float, h: float) -> _Vertex:
    """The end (x, h) of the string that is pulled taut above the hull."""
    edges = range(len(hull) - 1)
    return hull[bisect_left(edges, True, key=lambda k: _beyond(hull[k], hull[k + 1], x, h))].to(x, h)


def _beyond(one: _Vertex, other: _Vertex, x: float, h: float) -> bool:
    """Tell whether an edge is beyond the tangent point: its slope is below that of the line from it to (x, h)."""
    return (other.h - one.h) * (x - other.x) < (h - other.h) * (other.x - one.x)


def _shifts(vertices: list[tuple[float, float]], c: Array, noise: Array) -> Array:
    growth = np.append(np.cumprod(c[:0:-1])[::-1], 1.0)
    x = np.cumsum(((noise * growth) ** 2)[::-1])[::-1]
    ends = [vertex[0] for vertex in vertices]
    slopes = [(r1 - r0) / (x1 - x0) for (x0, r0), (x1, r1) in pairwise(vertices)]
    middle = x - (noise * growth) ** 2 / 2
    piece = np.clip(np.searchsorted(ends, middle) - 1, 0, len(slopes) - 1)
    return np.asarray(np.array(slopes)[piece] * noise**2 * growth * _SPARE)


_SHORT, _LONGEST, _GROWTH = 128, 8192, 100.0
"""The last participations that one string passes, at first and at most; logarithm of the greatest growth in floats."""
_UP = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Participations:
    """T = ``steps`` steps z' = c z, at ``count`` >= 1 participations z' = d z + s, at constant ``noise`` (a length).

    c, d and s are enclosed, d <= c, and d = c where c <= 1. In steps: ``last`` is d_1, from the last participation to
    the end, itself included; ``gap`` is d_2 - d_1, ``period`` lies between all others.
    """

    c: arb
    d: arb
    s: arb
    noise: float
    steps: int
    count: int
    last: int
    gap: int
    period: int

    def before_end(self, k: int) -> int:
        """d_k, from k = 1 for the last participation."""
        return self.last if k == 1 else self.last + self.gap + (k - 2) * self.period

    def width(self, w: int) -> arb:
        """The variance of the noise of w free steps at their end, in units of that of one step."""
        return geometric_sum(self.c**2, w) / self.c**2 if self.c > 0 else arb(1)


def cheapest(met: Participations, diameter: float) -> tuple[arb, Path]:
    """The cost of the cheapest path found, enclosed, in units of the noise squared, and the path.

    The string passes the last participations; those before it are hidden one by one, or it starts at the diameter
    (which may be inf) or at what contracting steps leave.
    """
    growth = abs(float(met.c.log())) if met.c > 1 else 0.0
    room = int(_GROWTH / max(growth, 1e-12))
    most = 0 if met.last > room else min(met.count, _LONGEST, (room - met.last - met.gap) // met.period + 2)
    left = upper(met.s / (1 - met.c ** min(met.gap, met.period))) if met.c < 1 else diameter
    kept, begun = min(_SHORT, most), min(left, diameter)
    while True:
        found = [_hide(met, kept, 0.0, diameter)]
        if 0 < kept < met.count and isfinite(begun):
            found.append(_hide(met, kept, begun, diameter))
        if kept == most or not isfinite(begun) or found[-1][1].start > met.steps - met.before_end(kept):
            return min(found, key=lambda one: float(one[0].upper()))
        kept = min(4 * kept, most)


def _hide(met: Participations, kept: int, begun: float, diameter: float) -> tuple[arb, Path]:
    """The string over the last ``kept`` participations from a distance ``begun``; from 0 behind all others, hidden."""
    alone = ((met.count - max(kept, 2), met.period), (int(kept < 2 <= met.count), met.gap), (int(kept < 1), met.last))
    hidden = [(n, w, met.s * met.c ** (w - 1)) for n, w in alone if n > 0 and not begun]
    cost = sum((n * amount**2 / met.width(w) for n, w, amount in hidden), arb(0))
    pieces = [(n, w, float(amount)) for n, w, amount in hidden]
    start, distance = met.steps - met.before_end(met.count), 0.0
    if kept:
        lengths, expansions = list[int](), list[Affine]()
        if begun and (before := min(met.before_end(kept + 1) - 1, met.steps) - met.before_end(kept)):
            lengths, expansions = [before], [Affine(met.c**before, arb(0))]
        for k in range(kept, 0, -1):
            lengths.append(1)
            expansions.append(Affine(met.d, met.s))
            if free := (met.last if k == 1 else met.gap if k == 2 else met.period) - 1:
                lengths.append(free)
                expansions.append(Affine(met.c**free, arb(0)))
        widths = {w: lower(met.width(w).sqrt()) for w in set(lengths)}
        lines = [(upper(e.contraction), upper(e.sensitivity)) for e in expansions]
        tracked, z = list[float](), begun
        for c, s in lines:
            tracked.append(min(z, diameter))
            z = (c * tracked[-1] + s) * _UP
        noise, (growth, moved) = [widths[w] for w in lengths], zip(*lines, strict=True)
        string = taut_string(np.array(growth), np.array(moved), np.array(noise), np.array(tracked))
        first, shifts = string.start, string.shifts * _UP  # so that a corner at 0 is at 0: what is left would grow
        cost += run_forward(lambda t: expansions[first + t], lambda t: noise[first + t], string.distance, shifts)
        if not hidden:
            start, distance = met.steps - sum(lengths[first:]), string.distance
        pieces += [(1, w, 0.0) for w in lengths[:first] if hidden]
        pieces += [(1, w, amount) for w, amount in zip(lengths[first:], shifts.tolist(), strict=True)]

    def made() -> Array:
        """Within a piece shifts are proportional to what is left of them at its end, as is optimal."""
        parts = []
        for times, length, amount in pieces:
            left = float(met.c) ** np.arange(length - 1, -1, -1.0)
            parts.append(np.tile(amount * left / np.sum(left**2), times))
        return np.concatenate(parts)

    return cost, Path(start, distance, made)
