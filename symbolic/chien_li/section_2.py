"""Section 2, on Gaussians and finite laws: divergence, post-processing, composition, moduli, shifted divergence.

Divergences by completing the square in the exponent; merging two atoms by Jensen's inequality for t^alpha, and every
map of finite sets is a chain of such mergers. The shifted divergence is attained by the translate: the likelihood ratio
grows, and every law within z of N(d, sigma^2) lies stochastically above it. p, q and r, v are the weights of two laws.
"""

from sympy import Integer, Max, Rational, diff, log

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, RandomPoints, Step
from lastiterate.symbolic.formulas.divergences import density_exponent, moment_exponent, renyi
from lastiterate.symbolic.letters import d, p, q, r, u, v, xi, z, zeta
from lastiterate.symbolic.notation import SHIFTS, D, L, alpha, lam, sigma
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, Image, RenyiDivergence, closed

_exponent = moment_exponent(xi, (d, sigma**2), (Integer(0), sigma**2), alpha)
_around = density_exponent(xi, alpha * d, sigma**2)


_mixed = alpha * v + (1 - alpha) * r
_unequal = moment_exponent(xi, (d, r), (Integer(0), v), alpha)
_peak = density_exponent(xi, alpha * d * v / _mixed, r * v / _mixed)

# Second law: weights r and v. First law: weights p and q.
_merged = (p + q) ** alpha * (r + v) ** (1 - alpha)
_apart = p**alpha * r ** (1 - alpha) + q**alpha * v ** (1 - alpha)
_box = {p: (Rational(1, 10), 3), q: (Rational(1, 10), 3), r: (Rational(1, 10), 3), v: (Rational(1, 10), 3)}
_mean = q * u + (1 - q)
_jensen_box = {u: (2, 3), q: (Rational(1, 4), Rational(3, 4)), alpha: (2, 3)}

_zero = Integer(0)
_first, _second = SHIFTS[0], SHIFTS[1]
_pair = p * r + q * v
_two_steps = moment_exponent(xi, (_first, sigma**2), (_zero, sigma**2), alpha) + moment_exponent(
    zeta, (_second, sigma**2), (_zero, sigma**2), alpha
)
_centred = -((xi - alpha * _first) ** 2 + (zeta - alpha * _second) ** 2) / (2 * sigma**2)
_gain = alpha * (alpha - 1) / (2 * sigma**2)

_third = Rational(1, 3)
_unit = {u: (Rational(1, 1000), 1), lam: (Rational(1, 100), 1)}
_ratio = density_exponent(xi, d - z, sigma**2) - density_exponent(xi, _zero, sigma**2)
_shifted = alpha * (d - z) ** 2 / (2 * sigma**2)  # for z <= d; zero beyond

CLAIMS = (
    Step(
        "chien_li/definition_2_1/gaussians",
        "Gaussians of one variance, means d apart, have divergence alpha d^2 / (2 sigma^2)",
        at("Definition 2.1", "(40)(c)"),
        Identity(_exponent, _around + (alpha - 1) * (alpha * d**2 / (2 * sigma**2)), "complete the square"),
        Identity(renyi((d, sigma**2), (Integer(0), sigma**2), alpha), alpha * d**2 / (2 * sigma**2), "closed form"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "chien_li/definition_2_1/unequal",
        "Unequal variances r (numerator law) and v: alpha d^2 / (2 (alpha v + (1 - alpha) r)), and the widths",
        at("Definition 2.1"),
        Identity(_unequal, _peak + (alpha - 1) * alpha * d**2 / (2 * _mixed), "complete the square"),
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
    Claim(
        "chien_li/lemma_2_3",
        "Merging two atoms does not raise the Renyi divergence",
        at("Lemma 2.3"),
        Inequality(_merged.subs(alpha, 2), "<= and attained", _apart.subs(alpha, 2), name="alpha = 2"),
        Identity(diff(u**alpha, u, 2), alpha * (alpha - 1) * u ** (alpha - 2), "t^alpha is convex"),
        IntervalInequality(_mean**alpha, "<", q * u**alpha + 1 - q, _jensen_box, "Jensen, ratios apart"),
        RandomPoints(_merged, "<=", _apart, {**_box, alpha: (Rational(11, 10), 20)}, "real alpha").mutant(
            "exponent 1 + alpha on the second law", right=p**alpha * r ** (1 + alpha) + q**alpha * v ** (1 - alpha)
        ),
        statement=closed(
            RenyiDivergence(alpha, Image(MAP, FIRST), Image(MAP, SECOND)) <= RenyiDivergence(alpha, FIRST, SECOND),
            alpha > 1,
        ),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "chien_li/lemma_2_4",
        "The moment of a pair is at most the product of the first moment and the worst second one",
        at("Lemma 2.4"),
        Inequality(_pair, "<=", (p + q) * Max(r, v), name="worst outcome"),
        Identity(_two_steps, _centred + _gain * (_first**2 + _second**2), "independent Gaussians add"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "chien_li/definition_2_5/bounded_domain",
        "On diameter D, L-smooth gradients are (L D^(1 - lambda), lambda)-Hoelder for every lambda",
        at("Definition 2.5"),
        Inequality(L * z, "<= and attained", L * D ** (1 - _third) * z**_third, (z <= D,), "lambda = 1/3"),
        IntervalInequality(u, "<=", u**lam, _unit, "every lambda, z = u D, divided by L D").mutant(
            "beyond the diameter", box={**_unit, u: (1, 2)}
        ),
    ),
    Ours(
        "chien_li/definition_2_7/gaussians",
        "The shifted divergence of two Gaussians is that of the means brought z closer",
        at("Definition 2.7"),
        Identity(renyi((d - z, sigma**2), (_zero, sigma**2), alpha), _shifted, "value of the translate"),
        Identity(diff(_ratio, xi), (d - z) / sigma**2, "slope of the log likelihood ratio"),
        Inequality(_zero, "<=", (d - z) / sigma**2, name="the ratio grows"),
        assumptions=(alpha > 1, z <= d),
    ),
)
