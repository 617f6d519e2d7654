"""Exact optima for affine expansions by a taut string, without a loop over periodic steps.

For steps z' = c_t z + s_t with noise sigma_t, and P_t = c_t ... c_{T-1}, let X_t = sum_{i>=t} (sigma_i
P_{i+1})^2, H_t = sum_{i>=t} P_{i+1} s_i, and R_t = P_t z_t + H_t. The cost is the energy of a string R over X
that ends at R_T = 0 and is pulled taut above the points (X_t, H_t): up to the start, the string is the least
concave majorant of the points. The slope of the string at a step gives the shift a_t = slope sigma_t^2
P_{t+1}.

If steps are constant, steps without the sample merge, and the n participations lie d_1 < d_2 < ... < d_n
steps before the end, with d_k - d_{k-1} = l for k >= 3. The string from the distance Delta, w steps and j
participations before the end, starts at the height H_j + c^w Delta and must pass above (X(d_k), H_k) for k <=
j, where

    X(w) = sigma^2 (1 + c^2 + ... + c^(2w - 2)),   H_k = s (c^(d_1 - 1) + ... + c^(d_k - 1)).

The string of the merged steps covers the last participations; each earlier participation is hidden before the
next one.

Source: docs/proofs/affine_windows.md (claims ours/taut_string/*, ours/participations/*); Bok, Su & Altschuler
2024 for c < 1, d_1 = 1.
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
"""Factor on the shifts that makes z reach 0 at the vertices."""


def taut_string(c: Array, s: Array, noise: Array, tracked: Array) -> Path:
    """The cheapest path over all starts, in floats; `ShiftProgram.cost` certifies its cost.

    Arrays of shape (T,) hold the contraction c, sensitivity s and noise of every step; ``tracked`` holds
    min(D, D_t) before every step.
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
        hull.append(hull[-1].to(x, h))  # the string must pass above the point of z = 0
        # An earlier start costs more, even from 0.
        if hull[-1].energy >= best.energy or not 1 / _HUGE < growth < _HUGE:
            break
    ends, vertex = list[tuple[float, float]](), best
    while vertex is not None:
        ends.append((vertex.x, vertex.h))
        vertex = vertex.before
    return Path(start, float(tracked[start]), _shifts(ends[::-1], c[start:], noise[start:]))


class _Vertex(NamedTuple):
    """A vertex of a string, the energy from the end of the run to it, and the previous vertex."""

    x: float
    h: float
    energy: float
    before: "_Vertex | None"

    def to(self, x: float, h: float) -> "_Vertex":
        return _Vertex(x, h, self.energy + (h - self.h) ** 2 / (x - self.x), self)


def _pulled(hull: list[_Vertex], x: float, h: float) -> _Vertex:
    """The end (x, h) of the string pulled taut above the hull."""
    edges = range(len(hull) - 1)
    return hull[bisect_left(edges, True, key=lambda k: _beyond(hull[k], hull[k + 1], x, h))].to(x, h)


def _beyond(one: _Vertex, other: _Vertex, x: float, h: float) -> bool:
    """Tell whether an edge lies beyond the tangent point: whether the line from its end to (x, h) is steeper."""
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
"""Initial and maximum number of participations in one string, and logarithm of the largest growth in floats."""
_UP = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class Participations:
    """``steps`` steps z' = c z with constant noise, of which ``count`` >= 1 are participations z' = d z + s.

    c, d and s are enclosures, with d <= c, and d = c if c <= 1. ``last`` is d_1, ``gap`` is d_2 - d_1 and
    ``period`` is l.
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
        """Number of steps d_k from the k-th last participation, included, to the end."""
        return self.last if k == 1 else self.last + self.gap + (k - 2) * self.period

    def width(self, w: int) -> arb:
        """Noise variance after ``w`` steps without the sample, relative to the noise variance of one step."""
        return geometric_sum(self.c**2, w) / self.c**2 if self.c > 0 else arb(1)


def cheapest(met: Participations, diameter: float) -> tuple[arb, Path]:
    """Enclosed cost at noise 1 (a squared length) of the cheapest path found, and the path.

    Either the participations before the string are hidden one by one, or the string starts at the diameter,
    which may be inf, or at the distance that contracting steps leave.
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
    """Cost and path of the string over the last ``kept`` participations, from distance ``begun``.

    If ``begun`` is 0, each earlier participation is hidden on its own.
    """
    alone = (
        (met.count - max(kept, 2), met.period),
        (int(kept < 2 <= met.count), met.gap),
        (int(kept < 1), met.last),
    )
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
        first, shifts = string.start, string.shifts * _UP  # so that z reaches 0 at vertices
        cost += run_forward(
            lambda t: expansions[first + t], lambda t: noise[first + t], string.distance, shifts
        )
        if not hidden:
            start, distance = met.steps - sum(lengths[first:]), string.distance
        pieces += [(1, w, 0.0) for w in lengths[:first] if hidden]
        pieces += [(1, w, amount) for w, amount in zip(lengths[first:], shifts.tolist(), strict=True)]

    def made() -> Array:
        """All shifts; within a piece, each is proportional to c^k if k steps of the piece follow it."""
        parts = []
        for times, length, amount in pieces:
            left = float(met.c) ** np.arange(length - 1, -1, -1.0)
            parts.append(np.tile(amount * left / np.sum(left**2), times))
        return np.concatenate(parts)

    return cost, Path(start, distance, made)
