"""Cheapest paths: the taut string of affine expansions, value iteration on a grid, and where a path can rest.

String: z' = c z + s - a; p is the growth of the steps after t, H what drifts in after t, R = (growth to T) z + H. Grid:
F_t and e are arbitrary. Kinks: e has left slope c and right slope r at z_t, a > 0 is the shift after z_t and x the one
before; at a convex kink a whole interval a c <= x <= a r is stationary.
"""

from sympy import Expr, Max
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.letters import a, gamma, kappa, p, q, r, x, y, z
from lastiterate.symbolic.notation import c, s, sigma
from lastiterate.symbolic.papers import proof
from lastiterate.symbolic.unevaluated import put
from lastiterate.symbolic.windows import FREE_STEPS

_before = p * (c * z + s) + kappa


def _term(at: Expr) -> Expr:
    """A term concave in y, z the image of a fixed state."""
    return Max(z - at, 0) ** 2 - at**2


# The parabola r y^2 plus the chord, from x to z, of what is left of values gamma and kappa.
_share = (y - x) / (z - x)
_chord_of_rest = (gamma - r * x**2) * (1 - _share) + (kappa - r * z**2) * _share


def _falls(*given: Boolean) -> Inequality:
    return Inequality(x, "<", a * c, given=(a > 0, x <= a * r, *given), name="the left slope is positive")


CLAIMS = (
    Ours(
        "ours/taut_string/energy",
        "One step lowers R by p a, and its cost is the energy (p a)^2 / (p sigma)^2",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(_before - (p * (c * z + s - a) + kappa), p * a, "one step lowers R by p a"),
        Identity(put(x**2 / y**2, {x: p * a, y: p * sigma}), a**2 / sigma**2, "energy"),
        Inequality(
            (x + y) ** 2 / (p + q),
            "<= and attained",
            x**2 / p + y**2 / q,
            given=(q > 0,),
            name="two pieces, of any number of steps each, cost no less than their chord",
        ),
        *FREE_STEPS[1:],
    ),
    Ours(
        "ours/value_iteration/concave",
        "(e - y)_+^2 - y^2 is concave in y, whatever e",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        Inequality((_term(x) + _term(y)) / 2, "<=", _term((x + y) / 2), name="midpoint concavity"),
    ),
    Ours(
        "ours/value_iteration/chord",
        "A parabola r y^2 plus a chord is the chord of the sum minus r (y - left)(right - y)",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        Identity(
            r * y**2 + _chord_of_rest, gamma * (1 - _share) + kappa * _share - r * (y - x) * (z - y), "chord minus sag"
        ),
        assumptions=(x < z,),
    ),
    Ours(
        "ours/kinks/concave",
        "No cheapest path rests on a concave kink: if the cost does not fall to the right, it falls to the left",
        proof("expansions", "Kinks"),
        _falls(c > r).mutant("a convex kink", _falls(c < r)).mutant("no kink", _falls(c >= r)),
    ),
)
