"""Affine expansions that change over time: the cheapest path is a taut string.

Statement    With p = c_{t+1} ... c_{T-1}, H what drifts in after t and R = (growth to T) z + H, one step from z lowers
             R by p a, and the cost a^2 / sigma^2 is (p a)^2 / (p sigma)^2: the energy of a string over X, whose step
             is (p sigma)^2.
Assumptions  z' = c z + s - a.
Derivation   R_t = p c z + p s + H and R_{t+1} = p (c z + s - a) + H. The slack R - H is the growth times z.
Source       docs/proofs/affine_windows.md; used by `lastiterate.numeric.shift_program.taut_string`. The chord of two
             points has the least energy by Cauchy-Schwarz, chien_li/proof_3_1/cauchy_schwarz.
"""

from sympy import Expr

from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.notation import a, c, kappa, p, q, s, sigma, x, y, z
from lastiterate.symbolic.papers import proof

_before = p * (c * z + s) + kappa


def _step(after: Expr) -> Identity:
    return Identity(_before - after, p * a, "one step lowers R by p a")


CLAIMS = (
    Ours(
        "ours/taut_string/energy",
        "One step lowers R by p a, and its cost is the energy (p a)^2 / (p sigma)^2",
        proof("affine_windows", "Schedules: a taut string"),
        _step(p * (c * z + s - a) + kappa).mutant(
            "the shift before the expansion", _step(p * (c * (z - a) + s) + kappa)
        ),
        Identity((p * a) ** 2 / (p * sigma) ** 2, a**2 / sigma**2, "energy"),
        Inequality(
            (x + y) ** 2 / (p + q),
            "<= and attained",
            x**2 / p + y**2 / q,
            given=(q > 0,),
            name="two pieces cost no less than their chord",
        ).mutant("pieces cheaper than the chord", left=x**2 / p + y**2 / q, sign="<=", right=(x + y) ** 2 / (p + q)),
    ),
)
