"""Where a cheapest path can rest: not on a concave kink, possibly on a convex one.

Statement    Let e have left slope c and right slope r at z_t > 0, a > 0 the shift after z_t and x the one before. If
             c > r (the clip cap) the cost falls to one side, so no cheapest path passes through the kink itself.
Assumptions  a > 0; e'(z-) = c, e'(z+) = r.
Derivation   As a function of z_t the cost has left slope 2 (a c - x) and right slope 2 (a r - x); a minimum needs
             a c <= x <= a r.
Source       docs/proofs/expansions.md: paths do not rest on the kink of the clip cap.
Remark       At a convex kink (a tabulated modulus) a whole interval of slopes a c <= x <= a r is stationary.
             That is why `numeric.shift_program.optimum` shoots only where e is concave.
"""

from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.claim import Inequality, Ours
from lastiterate.symbolic.notation import a, c, r, x
from lastiterate.symbolic.papers import proof


def _falls(*given: Boolean) -> Inequality:
    return Inequality(x, "<", a * c, given=(a > 0, x <= a * r, *given), name="the left slope is positive")


CLAIMS = (
    Ours(
        "ours/kinks/concave",
        "No cheapest path rests on a concave kink: if the cost does not fall to the right, it falls to the left",
        proof("expansions", "Kinks"),
        _falls(c > r).mutant("a convex kink", _falls(c < r)).mutant("no kink", _falls(c >= r)),
    ),
)
