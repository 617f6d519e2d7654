"""Tables of upper bounds on a hockey-stick profile in both orders of the laws, linear between nodes.

E_g(P || Q) = sup over S of P(S) - g Q(S) is convex and nonincreasing in g. For g < 1, E_g follows from the
other order, so a table holds both orders at ratios g >= 1, where no digits cancel. Chords between upper
bounds are upper bounds, and the last value is an upper bound right of the last node.

exp((a - 1) D_a(P || Q)) = 1 + a (a - 1) [int_1^oo t^(-a-1) E_t(Q || P) dt + int_1^oo g^(a-2) E_g(P || Q) dg].
Here a is the Renyi order, and chords are integrated exactly. Beyond a last node G, a Renyi bound D_b of order
b > a gives E_g <= c g^(1-b) with c = e^((b-1) D_b) (b-1)^(b-1) b^(-b), which contributes a (a - 1) c G^(a-b)
/ (b - a).

Source: docs/proofs/contraction.md (claims ours/contraction/*, ours/contraction/renyi).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from math import inf, isfinite, log, log1p

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences.sampled import gaussian_profile
from lastiterate.numeric.rounding import exact, precision, upper

SLACK = 2.0**-40
"""Bound on the relative rounding error of a sum of a few thousand nonnegative terms."""
UP, DOWN = 1 + SLACK, 1 - SLACK
TINY = 1e-200
"""Amount added to values that are rounded up, since products may underflow."""


@dataclass(frozen=True, eq=False)
class Table:
    """Upper bounds ``ahead`` on E_g(P || Q) and ``back`` on E_g(Q || P) at nodes g that increase from 1.

    ``back`` is ``ahead`` itself if one profile serves both orders.
    """

    g: Array = field(repr=False)
    ahead: Array = field(repr=False)
    back: Array = field(repr=False)

    @property
    def symmetric(self) -> bool:
        """Tell whether one profile serves both orders."""
        return self.ahead is self.back

    @property
    def reversed(self) -> "Table":
        """The profile of (Q, P)."""
        return self if self.symmetric else Table(self.g, self.back, self.ahead)

    @property
    def worse(self) -> Array:
        """The larger bound of the two orders at each node."""
        return self.ahead if self.symmetric else np.maximum(self.ahead, self.back)

    def __call__(self, r: Array) -> Array:
        """Upper bounds on E_r(P || Q) at ratios r >= 0 of any shape; 1 at r = 0."""
        r = np.minimum(np.asarray(r, dtype=np.float64), 1 / TINY)  # a smaller ratio has a larger value
        found, right = np.empty_like(r), r * UP >= 1
        more, less = r[right], r[~right]
        beyond = chord(self.g, self.ahead, np.maximum(more * DOWN, 1.0))
        inverse = np.minimum(1 / (np.maximum(less, TINY) * UP), self.g[-1] * 2)
        below = less * UP * chord(self.g, self.back, np.maximum(inverse, 1.0)) + (1 - less * DOWN)
        found[right], found[~right] = (
            np.where(more >= 1, beyond, np.minimum(beyond, 1.0)),
            np.minimum(below, 1.0),
        )
        return found

    @cached_property
    def sketch(self) -> tuple[Array, Array]:
        """Ratios g and approximate values of E_g(P || Q), for searches."""
        below = 1 / self.g[:0:-1]
        return np.concatenate([below, self.g]), np.concatenate(
            [1 - below + below * self.back[:0:-1], self.ahead]
        )

    def epsilon(self, delta: float) -> float:
        """Epsilon of (epsilon, delta)-DP, rounded up; inf if the table does not reach delta."""
        worse = self.worse
        reached = np.flatnonzero(worse <= delta)
        if not len(reached):
            return inf
        k = int(reached[0])
        if k == 0:
            return 0.0
        with precision():
            (high, low), (left, right) = map(exact, worse[k - 1 : k + 1]), map(exact, self.g[k - 1 : k + 1])
            crossing = left + (right - left) * (high - exact(delta)) / (high - low)
            return max(upper(crossing.log()), 0.0)

    def delta(self, epsilon: float) -> float:
        """Delta of (epsilon, delta)-DP, rounded up, at epsilon >= 0."""
        with precision():
            ratio = exact(epsilon).exp()
            if not ratio < exact(self.g[-1]):
                return min(float(self.worse[-1]), 1.0)
            k = int(np.searchsorted(self.g, float(ratio.mid()), side="right")) - 1
            k = max(min(k, len(self.g) - 2), 0)
            k -= k > 0 and not exact(self.g[k]) <= ratio  # the middle of the ball may be on the other side
            k += bool(k < len(self.g) - 2 and ratio > exact(self.g[k + 1]))
            left, right = exact(self.g[k]), exact(self.g[k + 1])
            high, low = exact(self.worse[k]), exact(self.worse[k + 1])
            share = (ratio - left) / (right - left)
            return min(max(upper(high + (low - high) * share), 0.0), 1.0)

    def hull(self) -> "Table":
        """The lower convex envelope over both orders, a bound because the true profile is convex."""
        middle, right, left = envelope(self.g, self.ahead, self.back)
        ahead = _between(self.g, headed(middle * UP, self.ahead), right)
        return Table(
            self.g, ahead, ahead if self.symmetric else _between(self.g, headed(middle * UP, self.back), left)
        )


def chord(nodes: Array, values: Array, at: Array) -> Array:
    """Linear interpolation of values >= 0 at points >= 1, rounded up; constant right of the last node."""
    k = np.minimum(np.maximum(np.searchsorted(nodes, at, side="right") - 1, 0), len(nodes) - 2)
    left, right = nodes[k], nodes[k + 1]
    inside = np.minimum(at, right)
    found: Array = (values[k] * (right - inside) + values[k + 1] * (inside - left)) / (right - left) * UP + TINY
    return found


def tabulate(profile: Callable[[arb], arb], logs: Array, back: Callable[[arb], arb] | None = None) -> Table:
    """Tabulate E_g(P || Q) by ``profile`` and E_g(Q || P) by ``back`` (None if equal), at g = exp(logs)."""
    g = nodes(logs)
    with precision(96):
        ahead = np.array([min(upper(profile(exact(x))), 1.0) for x in g])
        other = ahead if back is None else np.array([min(upper(back(exact(x))), 1.0) for x in g])
    if other is not ahead:  # at 1 the orders agree
        ahead[0] = other[0] = min(ahead[0], other[0])
    return Table(g, ahead, other)


def nodes(logs: Array) -> Array:
    """The ratios exp(logs) that floats distinguish."""
    g = np.exp(logs)
    g = g[np.append(True, np.diff(g) > 1e-12 * g[1:])]
    return g if len(g) > 1 else np.array([1.0, 2.0])


def unknown(g: Array) -> Table:
    """The trivial table, 1 everywhere, of two unknown laws."""
    one = np.ones_like(g)
    return Table(g, one, one)


def equal(g: Array) -> Table:
    """The table, 0 everywhere, of two equal laws."""
    zero = np.zeros_like(g)
    return Table(g, zero, zero)


def spread_nodes(scale: float, end: float, count: int) -> Array:
    """``count`` logarithms of ratios from 0 to ``end``, with spacings that grow from about ``scale``."""
    if scale * (count - 1) >= end:
        return np.linspace(0.0, end, count)
    low, high = 0.0, 60.0 / count
    for _ in range(60):
        middle = (low + high) / 2
        reach = scale * np.sinh(middle * (count - 1)) / middle
        low, high = (middle, high) if reach < end else (low, middle)
    found: Array = scale * np.sinh(low * np.arange(count)) / low
    return found


def envelope(g: Array, ahead: Array, back: Array) -> tuple[float, NDArray[np.intp], NDArray[np.intp]]:
    """Lower convex envelope on nodes g and 1/g: value at 1, and indices kept on each side, including 0."""
    n, one = len(g), min(float(ahead[0]), float(back[0]))
    kept = _convex(g, headed(one, ahead), headed(one, back))
    right, left = kept[kept > n] - n, (n - kept[(kept > 0) & (kept < n)])[::-1]
    # The chord over 1, a sum of nonnegative terms; it begins at (0, 1) if no node left of 1 is kept.
    y, x = 1 / (g[right[0]] - 1), 1 / (g[left[0]] - 1) if len(left) else 0.0
    over = (1 + ahead[right[0]] * y + (back[left[0]] * x if len(left) else 0.0)) / (1 + x + y)
    return min(one, float(over)), np.append(0, right), np.append(0, left)


def headed(first: float, values: Array) -> Array:
    """The values with the first one replaced."""
    found = values.copy()
    found[0] = first
    return found


def _convex(g: Array, ahead: Array, back: Array) -> NDArray[np.intp]:
    """Indices of the nodes kept among 0, 1/g (in increasing order) and g; any choice gives a bound.

    Slopes are computed from g - 1, since 1/g loses digits near 1; 1 is added to slopes that start left of 1.
    """
    one = len(g)
    widths = g[1:] - g[:-1]
    left = back[:-1] + g[:-1] * ((back[:-1] - back[1:]) / widths)
    slope = np.concatenate([back[-1:], left[::-1], (ahead[1:] - ahead[:-1]) / widths])
    rises = slope[1:] - slope[:-1]
    rises[one - 1] += 1
    bent = (np.flatnonzero(rises <= 0) + 1).tolist()
    if not bent:
        return np.arange(2 * one)
    t, v = [inf, *g[:0:-1].tolist(), *g.tolist()], [0.0, *back[:0:-1].tolist(), *ahead.tolist()]
    before, after = list(range(-1, 2 * one - 1)), list(range(1, 2 * one + 1))
    stays, slopes = [True] * (2 * one), slope.tolist()  # from each node to the next

    def steep(i: int, j: int) -> float:
        if i >= one:
            return float((v[j] - v[i]) / (t[j] - t[i]))
        if j <= one:
            return float(v[j] + t[j] * ((v[j] - v[i]) / (t[i] - t[j])))
        return float(
            (v[j] + t[j] - 1 - v[i] / t[i]) / (t[j] - 1 + (1 - 1 / t[i] if i == 0 else (t[i] - 1) / t[i]))
        )

    while bent:  # removing a node may make its neighbours nonconvex
        k = bent.pop()
        i, j = before[k], after[k]
        if i < 0 or j == 2 * one or not stays[k]:
            continue
        if slopes[i] >= slopes[k] + (1.0 if i < one <= k else 0.0):
            stays[k], after[i], before[j], slopes[i] = False, j, i, steep(i, j)
            bent += [i, j]
    return np.flatnonzero(stays)


def _between(g: Array, values: Array, kept: NDArray[np.intp]) -> Array:
    if len(kept) == len(g):
        return values
    found: Array = np.interp(g, g[kept], values[kept]) * UP + TINY
    found[kept] = values[kept]
    return found


NODES = 800
_WIDEST = 45.0


@lru_cache(maxsize=1024)
def gaussian_table(mu: float) -> Table:
    """The table of E_g(N(mu, 1) || N(0, 1)) for mu >= 0; one profile serves both orders."""
    if mu == 0:
        return equal(np.array([1.0, 2.0]))
    shift = exact(mu)
    return tabulate(
        lambda g: gaussian_profile(shift, g.log()), mu * spread_nodes(0.01, min(_WIDEST, 300 / mu), NODES)
    )


BEYOND, CUTS = (1.25, 1.5, 2.0, 3.0, 5.0, 9.0), 12
"""Orders of Renyi bounds beyond a table, as multiples of the order, and number of nodes tried as the last node."""


def table_rdp(table: Table, order: float, known: Callable[[float], float]) -> float:
    """Epsilon of (order, epsilon)-RDP, rounded up; ``known`` gives bounds at higher orders."""
    sides = (table,) if table.symmetric else (table, table.reversed)
    with precision():
        tail = _tails(order, known)
        return max(_one_order(one, order, tail) for one in sides)


def sketch_rdp(table: Table, order: float, known: Callable[[float], float]) -> float:
    """Approximate `table_rdp` in floats; inf beyond their range."""
    a, log_g, found = order, np.log(table.g), [0.0]
    rest = [log(a * (a - 1) / (b - a)) + (b - 1) * (d + log(b - 1)) - b * log(b) + (a - b) * log_g
            for b in (a * factor for factor in BEYOND) if isfinite(d := known(b))]  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.diff(log_g) * (a - 1) * a / 2
        tail = np.exp(np.min(rest, axis=0)) if rest else np.full(len(log_g), inf)
        for one in (table,) if table.symmetric else (table, table.reversed):
            ahead, back = one.ahead * np.exp((a - 1) * log_g), one.back * np.exp(-a * log_g)
            sums = np.append(0.0, np.cumsum(widths * (ahead[1:] + ahead[:-1])))
            found.append(log1p(float(widths @ (back[1:] + back[:-1]) + np.min(sums + tail))) / (a - 1))
    return max(found)


def _one_order(table: Table, order: float, tail: Callable[[int, Table], arb]) -> float:
    a, g = exact(order), [exact(x) for x in table.g]
    ahead = _integrals(g, table.ahead, lambda x: x**a, lambda x: a * x ** (a - 1))
    # int a (a - 1) t^(-a-1) E: the second antiderivative of a (a - 1) t^(-a-1) is t^(1-a).
    back = sum(_integrals(g, table.back, lambda x: x ** (1 - a), lambda x: (1 - a) * x**-a), arb(0))
    back += exact(table.back[-1]) * (a - 1) * g[-1] ** -a  # the last value right of the last node
    sums = list(accumulate(ahead, initial=arb(0)))
    best = inf
    for cut in sorted({int(k) for k in np.linspace(len(g) // 4, len(g) - 1, CUTS)}):
        total = 1 + back + sums[cut] + tail(cut, table)
        if total.is_finite():
            best = min(best, upper(total.log() / (a - 1)))
    return max(best, 0.0)


def _integrals(
    g: list[arb], values: Array, twice: Callable[[arb], arb], once: Callable[[arb], arb]
) -> list[arb]:
    """Integral of each chord times a weight, from the weight's first and second antiderivatives."""
    found, ends = [], [(once(x), twice(x)) for x in g]
    for k in range(len(g) - 1):
        left, right = exact(values[k]), exact(values[k + 1])
        slope = (right - left) / (g[k + 1] - g[k])
        found.append(right * ends[k + 1][0] - left * ends[k][0] - slope * (ends[k + 1][1] - ends[k][1]))
    return found


def _tails(order: float, known: Callable[[float], float]) -> Callable[[int, Table], arb]:
    a = exact(order)
    bounds = [(exact(b), exact(known(b))) for b in (order * factor for factor in BEYOND)]
    constants = [
        (b, a * (a - 1) / (b - a) * ((b - 1) * d).exp() * (b - 1) ** (b - 1) / b**b)
        for b, d in bounds
        if d.is_finite()
    ]

    def tail(k: int, table: Table) -> arb:
        last = exact(table.g[k])
        found = [c * last ** (a - b) for b, c in constants]
        return min(found, key=upper) if found else arb("inf")

    return tail
