"""Lipschitz reduction: a c-Lipschitz map multiplies the admissible shift by c.

Statement    D^(c z)(phi mu || phi nu) <= D^(z)(mu || nu).
Assumptions  phi is c-Lipschitz, c >= 0; z >= 0.
Derivation   The law that attains D^(z) is moved by phi at most c z, (76); the rest is post-processing, (77).
             On Gaussians and phi(x) = c x both sides are equal.
Source       Chien & Li 2025, Lemma 3.3 and A.5.
Remark       It is used with the projection behind the map: the composition is still c-Lipschitz.
"""

# Sympy has no stubs; what pyright infers from its source is wider than what it documents.
# pyright: reportOperatorIssue=false

from sympy import Abs, Expr, Integer, Max, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Step
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.notation import D, alpha, c, d, gamma, kappa, sigma, xi, z, zeta
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, Image, Lipschitz, ShiftedDivergence, closed

_zero = Integer(0)
_before = renyi((d - z, sigma**2), (_zero, sigma**2), alpha)


_after = renyi((c * d - c * z, (c * sigma) ** 2), (_zero, (c * sigma) ** 2), alpha)


def _project(point: Expr) -> Expr:
    return Max(-D / 2, Min(D / 2, point))


_moved = Abs(_project(gamma) - _project(kappa))
_lipschitz = (Abs(gamma - kappa) <= c * Abs(xi - zeta),)

CLAIMS = (
    Claim(
        "chien_li/lemma_3_3",
        "On Gaussians and x -> c x the Lipschitz reduction is an equality",
        at("Lemma 3.3", "(6)"),
        Identity(_after, _before, "x -> c x"),
        statement=closed(
            ShiftedDivergence(alpha, c * z, Image(MAP, FIRST), Image(MAP, SECOND))
            <= ShiftedDivergence(alpha, z, FIRST, SECOND),
            Lipschitz(MAP, c),
            alpha > 1,
        ),
        assumptions=(alpha > 1, z <= d),
    ),
    Step(
        "chien_li/lemma_3_3/projected",
        "A c-Lipschitz map followed by the projection is c-Lipschitz",
        at("Section 3.1", "(a)"),
        Inequality(_moved, "<= and attained", c * Abs(xi - zeta), given=_lipschitz, name="interval of length D")
        .mutant("the projection contracts", sign="<=", right=c * Abs(xi - zeta) / 2)
        .mutant("reflected instead of projected", left=Abs(_project(gamma) + kappa), sign="<="),
    ),
    Step(
        "chien_li/lemma_3_3/coupling",
        "A coupling within z is carried to one within c z",
        at("A.5", "(76)"),
        Inequality(
            Abs(gamma - kappa),
            "<= and attained",
            c * z,
            given=(*_lipschitz, Abs(xi - zeta) <= z),
            name="pathwise",
        ).mutant("within z", right=z, given=_lipschitz),
    ),
)
