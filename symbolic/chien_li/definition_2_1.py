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
from lastiterate.symbolic.claim import Identity, Inequality, Ours, Step
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
    Step(
        "chien_li/definition_2_1/gaussians",
        "Gaussians of one variance, means d apart, have divergence alpha d^2 / (2 sigma^2)",
        at("Definition 2.1", "(40)(c)"),
        _square(alpha * d**2 / (2 * sigma**2)).mutant(
            "alpha - 1 for alpha", _square((alpha - 1) * d**2 / (2 * sigma**2))
        ),
        Identity(renyi((d, sigma**2), (Integer(0), sigma**2), alpha), alpha * d**2 / (2 * sigma**2), "closed form"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "chien_li/definition_2_1/unequal",
        "Unequal variances r (numerator law) and v: alpha d^2 / (2 (alpha v + (1 - alpha) r)), and the widths",
        at("Definition 2.1"),
        Identity(_unequal, _peak + (alpha - 1) * alpha * d**2 / (2 * _mixed), "complete the square")
        .mutant("variances exchanged", right=_peak + (alpha - 1) * alpha * d**2 / (2 * (alpha * r + (1 - alpha) * v)))
        .mutant("mean variance instead", right=_peak + (alpha - 1) * alpha * d**2 / (r + v)),
        Identity(
            renyi((d, r), (Integer(0), v), alpha) * (alpha - 1),
            alpha * (alpha - 1) * d**2 / (2 * _mixed)
            + log(r * v / _mixed) / 2
            - alpha * log(r) / 2
            - (1 - alpha) * log(v) / 2,
            "with the widths",
        ),
        assumptions=(alpha > 1, alpha * v + (1 - alpha) * r > 0),
    ),
    Step(
        "chien_li/definition_2_1/monotone",
        "A shorter distance of the means costs less: sup over |m| <= d is at d",
        at("Definition 2.1", "(40)-(41)"),
        Inequality(
            alpha * x**2 / (2 * sigma**2),
            "<= and attained",
            alpha * d**2 / (2 * sigma**2),
            given=(x <= d,),
            name="supremum",
        ).mutant("the infimum", left=alpha * d**2 / (2 * sigma**2), right=alpha * x**2 / (2 * sigma**2)),
        assumptions=(alpha > 1,),
    ),
)
