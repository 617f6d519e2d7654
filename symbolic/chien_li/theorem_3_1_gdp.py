"""The shift program as Gaussian differential privacy, and the exact conversion to (epsilon, delta).

Statement    The last iterate is mu-GDP with mu^2 = sum a_t^2 / sigma_t^2 of any path of the shift program, and so
             (epsilon, delta(epsilon))-DP with delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
Assumptions  |psi(x) - psi'(y)| <= e(|x - y|); mu > 0, epsilon >= 0.
Derivation   Shifted interpolation: a third process moves from W' to W; it leaves W' by a share of e(z), paid for
             by one Gaussian step, a = share e(z), and keeps the distance z' = (1 - share) e(z) to W. The share is 1
             at T. Steps compose by adding mu^2.
Source       ours, after Bok, Su & Altschuler 2024 (c-Lipschitz maps); Dong, Roth & Su 2022, Corollary 2.13.
Remark       Stronger than RDP at every order at once: mu-GDP gives alpha mu^2 / 2 and not conversely.
"""

from sympy import Expr, Integer, diff, erfc, exp, pi, sqrt

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, IntervalInequality, Ours, Value
from lastiterate.symbolic.gaussian import cumulative, delta_of_gdp, density_exponent
from lastiterate.symbolic.holder import expansion
from lastiterate.symbolic.notation import L, alpha, beta, epsilon, lam, mu, s, xi, z, zeta

_zero, _one = Integer(0), Integer(1)
_grown = expansion(z, L, lam, s)
_delta = delta_of_gdp(epsilon, mu)
_threshold = mu / 2 + epsilon / mu


def _ratio_at(point: Expr) -> Expr:
    """log dN(mu, 1) / dN(0, 1) at the point."""
    return density_exponent(point, mu, _one) - density_exponent(point, _zero, _one)


_pair = density_exponent(xi, mu, _one) + density_exponent(zeta, s, _one)
_turned = sqrt(mu**2 + s**2)
_along, _across = (mu * xi + s * zeta) / _turned, (s * xi - mu * zeta) / _turned

CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/gdp/one_step",
        "One interpolated step: the shift share e(z) and what is left, (1 - share) e(z), make e(z)",
        at("Section 3.1", "(8)"),
        Identity((1 - beta) * _grown, _grown - beta * _grown, "the state update z' = e(z) - a"),
        Identity((_grown - beta * _grown).subs(beta, 1), _zero, "share 1 ends at z = 0").mutant(
            "ends at share 1/2", left=(_grown - beta * _grown).subs(beta, _one / 2)
        ),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/composition",
        "Two Gaussian steps are one: a rotation turns the means (mu, s) into sqrt(mu^2 + s^2)",
        at("Lemma 2.4"),
        Identity(_pair, density_exponent(_along, _turned, _one) + density_exponent(_across, _zero, _one), "rotated")
        .mutant(
            "the parameters add", right=density_exponent(_along, mu + s, _one) + density_exponent(_across, _zero, _one)
        )
        .mutant("not a rotation", right=density_exponent(_along, _turned, _one) + density_exponent(zeta, _zero, _one)),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/delta",
        "delta(epsilon) of mu-GDP: the tails past mu/2 + epsilon/mu, exact",
        at("Section 4", "RDP-DP conversion"),
        Identity(_ratio_at(_threshold), epsilon, "the likelihood ratio is e^epsilon at mu/2 + epsilon/mu"),
        Identity(_delta.subs(epsilon, 0), 1 - erfc(mu / (2 * sqrt(2))), "delta(0) is the total variation"),
        Identity(diff(_delta, epsilon), -exp(epsilon) * cumulative(-mu / 2 - epsilon / mu), "slope in epsilon"),
        Identity(
            diff(_delta, mu),
            exp(-((mu / 2 - epsilon / mu) ** 2) / 2) / sqrt(2 * pi),
            "slope in mu: positive, so rounding mu up is safe",
        ),
        Value(delta_of_gdp(_one, _one), "0.126937", "epsilon = 1, mu = 1"),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/beats_rdp",
        "delta from GDP is below the delta that RDP of one order gives, exp((alpha - 1)(alpha mu^2/2 - epsilon))",
        at("Section 4", "RDP-DP conversion"),
        IntervalInequality(
            _delta,
            "<",
            exp((alpha - 1) * (alpha * mu**2 / 2 - epsilon)),
            {mu: (_one / 2, 2), epsilon: (_zero, 4), alpha: (_one * 11 / 10, 8)},
            "a box of settings",
        ).mutant("half the exponent", right=exp((alpha - 1) * (alpha * mu**2 / 4 - epsilon))),
    ),
)
