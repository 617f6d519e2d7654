"""Near misses of a check, which its engine makes, and the room that a lemma may leave."""

from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines import engine_of
from lastiterate.symbolic.checks import Check

ROOMS: Final = (sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100))
"""Shares of a bound that a lemma may leave as room, where the room is not read off points: tried in this order."""


def near_misses(check: Check, assumptions: tuple[Boolean, ...], room: sp.Expr = sp.S.Zero) -> tuple[Check, ...]:
    """Wrong variants of a check, at most `variants.MOST` by terms of its sides.

    Args:
        check: one that holds.
        assumptions: of its claim.
        room: the share of its bound that is known to be room; a near miss is stronger by more than that.

    >>> from sympy import Symbol
    >>> from lastiterate.symbolic.checks import Identity
    >>> x = Symbol("x")
    >>> [wrong.name for wrong in near_misses(Identity(x * (x + 1), x**2 + x), ())]
    ['x*(x + 1) times 103/100 on the left', 'x times 103/100 on the left', 'x**2 times 103/100 on the right']
    """
    made: tuple[Check, ...] = engine_of(check).near_misses(check, assumptions, room)
    return made
