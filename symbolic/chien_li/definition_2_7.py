"""Shifted divergence of two Gaussians: moving the first law by z towards the second is the best shift.

Statement    D^(z)(N(d, sigma^2) || N(0, sigma^2)) = alpha max(d - z, 0)^2 / (2 sigma^2).
Assumptions  alpha > 1; z >= 0, d >= 0 in the unit of sigma.
Derivation   The translate by z is within W_infinity distance z and has means d - z apart. It is optimal:
             the functional is convex in the first law, its derivative at the translate is an increasing
             function of the point (the likelihood ratio grows), and every law within z of N(d, sigma^2)
             lies stochastically above the translate.
Source       Chien & Li 2025, Definitions 2.6 and 2.7.
Remark       At z = 0 it is the plain divergence; from z = d on it vanishes, which ends the proof of (11).
"""

from sympy import Integer, diff

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.gaussian import density_exponent, renyi
from lastiterate.symbolic.notation import alpha, d, sigma, xi, z

_zero = Integer(0)
_ratio = density_exponent(xi, d - z, sigma**2) - density_exponent(xi, _zero, sigma**2)
_shifted = alpha * (d - z) ** 2 / (2 * sigma**2)  # for z <= d; zero beyond

CLAIMS = (
    Ours(
        "chien_li/definition_2_7/gaussians",
        "The shifted divergence of two Gaussians is that of the means brought z closer",
        at("Definition 2.7"),
        Identity(renyi((d - z, sigma**2), (_zero, sigma**2), alpha), _shifted, "value of the translate"),
        Identity(diff(_ratio, xi), (d - z) / sigma**2, "slope of the log likelihood ratio"),
        Inequality(_zero, "<=", (d - z) / sigma**2, name="the ratio grows").mutant(
            "the ratio falls", left=(d - z) / sigma**2, right=_zero
        ),
        Identity(_shifted.subs(z, d), _zero, "nothing is left at z = d"),
        Identity(_shifted.subs(z, 0), renyi((d, sigma**2), (_zero, sigma**2), alpha), "plain at z = 0"),
        assumptions=(alpha > 1, z <= d),
    ),
)
