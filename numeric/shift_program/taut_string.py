"""Exact optima of affine expansions: a taut string, and the same without a loop over T where steps are periodic.

With P_t = c_t ... c_{T-1} let X_t = sum_{i>=t} (sigma_i P_{i+1})^2, H_t = sum_{i>=t} P_{i+1} s_i, and R_t = P_t z_t +
H_t. The cost is the energy of a string R over X that ends at R_T = 0, pulled taut above the points (X_t, H_t): their
least concave majorant up to the start. Its slopes give the shifts, a_t = slope sigma_t^2 P_{t+1}. One stack serves
every start tau, O(T log T).

Where steps are constant free steps merge, and the n participations lie d_1 < d_2 < ... < d_n steps before the end,
d_k - d_{k-1} = l from k = 3 on. With w steps to go the string to a start w, at height H_j + c^w Delta, must pass above
(X(d_k), H_k) for k <= j,

    X(w) = sigma^2 (1 + c^2 + ... + c^(2w - 2)),   H_k = s (c^(d_1 - 1) + ... + c^(d_k - 1)).

For c <= 1 only the first two of these points and the j-th may be touched, and starts that are worth it lie right after
a participation (at the diameter), or at the first one (at 0). For c > 1 every participation hides itself before the
next from 0; from the diameter the string is that of the merged steps.

Source: docs/proofs/affine_windows.md (claims ours/taut_string/*, ours/participations/*); c < 1, d_1 = 1 is Bok, Su &
Altschuler 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Affine
from lastiterate.numeric.rounding import exact, geometric_sum, lower, upper
from lastiterate.numeric.shift_program.program import Path, run_forward

_HUGE = 1e100

_SPARE = 1 + 1e-13
"""Shifts are this much longer than the string says: where it touches, z falls to 0 and not to a rounding error above,
which steps that expand would blow up into a real distance."""


def taut_string(c: Array, s: Array, noise: Array, tracked: Array) -> Path:
    """The cheapest path over all starts; in floats, so certify its cost with `ShiftProgram.cost`.

    Contraction, sensitivity and noise of each step have shape (T,), and so has min(D, D_t), the distance that is there
    for free at each time; the last three are lengths.
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


_LONGEST = 4096
_GROWTH = 100.0
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


def _merged_path(
    met: Participations, start: int, distance: float, pieces: Sequence[tuple[int, float]], repeated: int = 1
) -> Path:
    """A path by its pieces (steps, amount hidden over them), the first of them ``repeated`` times.

    Within a piece shifts are proportional to what is left of them at its end, as is optimal.
    """

    def shifts() -> Array:
        parts = []
        for length, amount in pieces:
            left = float(met.c) ** np.arange(length - 1, -1, -1.0)
            parts.append(amount * left / np.sum(left**2))
        return np.concatenate([np.tile(parts[0], repeated), *parts[1:]])

    return Path(start, distance, shifts)


def cheapest(met: Participations, diameter: float) -> tuple[arb, Path]:
    """The cost of the cheapest path, enclosed, in units of the noise squared, and the path; the diameter may be inf."""
    if met.c <= 1:
        return _contracting(met, diameter)
    found = _each_by_itself(met)
    if isfinite(diameter):
        other = _merged(met, diameter)
        if other[0].upper() < found[0].upper():
            return other
    return found


def _width(met: Participations, w: int) -> arb:
    """X(w) in units of the noise."""
    return geometric_sum(met.c**2, w) / met.c**2 if met.c > 0 else arb(1)


def _contracting(met: Participations, diameter: float) -> tuple[arb, Path]:
    # Starts: at the first participation from 0, and right after the (j+1)-th from the end, j participations to come.
    tops = [(met.count, met.before_end(met.count), 0.0)]
    if isfinite(diameter):
        tops += [(j, met.before_end(j + 1) - 1, diameter) for j in _starts(met, diameter)]
    found = [_string(met, *top) for top in tops]
    return min(found, key=lambda one: float(one[0].upper()))


