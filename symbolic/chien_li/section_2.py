r"""Section 2 of Chien & Li 2025: Gaussians, post-processing, composition, moduli and shifted divergences.

Lemma 2.3: $D_\alpha(h(X) \| h(Y)) \le D_\alpha(X \| Y)$. Lemma 2.4:
$D_\alpha(X_{1:k} \| Y_{1:k}) \le \sum_i \sup_{x_{<i}} D_\alpha(X_i | x_{<i} \| Y_i | x_{<i})$.
(40)(c): $D_\alpha(N(d, \sigma^2) \| N(0, \sigma^2)) = \frac{\alpha d^2}{2 \sigma^2}$.

All hold, for every pair of laws. A translated Gaussian attains the shifted divergence of two Gaussians: the
likelihood ratio increases, and every law within z of N(d, sigma^2) is stochastically larger than the
translate. r and v are variances.
"""

from lastiterate.symbolic.chien_li.paper import *

_mixed = alpha * v + (1 - alpha) * r
_widths = log(r * v / _mixed) / 2 - alpha * log(r) / 2 - (1 - alpha) * log(v) / 2
_ratio = density_exponent(xi, d - z, sigma**2) - density_exponent(xi, S.Zero, sigma**2)

CLAIMS = (
    Step(
        "chien_li/definition_2_1/gaussians",
        "Gaussians of one variance, means d apart, have divergence alpha d^2 / (2 sigma^2)",
        at("Definition 2.1", "(40)(c)"),
        Identity(
            moment_exponent(xi, (d, sigma**2), (S.Zero, sigma**2), alpha),
            density_exponent(xi, alpha * d, sigma**2) + (alpha - 1) * (alpha * d**2 / (2 * sigma**2)),
            "complete the square",
        ),
        Identity(renyi((d, sigma**2), (S.Zero, sigma**2), alpha), alpha * d**2 / (2 * sigma**2), "closed form"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "chien_li/definition_2_1/unequal",
        "Unequal variances r (numerator law) and v: alpha d^2 / (2 (alpha v + (1 - alpha) r)), and the widths",
        at("Definition 2.1"),
        Identity(
            moment_exponent(xi, (d, r), (S.Zero, v), alpha),
            density_exponent(xi, alpha * d * v / _mixed, r * v / _mixed)
            + (alpha - 1) * alpha * d**2 / (2 * _mixed),
            "complete the square",
        ),
        Identity(
            renyi((d, r), (S.Zero, v), alpha) * (alpha - 1),
            alpha * (alpha - 1) * d**2 / (2 * _mixed) + _widths,
            "all of it",
        ),
        assumptions=(alpha > 1, _mixed > 0),
    ),
    Claim(
        "chien_li/lemma_2_3",
        "Post-processing: no map raises a Renyi divergence of order alpha > 1",
        at("Lemma 2.3"),
        Deduced(statements.post_processing(alpha, alpha > 1), "post_processing"),
    ),
    Claim(
        "chien_li/lemma_2_4",
        "Composition: D(X_1:k || Y_1:k) is at most the sum of the worst D of X_i, Y_i given all before",
        at("Lemma 2.4"),
        Deduced(statements.sequences(alpha > 1), "sequences"),
    ),
    Ours(
        "chien_li/definition_2_5/bounded_domain",
        "On diameter D, L-smooth gradients are (L D^(1 - lambda), lambda)-Hoelder for every lambda <= 1",
        at("Definition 2.5"),
        Identity(
            L * D ** (1 - lam) * z**lam * (z / D) ** (1 - lam),
            L * z,
            "L z is L D^(1 - lambda) z^lambda times",
            (z > 0,),
        ),
        Inequality((z / D) ** (1 - lam), "<=", S.One, (z > 0, z <= D, lam <= 1), "this"),
    ),
    Ours(
        "chien_li/definition_2_7/gaussians",
        "The shifted divergence of two Gaussians is at most that of the means brought z <= d closer; the ratio grows",
        at("Definition 2.7"),
        Identity(
            renyi((d - z, sigma**2), (S.Zero, sigma**2), alpha),
            alpha * (d - z) ** 2 / (2 * sigma**2),
            "translate",
        ),
        Identity(diff(_ratio, xi), (d - z) / sigma**2, "slope of the log likelihood ratio"),
        Inequality(S.Zero, "<=", (d - z) / sigma**2, name="the ratio grows"),
        assumptions=(alpha > 1, z <= d),
    ),
)
