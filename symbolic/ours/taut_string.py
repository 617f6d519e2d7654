"""Cheapest paths: the taut string of affine expansions, value iteration on a grid, and where a path can rest.

String: z' = c z + s - a; p is the growth of the steps after t, H what drifts in after t, R = (growth to T) z + H. Grid:
F_t and e are arbitrary. Kinks: e has left slope c and right slope r at z_t, a > 0 is the shift after z_t and x the one
before; at a convex kink a whole interval a c <= x <= a r is stationary.
"""

from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.windows import FREE_STEPS

_one = Integer(1)
_before = p * (c * z + s) + kappa


def _term(at: Expr, less: Expr = _one) -> Expr:
    """A term concave in y, h the image of a fixed state."""
    return Max(h - at, 0) ** 2 - less * at**2


def _chord_below(less: Expr = _one) -> Inequality:
    """The chord between two points lies below the term."""
    chord = theta * _term(xi, less) + (1 - theta) * _term(zeta, less)
    between = theta * xi + (1 - theta) * zeta
    return Inequality(chord, "<= and attained", _term(between, less), (theta <= 1,), "any point of a chord")


# The parabola r y^2 plus the chord, from x to z, of what is left of values gamma and kappa.
_share = (y - x) / (z - x)
_chord_of_rest = (gamma - r * x**2) * (1 - _share) + (kappa - r * z**2) * _share


def _falls(*given: Boolean) -> Inequality:
    return Inequality(x, "<", a * c, given=(a > 0, x <= a * r, *given), name="the left slope is positive")


# A string R of slopes h over a clock that advances by x, and the concave one, M of slopes g, which fall by k where it
# bends: that is where it touches what R may not pass below. Both begin at one point; the energies are Y and N.
_energy, _taut_energy, _clock, _bend = (Function(name, nonnegative=True) for name in ("Y", "N", "x", "k"))
_any, _taut, _slope, _taut_slope = (Function(name, real=True) for name in ("R", "M", "h", "g"))
_ahead = 2 * _taut_slope(t) * (_any(t) - _taut(t))
_tightest = Induction(
    t,
    Ge(_energy(t), _taut_energy(t) + _ahead),
    (*begin(_energy, _taut_energy), Eq(_any(0), _taut(0))),
    (
        gains(_any, _clock(t) * _slope(t)),
        gains(_taut, _clock(t) * _taut_slope(t)),
        gains(_energy, _clock(t) * _slope(t) ** 2),
        gains(_taut_energy, _clock(t) * _taut_slope(t) ** 2),
        Eq(_taut_slope(t + 1), _taut_slope(t) - _bend(t)),
        Ge(_bend(t) * (_any(t + 1) - _taut(t + 1)), 0),
    ),
    name="no string that ends where the concave one does, R = M, costs less",
)

CLAIMS = (
    Ours(
        "ours/taut_string/energy",
        "A step lowers R by p a at the energy (p a)^2/(p sigma)^2; a concave string that bends at H alone is cheapest",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(_before - (p * (c * z + s - a) + kappa), p * a, "one step lowers R by p a"),
        Identity(put(x**2 / y**2, {x: p * a, y: p * sigma}), a**2 / sigma**2, "energy"),
        Inequality(
            (x + y) ** 2 / (u + v),
            "<= and attained",
            x**2 / u + y**2 / v,
            name="two pieces that fall by x and y over u and v of the clock cost no less than their chord",
        ),
        *FREE_STEPS[1:],
        _tightest.mutant("it bends anywhere", laws=_tightest.laws[:-1]).mutant(
            "another start", first=_tightest.first[:-1]
        ),
    ),
    Ours(
        "ours/value_iteration/concave",
        "(e - y)_+^2 - y^2 is concave in y, whatever e",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        _chord_below().mutant("three percent less of y^2", _chord_below(Rational(97, 100))),
        letters={h: "e, of any sign", xi: "y at an end of a chord", zeta: "y at the other end", theta: "any weight"},
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
