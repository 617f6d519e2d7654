"""Lipschitz reduction: a c-Lipschitz map multiplies the admissible shift by c.

Statement    D^(c z)(phi mu || phi nu) <= D^(z)(mu || nu).
Assumptions  phi is c-Lipschitz, c >= 0; z >= 0.
Derivation   The law that attains D^(z) is moved by phi at most c z, (76); the rest is post-processing, (77).
             On Gaussians and phi(x) = c x both sides are equal.
Source       Chien & Li 2025, Lemma 3.3 and A.5.
Remark       It is used with the projection behind the map: the composition is still c-Lipschitz.
"""

from sympy import Abs, Expr, Integer, Max, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.notation import D, alpha, c, d, gamma, kappa, sigma, xi, z, zeta

_zero = Integer(0)
_before = renyi((d - z, sigma**2), (_zero, sigma**2), alpha)


def _after(shift: Expr, growth: Expr = c) -> Expr:
    """Divergence after x -> growth x, the means brought closer by the shift."""
    return renyi((growth * d - shift, (growth * sigma) ** 2), (_zero, (growth * sigma) ** 2), alpha)


def _project(point: Expr) -> Expr:
    return Max(-D / 2, Min(D / 2, point))


_moved = Abs(_project(gamma) - _project(kappa))
_lipschitz = (Abs(gamma - kappa) <= c * Abs(xi - zeta),)

CLAIMS = (
    Claim(
        key="chien_li/lemma_3_3",
        title="On Gaussians and x -> c x the Lipschitz reduction is an equality",
        source=at(112, "Lemma 3.3", "(6)"),
        assumptions=(alpha > 1, z <= d),
        checks=(Identity(_after(c * z), _before, "x -> c x"),),
        mutants=(
            Mutant("c and 1/c exchanged", Identity(_after(z / c), _before), Engine.IDENTITY),
            Mutant("shift not scaled", Identity(_after(z), _before), Engine.IDENTITY),
            Mutant("c squared", Identity(_after(c**2 * z), _before), Engine.IDENTITY),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/lemma_3_3/projected",
        title="A c-Lipschitz map followed by the projection is c-Lipschitz",
        source=at(144, "Section 3.1", "(a)"),
        checks=(Inequality(_moved, Relation.TIGHT, c * Abs(xi - zeta), given=_lipschitz, name="interval of length D"),),
        mutants=(
            Mutant(
                "the projection contracts",
                Inequality(_moved, Relation.AT_MOST, c * Abs(xi - zeta) / 2, given=_lipschitz),
                Engine.INEQUALITY,
            ),
            Mutant(
                "reflected instead of projected",
                Inequality(Abs(_project(gamma) + kappa), Relation.AT_MOST, c * Abs(xi - zeta), given=_lipschitz),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/lemma_3_3/coupling",
        title="A coupling within z is carried to one within c z",
        source=at(535, "A.5", "(76)"),
        checks=(
            Inequality(
                Abs(gamma - kappa),
                Relation.AT_MOST,
                c * z,
                given=(*_lipschitz, Abs(xi - zeta) <= z),
                name="pathwise",
            ),
        ),
        mutants=(
            Mutant(
                "within z", Inequality(Abs(gamma - kappa), Relation.AT_MOST, z, given=_lipschitz), Engine.INEQUALITY
            ),
            Mutant(
                "within z / c",
                Inequality(Abs(gamma - kappa), Relation.AT_MOST, z / c, given=(*_lipschitz, Abs(xi - zeta) <= z)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
)
