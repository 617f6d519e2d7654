"""Cheapest paths: the taut string of affine expansions, value iteration on a grid, and where a path can rest.

String: z' = c z + s - a; p is the growth of the steps after t, H what drifts in after t, R = (growth to T) z + H. Grid:
F_t and e are arbitrary. Kinks: e has left slope c and right slope r at z_t, a > 0 is the shift after z_t and x the one
before; at a convex kink a whole interval a c <= x <= a r is stationary.
"""

from sympy import Expr, Max, Rational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.letters import a, gamma, kappa, p, q, r, x, y, z
from lastiterate.symbolic.notation import c, s, sigma
from lastiterate.symbolic.papers import proof

_before = p * (c * z + s) + kappa


def _midpoint(subtracted: Expr | int) -> Inequality:
    """Midpoint concavity in y of (z - y)_+^2 - subtracted * y^2, z the image of a fixed state."""

    def term(at: Expr) -> Expr:
        return Max(z - at, 0) ** 2 - subtracted * at**2

    return Inequality((term(x) + term(y)) / 2, "<=", term((x + y) / 2), name="midpoint concavity")


def _chord(sag: Expr) -> Identity:
    """The parabola r y^2 plus the chord, from x to z, of what is left of values gamma and kappa."""
    share = (y - x) / (z - x)
    chord_of_rest = (gamma - r * x**2) * (1 - share) + (kappa - r * z**2) * share
    return Identity(r * y**2 + chord_of_rest, gamma * (1 - share) + kappa * share - sag, "chord minus sag")


def _falls(*given: Boolean) -> Inequality:
    return Inequality(x, "<", a * c, given=(a > 0, x <= a * r, *given), name="the left slope is positive")


CLAIMS = (
    Ours(
        "ours/taut_string/energy",
        "One step lowers R by p a, and its cost is the energy (p a)^2 / (p sigma)^2",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(_before - (p * (c * z + s - a) + kappa), p * a, "one step lowers R by p a"),
        Identity((p * a) ** 2 / (p * sigma) ** 2, a**2 / sigma**2, "energy"),
        Inequality(
            (x + y) ** 2 / (p + q),
            "<= and attained",
            x**2 / p + y**2 / q,
            given=(q > 0,),
            name="two pieces cost no less than their chord",
        ).mutant("pieces cheaper than the chord", left=x**2 / p + y**2 / q, sign="<=", right=(x + y) ** 2 / (p + q)),
    ),
    Ours(
        "ours/value_iteration/concave",
        "(e - y)_+^2 - y^2 is concave in y, whatever e",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        _midpoint(1)
        .mutant("nothing subtracted", _midpoint(0))
        .mutant("half of y^2 subtracted", _midpoint(Rational(1, 2))),
    ),
    Ours(
        "ours/value_iteration/chord",
        "A parabola r y^2 plus a chord is the chord of the sum minus r (y - left)(right - y)",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        _chord(r * (y - x) * (z - y)),
        assumptions=(x < z,),
    ),
    Ours(
        "ours/kinks/concave",
        "No cheapest path rests on a concave kink: if the cost does not fall to the right, it falls to the left",
        proof("expansions", "Kinks"),
        _falls(c > r).mutant("a convex kink", _falls(c < r)).mutant("no kink", _falls(c >= r)),
    ),
)
