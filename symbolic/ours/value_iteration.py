"""Value iteration whose grid error has a known sign.

Statement    F_{t+1}(y) = min_x F_t(x) + (e(x) - y)_+^2 / sigma^2 is y^2 / sigma^2 plus a concave function, so
             between two nodes it is at least its chord minus (y - left)(right - y) / sigma^2.
Assumptions  sigma > 0; F_t and e arbitrary.
Derivation   For fixed e the term (e - y)_+^2 - y^2 is e^2 - 2 e y below y = e and -y^2 above: concave. A minimum of
             concave functions is concave, and a concave function lies above its chord.
Source       docs/proofs/affine_windows.md; used by `lastiterate.numeric.shift_program.value_iteration`.
"""

from sympy import Expr, Max, Rational

from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.notation import gamma, kappa, r, x, y, z
from lastiterate.symbolic.papers import proof


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


CLAIMS = (
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
)
