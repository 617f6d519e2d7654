"""Encounters l steps apart under a constant affine expansion: where the string touches, and what a piece costs.

Statement    The points (X, H) of encounters l steps apart have slopes that rise by c^-l from one to the next, towards
             the past: for c <= 1 the string is straight over them. Hiding s over an encounter and the l - 1 steps after
             it costs (c^(l-1) s)^2 / (1 + c^2 + ... + c^(2l-2)).
Assumptions  c > 0; in units of the noise; p = c^l, q = c^d with d the steps from the encounter to the end.
Derivation   H rises by s q / c over X that rises by q^2 / p^2 (p^2 - 1) / (c^2 - 1); d + l for d multiplies q by p. The
             shifts of a piece are proportional to what is left of them, Cauchy-Schwarz.
Source       docs/proofs/affine_windows.md; used by `lastiterate.numeric.shift_program.participations`.
"""

from sympy import Expr, Integer

from lastiterate.symbolic.claim import Identity, Inequality, Ours, Recursion
from lastiterate.symbolic.notation import PREVIOUS, a, c, p, q, s, u, v, w, x, y
from lastiterate.symbolic.papers import proof


def _slope(left: Expr) -> Expr:
    """Rise of H over that of X between the encounter with c^d = left and the one l steps later."""
    return (s * left / c) / (left**2 / p**2 * (1 - p**2) / (1 - c**2))


def _above(factor: Expr | int) -> Inequality:
    """Slopes u <= v over widths x, y: the middle point lies below the chord of the outer ones."""
    return Inequality(factor * u * x, "<=", (u * x + v * y) * x / (x + y), given=(u <= v,), name="chord")


CLAIMS = (
    Ours(
        "ours/encounters/string",
        "Slopes between encounters l steps apart rise by c^-l towards the past; for c <= 1 the chord lies above",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(_slope(p * q) / _slope(q), 1 / p, "ratio of slopes"),
        _above(1).mutant("above twice the chord", _above(2)),
        Recursion(w, Integer(0), PREVIOUS + c ** (2 * w - 2), (1 - c ** (2 * w)) / (1 - c**2), name="X"),
        assumptions=(c > 0, x > 0, y > 0),
    ),
    Ours(
        "ours/encounters/piece",
        "A piece hides an amount at the least cost by shifts proportional to what is left of them at its end",
        proof("affine_windows", "Schedules: a taut string"),
        Inequality((c * a + x) ** 2 / (1 + c**2), "<= and attained", a**2 + x**2, name="two steps"),
        Identity(
            (c * y / (1 + c**2)) ** 2 + (y / (1 + c**2)) ** 2, y**2 / (1 + c**2), "shifts c and 1 of c^2 + 1"
        ).mutant("equal shifts", left=2 * (y / (1 + c)) ** 2),
    ),
)
