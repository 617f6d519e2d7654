"""Renyi divergence of two Gaussians, the one mechanism of the theory.

Statement    D_alpha(N(d, sigma^2) || N(0, sigma^2)) = alpha d^2 / (2 sigma^2).
Assumptions  alpha > 1; sigma > 0 in the unit of d.
Derivation   The integrand mu^alpha nu^(1 - alpha) is a Gaussian around alpha d times
             exp(alpha (alpha - 1) d^2 / (2 sigma^2)): complete the square in the exponent.
Source       Chien & Li 2025, Definition 2.1 and (40)(c), citing Mironov 2017.
Remark       The value is the same with the laws exchanged. With unequal variances it is not (`unequal`),
             and it is infinite once alpha v_2 + (1 - alpha) v_1 <= 0.
"""

from sympy import Expr, Integer, log

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.gaussian import density_exponent, moment_exponent, renyi
from lastiterate.symbolic.notation import alpha, d, r, sigma, v, x, xi

_exponent = moment_exponent(xi, (d, sigma**2), (Integer(0), sigma**2), alpha)
_around = density_exponent(xi, alpha * d, sigma**2)


def _square(bound: Expr) -> Identity:
    return Identity(_exponent, _around + (alpha - 1) * bound, "complete the square")


_mixed = alpha * v + (1 - alpha) * r
_unequal = moment_exponent(xi, (d, r), (Integer(0), v), alpha)
_peak = density_exponent(xi, alpha * d * v / _mixed, r * v / _mixed)

CLAIMS = (
    Claim(
        key="chien_li/definition_2_1/gaussians",
        title="Gaussians of one variance, means d apart, have divergence alpha d^2 / (2 sigma^2)",
        source=at(382, "Definition 2.1", "(40)(c)"),
        assumptions=(alpha > 1,),
        checks=(
            _square(alpha * d**2 / (2 * sigma**2)),
            Identity(renyi((d, sigma**2), (Integer(0), sigma**2), alpha), alpha * d**2 / (2 * sigma**2), "closed form"),
        ),
        mutants=(
            Mutant("factor two dropped", _square(alpha * d**2 / sigma**2), Engine.IDENTITY),
            Mutant("alpha - 1 for alpha", _square((alpha - 1) * d**2 / (2 * sigma**2)), Engine.IDENTITY),
            Mutant("distance not squared", _square(alpha * d / (2 * sigma**2)), Engine.IDENTITY),
            Mutant("sigma for its square", _square(alpha * d**2 / (2 * sigma)), Engine.IDENTITY),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="chien_li/definition_2_1/unequal",
        title="Unequal variances r (numerator law) and v: alpha d^2 / (2 (alpha v + (1 - alpha) r)), and the widths",
        source=at(54, "Definition 2.1"),
        assumptions=(alpha > 1, alpha * v + (1 - alpha) * r > 0),
        checks=(
            Identity(_unequal, _peak + (alpha - 1) * alpha * d**2 / (2 * _mixed), "complete the square"),
            Identity(
                renyi((d, r), (Integer(0), v), alpha) * (alpha - 1),
                alpha * (alpha - 1) * d**2 / (2 * _mixed)
                + log(r * v / _mixed) / 2
                - alpha * log(r) / 2
                - (1 - alpha) * log(v) / 2,
                "with the widths",
            ),
        ),
        mutants=(
            Mutant(
                "variances exchanged",
                Identity(_unequal, _peak + (alpha - 1) * alpha * d**2 / (2 * (alpha * r + (1 - alpha) * v)), "mutant"),
                Engine.IDENTITY,
            ),
            Mutant(
                "mean variance instead",
                Identity(_unequal, _peak + (alpha - 1) * alpha * d**2 / (r + v), "mutant"),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/definition_2_1/monotone",
        title="A shorter distance of the means costs less: sup over |m| <= d is at d",
        source=at(378, "Definition 2.1", "(40)-(41)"),
        assumptions=(alpha > 1,),
        checks=(
            Inequality(
                alpha * x**2 / (2 * sigma**2),
                Relation.AT_MOST,
                alpha * d**2 / (2 * sigma**2),
                given=(x <= d,),
                name="supremum",
            ),
        ),
        mutants=(
            Mutant(
                "half the distance",
                Inequality(
                    alpha * x**2 / (2 * sigma**2), Relation.AT_MOST, alpha * d**2 / (8 * sigma**2), given=(x <= d,)
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "the infimum",
                Inequality(
                    alpha * d**2 / (2 * sigma**2), Relation.AT_MOST, alpha * x**2 / (2 * sigma**2), given=(x <= d,)
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.STEP,
    ),
)
