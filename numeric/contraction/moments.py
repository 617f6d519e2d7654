"""Renyi divergences out of a table.

For any order a > 1, exp((a - 1) D_a(P || Q)) = integral over g > 0 of a (a - 1) g^(a-2) E_g. With E_g = 1 - g +
g E_(1/g)(Q || P) below 1 this is 1 + a (a - 1) [int_1^oo t^(-a-1) E_t(Q || P) dt + int_1^oo g^(a-2) E_g(P || Q) dg]:
what is added to 1 is small where the divergence is, and no digit cancels. Chords are integrated exactly. Beyond a last
node G the table says too little; there a Renyi bound of another order b > a says E_g <= c g^(1-b), with
c = e^((b-1) D_b) (b-1)^(b-1) b^(-b), whose integral is a (a - 1) c G^(a-b) / (b - a).

Source: docs/proofs/contraction.md (claim ours/contraction/renyi).
"""

from collections.abc import Callable
from math import inf, isfinite, log, log1p

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.rounding import exact, precision, upper

_HIGHER = (1.25, 1.5, 2.0, 3.0, 5.0, 9.0)
_CUTS = 12


def table_rdp(table: Table, order: float, known: Callable[[float], float]) -> float:
    """Epsilon of (order, epsilon)-RDP in both orders, rounded up.

    Args:
        table: bounds the profile.
        order: above 1.
        known: a Renyi bound, in both orders, of any order above it, rounded up.
    """
    sides = (table,) if table.symmetric else (table, table.reversed)
    with precision():
        tail = _tails(order, known)
        return max(_one_order(one, order, tail) for one in sides)


def about_rdp(table: Table, order: float, known: Callable[[float], float]) -> float:
    """About what `table_rdp` gives, in floats; arguments as there. inf where floats do not reach."""
    a, log_g, found = order, np.log(table.g), [0.0]
    rest = [log(a * (a - 1) / (b - a)) + (b - 1) * (d + log(b - 1)) - b * log(b) + (a - b) * log_g
            for b in _above(a) if isfinite(d := known(b))]  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.diff(log_g) * (a - 1) * a / 2
        tail = np.exp(np.min(rest, axis=0)) if rest else np.full(len(log_g), inf)
        for one in (table,) if table.symmetric else (table, table.reversed):
            ahead, back = one.ahead * np.exp((a - 1) * log_g), one.back * np.exp(-a * log_g)
            sums = np.append(0.0, np.cumsum(widths * (ahead[1:] + ahead[:-1])))
            found.append(log1p(float(widths @ (back[1:] + back[:-1]) + np.min(sums + tail))) / (a - 1))
    return max(found)


def _above(order: float) -> list[float]:
    """The orders whose Renyi bounds tell of ratios beyond a table."""
    return [order * factor for factor in _HIGHER]


def _one_order(table: Table, order: float, tail: Callable[[int, Table], arb]) -> float:
    a, g = exact(order), [exact(x) for x in table.g]
    ahead = _integrals(g, table.ahead, lambda x: x**a, lambda x: a * x ** (a - 1))
    # int a (a - 1) t^(-a-1) E: the second antiderivative of a (a - 1) t^(-a-1) is t^(1-a).
    back = sum(_integrals(g, table.back, lambda x: x ** (1 - a), lambda x: (1 - a) * x**-a), arb(0))
    back += exact(table.back[-1]) * (a - 1) * g[-1] ** -a  # the last value right of the last node
    sums = [arb(0)]
    for part in ahead:
        sums.append(sums[-1] + part)
    best = inf
    for cut in sorted({int(k) for k in np.linspace(len(g) // 4, len(g) - 1, _CUTS)}):
        total = 1 + back + sums[cut] + tail(cut, table)
        if total.is_finite():
            best = min(best, upper(total.log() / (a - 1)))
    return max(best, 0.0)


def _integrals(g: list[arb], values: Array, twice: Callable[[arb], arb], once: Callable[[arb], arb]) -> list[arb]:
    """The integral of each chord times w on its cell, from the first and second antiderivatives of w.

    By parts: [E once] - E' [twice].
    """
    found, ends = [], [(once(x), twice(x)) for x in g]
    for k in range(len(g) - 1):
        left, right = exact(values[k]), exact(values[k + 1])
        slope = (right - left) / (g[k + 1] - g[k])
        found.append(right * ends[k + 1][0] - left * ends[k][0] - slope * (ends[k + 1][1] - ends[k][1]))
    return found


def _tails(order: float, known: Callable[[float], float]) -> Callable[[int, Table], arb]:
    """A bound of a (a - 1) times the integral of g^(a-2) E_g from node k on."""
    a = exact(order)
    bounds = [(exact(b), exact(known(b))) for b in _above(order)]
    constants = [
        (b, a * (a - 1) / (b - a) * ((b - 1) * d).exp() * (b - 1) ** (b - 1) / b**b) for b, d in bounds if d.is_finite()
    ]

    def tail(k: int, table: Table) -> arb:
        last = exact(table.g[k])
        found = [c * last ** (a - b) for b, c in constants]
        return min(found, key=upper) if found else arb("inf")

    return tail