def _starts(met: Participations, diameter: float) -> list[int]:
    """The cheapest start from the diameter and its neighbours, by the participations that are left.

    All are looked at up to `_LONGEST`, beyond that ever fewer and then those around the best: any start is valid.
    """
    first, last = (1 if met.last == 1 else 0), met.count - 1
    if first > last:
        return []
    near = np.arange(first, min(last, first + _LONGEST) + 1)
    far = np.geomspace(near[-1] + 1, last, _LONGEST).astype(np.int64) if last > near[-1] else near[:0]
    looked = np.unique(np.concatenate([near, far, [last]]))
    while True:
        at = int(_floats(met, looked, diameter).argmin())
        low, high = int(looked[max(at - 1, 0)]), int(looked[min(at + 1, len(looked) - 1)])
        if high - low <= 2:
            return sorted({low, int(looked[at]), high})
        looked = np.unique(np.linspace(low, high, _LONGEST).astype(np.int64))


def _floats(met: Participations, j: NDArray[np.int64], D: float) -> Array:
    """The energy to each start from the diameter, through every choice of the points that may be touched."""
    c, s = float(met.c), float(met.s)

    def width(steps: Array) -> Array:
        if c == 0:
            return np.ones_like(steps)
        return steps.copy() if c == 1 else np.expm1(2 * steps * np.log(c)) / np.expm1(2 * np.log(c))

    def place(k: NDArray[np.int64]) -> Array:
        return np.asarray(np.where(k == 1, met.last, met.last + met.gap + (k - 2.0) * met.period))

    def height(k: NDArray[np.int64]) -> Array:
        if c == 0 or c == 1:
            return s * (k.astype(float) if c else np.minimum(k, 1.0) * (met.last == 1))
        others = np.expm1(np.maximum(k - 1, 0) * met.period * np.log(c)) / np.expm1(met.period * np.log(c))
        return np.asarray(s * (c ** (met.last - 1.0) + c ** (met.last + met.gap - 1.0) * others) * (k > 0))

    with np.errstate(all="ignore"):  # what overflows is not the least
        w = place(j + 1) - 1
        top_x, top_h = width(w), height(j) + c**w * D
        zero = np.zeros_like(w)
        points = [(zero, zero)]
        for k in (np.ones_like(j), np.full_like(j, 2), j):
            before = (k > 0) & (k <= j) & (place(np.maximum(k, 1)) < w)
            points.append((np.where(before, width(place(np.maximum(k, 1))), 0.0), np.where(before, height(k), 0.0)))
        best = np.full(len(w), np.inf)
        for size in range(4):
            for chosen in combinations((1, 2, 3), size):
                energy, feasible = np.zeros_like(w), np.ones(len(w), dtype=bool)
                way = [points[0], *(points[i] for i in chosen), (top_x, top_h)]
                for (x0, h0), (x1, h1) in pairwise(way):
                    wide = np.maximum(x1 - x0, 1e-300)
                    energy += np.where(x1 > x0, (h1 - h0) ** 2 / wide, 0.0)
                    for x, h in points[1:]:
                        inside = (x > x0) & (x < x1)
                        feasible &= ~inside | (h0 + (h1 - h0) * (x - x0) / wide >= h * (1 - 1e-12))
                best = np.where(feasible, np.minimum(best, energy), best)
        return np.asarray(np.nan_to_num(best, nan=np.inf))


def _string(met: Participations, j: int, w: int, distance: float) -> tuple[arb, Path]:
    """The string to one start, its energy enclosed: the least over the choices of points that certainly are above."""
    origin, top = _Point(0, 0), _Point(j, w, distance)
    corners = [_Point(k, met.before_end(k)) for k in sorted({1, 2, j}) if 1 <= k <= j and met.before_end(k) < w]
    found = []
    for size in range(len(corners) + 1):
        for chosen in combinations(corners, size):
            way = [origin, *chosen, top]
            # The choice of all corners has nothing to be tested, so that one at least is found.
            if all(_above(met, way, corner) for corner in corners if corner not in chosen):
                pieces = [(q.w - p.w, _amount(met, p, q)) for p, q in pairwise(way)]
                found.append((sum((a**2 / _width(met, length) for length, a in pieces), arb(0)), pieces[::-1]))
    energy, pieces = min(found, key=lambda one: float(one[0].upper()))
    return energy, _merged_path(met, met.steps - w, distance, [(length, float(a)) for length, a in pieces])


