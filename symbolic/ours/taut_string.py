r"""Cheapest paths: the taut string, value iteration, and kinks (docs/proofs/affine_windows.md, expansions.md).

For $z' = c z + s - a$ let $p$ be the growth in the steps after $t$ and $H$ the drift after $t$. Then
$R = (\text{growth}) z + H$ falls by $p a$ at the energy $(p a)^2/(p\sigma)^2$: it is a string over a clock
that advances by $(p\sigma)^2$. The string starts at $R_\tau$, ends at 0 and does not pass below $H$. The
least concave majorant of the obstacle $H$ and the ends is the cheapest string. Value iteration:
$(e - y)_+^2 - y^2$ is concave in $y$, and between two nodes $l < r$ a parabola $y^2$ plus a line is its chord
minus $(y - l)(r - y)$. No cheapest path stays at a concave kink of $e$.
"""

from lastiterate.symbolic.ours.paper import *
from lastiterate.symbolic.windows import FREE_STEPS

# A string R of slopes h over a clock that advances by x, and the concave one, M of slopes g, which fall by k where it
# bends: only where it touches the obstacle of R. Both begin at one point; the energies are Y and N.
_energy, _taut_energy, _clock, _bend = (Function(name, nonnegative=True) for name in "YNxk")
_any, _taut, _slope, _taut_slope = (Function(name, real=True) for name in "RMhg")
_LAWS = (
    gains(_any, _clock(t) * _slope(t)),
    gains(_taut, _clock(t) * _taut_slope(t)),
    gains(_energy, _clock(t) * _slope(t) ** 2),
    gains(_taut_energy, _clock(t) * _taut_slope(t) ** 2),
    Eq(_taut_slope(t + 1), _taut_slope(t) - _bend(t)),
    Ge(_bend(t) * (_any(t + 1) - _taut(t + 1)), 0),
)
# The parabola r y^2 plus the chord, from x to z, of what is left of values gamma and kappa.
_share = (y - x) / (z - x)


def _term(at: Expr) -> Expr:
    return Max(h - at, 0) ** 2 - at**2


CLAIMS = (
    Ours(
        "ours/taut_string/energy",
        "A step lowers R by p a at the energy (p a)^2/(p sigma)^2; a concave string that bends at H alone is cheapest",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(p * (c * z + s) + kappa - (p * (c * z + s - a) + kappa), p * a, "one step lowers R by p a"),
        Identity(put(x**2 / y**2, {x: p * a, y: p * sigma}), a**2 / sigma**2, "energy"),
        Inequality(
            (x + y) ** 2 / (u + v), "<= and attained", x**2 / u + y**2 / v, name="two pieces and their chord"
        ),
        *FREE_STEPS[1:],
        Induction(
            t,
            Ge(_energy(t), _taut_energy(t) + 2 * _taut_slope(t) * (_any(t) - _taut(t))),
            (*begin(_energy, _taut_energy), Eq(_any(0), _taut(0))),
            _LAWS,
            name="no string that ends where the concave one does, R = M, costs less",
        ).mutant("the concave one bends anywhere", laws=_LAWS[:-1]),
    ),
    Ours(
        "ours/value_iteration/concave",
        "(e - y)_+^2 - y^2 is concave in y, whatever e",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        Inequality(
            theta * _term(xi) + (1 - theta) * _term(zeta),
            "<= and attained",
            _term(theta * xi + (1 - theta) * zeta),
            (theta <= 1,),
            "any point of a chord",
        ).mutant("the first end alone", right=_term(xi)),
        letters={
            h: "e, of any sign",
            xi: "y at an end of a chord",
            zeta: "y at the other end",
            theta: "any weight",
        },
    ),
    Ours(
        "ours/value_iteration/chord",
        "A parabola r y^2 plus a chord is the chord of the sum minus r (y - left)(right - y)",
        proof("affine_windows", "Value iteration with a known sign of the error"),
        Identity(
            r * y**2 + (gamma - r * x**2) * (1 - _share) + (kappa - r * z**2) * _share,
            gamma * (1 - _share) + kappa * _share - r * (y - x) * (z - y),
            "chord minus sag",
        ),
        assumptions=(x < z,),
    ),
    Ours(
        "ours/kinks/concave",
        "No cheapest path rests on a concave kink: if the cost does not fall to the right, it falls to the left",
        proof("expansions", "Kinks"),
        Inequality(x, "<", a * c, (a > 0, x <= a * r, c > r), "the left slope is positive").mutant(
            "no kink", given=(a > 0, x <= a * r, c >= r)
        ),
        letters={c: "left slope of e", r: "right slope", a: "shift after the kink", x: "shift before it"},
    ),
)
