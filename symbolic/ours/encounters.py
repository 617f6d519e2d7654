"""Encounters l steps apart under a constant affine expansion: where the string touches, and what a piece costs.

Statement    The points (X, H) of encounters l steps apart have slopes that rise by c^-l from one to the next, towards
             the past: for c <= 1 the string is straight over them. Hiding s over an encounter and the l - 1 steps after
             it costs (c^(l-1) s)^2 / (1 + c^2 + ... + c^(2l-2)).
Assumptions  c > 0; in units of the noise; p = c^l, q = c^d with d the steps from the encounter to the end.
Derivation   H rises by s q / c over X that rises by q^2 / p^2 (p^2 - 1) / (c^2 - 1); d + l for d multiplies q by p. The
             shifts of a piece are proportional to what is left of them, Cauchy-Schwarz.
Source       ours; used by `lastiterate.numeric.shift_program.participations`.
"""

from sympy import Expr, Integer

from lastiterate.symbolic.claim import (
    Claim,
    Engine,
    Identity,
    Inequality,
    Mutant,
    Recursion,
    Relation,
    Role,
    Source,
)
from lastiterate.symbolic.notation import PREVIOUS, a, c, p, q, s, u, v, w, x, y

_SOURCE = Source("DESIGN.md", 59, "Section 2", "fixed tau, cyclic batches")


def _slope(left: Expr) -> Expr:
    """Rise of H over that of X between the encounter with c^d = left and the one l steps later."""
    return (s * left / c) / (left**2 / p**2 * (1 - p**2) / (1 - c**2))


def _above(factor: Expr | int) -> Inequality:
    """Slopes u <= v over widths x, y: the middle point lies below the chord of the outer ones."""
    return Inequality(factor * u * x, Relation.AT_MOST, (u * x + v * y) * x / (x + y), given=(u <= v,), name="chord")


CLAIMS = (
    Claim(
        key="ours/encounters/string",
        title="Slopes between encounters l steps apart rise by c^-l towards the past; for c <= 1 the chord lies above",
        source=_SOURCE,
        assumptions=(c > 0, x > 0, y > 0),
        checks=(
            Identity(_slope(p * q) / _slope(q), 1 / p, "ratio of slopes"),
            _above(1),
            Recursion(w, Integer(0), PREVIOUS + c ** (2 * w - 2), (1 - c ** (2 * w)) / (1 - c**2), name="X"),
        ),
        mutants=(
            Mutant("they fall", Identity(_slope(p * q) / _slope(q), p), Engine.IDENTITY),
            Mutant("above twice the chord", _above(2), Engine.INEQUALITY),
            Mutant(
                "X with c for c^2",
                Recursion(w, Integer(0), PREVIOUS + c ** (2 * w - 2), (1 - c**w) / (1 - c)),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="ours/encounters/piece",
        title="A piece hides an amount at the least cost by shifts proportional to what is left of them at its end",
        source=_SOURCE,
        assumptions=(c > 0,),
        checks=(
            Inequality((c * a + x) ** 2 / (1 + c**2), Relation.TIGHT, a**2 + x**2, name="two steps"),
            Identity((c * y / (1 + c**2)) ** 2 + (y / (1 + c**2)) ** 2, y**2 / (1 + c**2), "shifts c and 1 of c^2 + 1"),
        ),
        mutants=(
            Mutant("equal shifts", Identity(2 * (y / (1 + c)) ** 2, y**2 / (1 + c**2)), Engine.IDENTITY),
            Mutant(
                "twice as dear",
                Inequality(2 * (c * a + x) ** 2 / (1 + c**2), Relation.AT_MOST, a**2 + x**2),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
    ),
)
