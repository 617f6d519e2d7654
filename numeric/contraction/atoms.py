"""Pairs of measures with finitely many ratios whose hockey-stick profile is at least a table.

A table has kinks at its nodes only: it is the profile of atoms, q_j = the change of slope at l_j, p_j = l_j q_j, of the
mass p at the last node beside Q, and of a mass of Q beside P. Floats make q_j; then P is made heavier and Q lighter by
the least of `LIFTS` for which what results is admitted when it is held against the table: for measures with P(all) >= 1
>= Q(all) the one-block bound needs no more.

Source: docs/proofs/contraction.md (claim ours/contraction/atoms).
"""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.table import DOWN, UP, Table, envelope, headed

LIFTS = (2.0**-36, 2.0**-30, 2.0**-24)
"""The first is well above the rounding errors of masses, which are differences of slopes; the others where nodes are
close to 1 and values far from 0."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Atoms: measures P and Q on finitely many ratios.

    Attributes:
        ratio: l = dP/dQ, shape (2n - 1,), rising; 1 is in the middle.
        p: masses under P.
        q: masses under Q.
        only_p: the mass of P where Q has none.
        only_q: the mass of Q where P has none.
        lift: one of `LIFTS`.
    """

    ratio: Array
    p: Array
    q: Array
    only_p: float
    only_q: float
    lift: float

    @classmethod
    def of(cls, table: Table) -> "Atoms":
        """Atoms whose profile is at least the table everywhere.

        Raises:
            ArithmeticError: rounding errors are larger than every lift.
        """
        middle, right, left = envelope(table.g, table.ahead, table.back)
        one, g = len(table.g) - 1, table.g
        values = headed(middle, table.ahead)[right], headed(middle, table.back)[left]
        above, only_p = _masses(g, values[0], right)
        below, only_q = _masses(g, values[1], left)
        p, q = np.zeros(2 * one + 1), np.zeros(2 * one + 1)
        q[one + 1 :], p[one + 1 :] = above, g[1:] * above
        p[:one], q[:one] = below[::-1], (g[1:] * below)[::-1]
        p[one] = q[one] = max(1 - fsum(q.tolist()) - only_q, 1 - fsum(p.tolist()) - only_p, 0.0)
        for lift in LIFTS:
            if _admitted(g, values, (right, left), (p, q, only_p, only_q), lift):
                lifted, lowered = 1 + lift, 1 - lift
                return cls(ratios(g, lift), p * lifted, q * lowered, only_p * lifted, only_q * lowered, lift)
        raise ArithmeticError("a table of a profile loses more digits than it may be lifted by")


def ratios(g: Array, lift: float = LIFTS[0]) -> Array:
    """The ratios of the atoms of any table with nodes g: 1/g and g, both lifted."""
    plain = np.concatenate([1 / g[:0:-1], g])
    found: Array = plain * ((1 + lift) / (1 - lift))
    return found


def _masses(g: Array, values: Array, kept: NDArray[np.intp]) -> tuple[Array, float]:
    """Changes of slope at the nodes from the second on, 0 where a node is not kept; and the last value."""
    at, falls, found = g[kept], np.zeros(len(kept)), np.zeros(len(g))
    falls[:-1] = (values[:-1] - values[1:]) / (at[1:] - at[:-1])
    found[kept[1:]] = np.maximum(falls[:-1] - falls[1:], 0.0)
    return found[1:], float(values[-1])


def _admitted(
    g: Array,
    values: tuple[Array, Array],
    kept: tuple[NDArray[np.intp], NDArray[np.intp]],
    atoms: tuple[Array, Array, float, float],
    lift: float,
) -> bool:
    """Hold the profile of the atoms before they were lifted against a table, and the masses against 1.

    Right of 1 lifting multiplies the profile by 1 + lift at least. Left of 1, with t = 1/g, it adds
    lift (t P + Q)(ratios above g) to t times what the atoms give, and so do t (P(all) - 1) and 1 - Q(all).
    """
    p, q, only_p, only_q = atoms
    one, widths = len(g) - 1, g[1:] - g[:-1]
    ahead, back = _profile(q[one + 1 :], only_p, widths), _profile(p[:one][::-1], only_q, widths)
    right = np.all(ahead[kept[0]] * (1 + lift) * DOWN >= values[0] * UP)
    total_p, total_q = fsum([*p.tolist(), only_p]), fsum([*q.tolist(), only_q])
    above = (p[::-1].cumsum()[::-1][one::-1] + only_p) * g  # t P(ratios from 1/t on)
    spare = np.concatenate([above[:1], above[:-1] * (g[1:] / g[:-1])]) * lift * DOWN  # those above 1/t are one fewer
    found = back * DOWN + g * (total_p - 1) + (1 - total_q) + spare
    left = np.all(found[kept[1]] >= values[1] * UP)
    masses = total_p * (1 + lift) * DOWN >= 1 >= total_q * (1 - lift) * UP
    return bool(right and left and masses)


def _profile(masses: Array, rest: float, widths: Array) -> Array:
    """Sum over the nodes to the right of mass times distance, and the rest."""
    beyond, found = masses[::-1].cumsum()[::-1], np.zeros(len(masses) + 1)
    found[:-1] = (beyond * widths)[::-1].cumsum()[::-1]
    return found + rest