class _Point(NamedTuple):
    """A point of the string: w steps to go, k participations among them, and a distance there on top of H_k."""

    k: int
    w: int
    distance: float = 0.0


def _above(met: Participations, way: list[_Point], corner: _Point) -> bool:
    """Tell whether the piece of the string over a corner is certainly not below it."""
    p, q = next((p, q) for p, q in pairwise(way) if p.w < corner.w < q.w)
    share = _width(met, corner.w - p.w) / _width(met, q.w - p.w)
    return bool(_amount(met, p, q) * share >= _amount(met, p, corner))


def _amount(met: Participations, p: _Point, q: _Point) -> arb:
    """The rise of the string from p to q in units of c^w at p, enclosed; there it is the sum of shifts to be made."""
    total = met.c ** (q.w - p.w) * exact(q.distance)
    for k in range(p.k + 1, min(q.k, 2) + 1):
        total += met.s * met.c ** (met.before_end(k) - 1 - p.w)
    first = max(p.k + 1, 3)
    if first <= q.k:
        others = 1 + geometric_sum(met.c**met.period, q.k - first)
        total += met.s * met.c ** (met.before_end(first) - 1 - p.w) * others
    return total


def _each_by_itself(met: Participations) -> tuple[arb, Path]:
    """From 0 each participation is hidden before the next."""
    each = ((max(met.count - 2, 0), met.period), (int(met.count > 1), met.gap), (1, met.last))
    pieces = [(times, length, met.s * met.c ** (length - 1)) for times, length in each if times]
    total = sum((times * amount**2 / _width(met, length) for times, length, amount in pieces), arb(0))
    amounts = [(length, float(amount)) for _, length, amount in pieces]
    return total, _merged_path(met, met.steps - met.before_end(met.count), 0.0, amounts, pieces[0][0])


def _merged(met: Participations, diameter: float) -> tuple[arb, Path]:
    """The string over the last merged steps: free steps and participation steps by turns, from the diameter."""
    room = int(_GROWTH / max(np.log(float(met.c.upper())), 1e-12))  # steps whose growth floats can hold
    kept = min(met.count, _LONGEST, (room - met.last - met.gap) // met.period + 2)
    if met.last > room or kept < 1:
        return _each_by_itself(met)
    lengths, expansions = [], []
    for k in range(kept, 0, -1):
        free = (met.last if k == 1 else met.gap if k == 2 else met.period) - 1
        lengths += [1, free] if free else [1]
        expansions += [Affine(met.d, met.s), Affine(met.c**free, arb(0))] if free else [Affine(met.d, met.s)]
    before = min(met.period - 1, met.steps - met.before_end(kept), room)
    if before > 0:
        lengths, expansions = [before, *lengths], [Affine(met.c**before, arb(0)), *expansions]
    noise = [lower(_width(met, length).sqrt()) for length in lengths]
    c = np.array([float(e.contraction) for e in expansions])
    s = np.array([float(e.sensitivity) for e in expansions])
    found = taut_string(c, s, np.array(noise), np.full(len(c), diameter))
    first = found.start
    # Rounded up, so that a corner at 0 is at 0: what is left of 1e-17 would grow again.
    shifts = found.shifts * _UP
    cost = run_forward(lambda t: expansions[first + t], lambda t: noise[first + t], upper(exact(diameter)), shifts)
    pieces = list(zip(lengths[first:], shifts.tolist(), strict=True))
    return cost, _merged_path(met, met.steps - sum(lengths[first:]), diameter, pieces)
