r"""Section 2.2 of Altschuler & Talwar 2022: contractions, the Rényi divergence, and the sampled Gaussian.

Lemma 2.1: $\mathrm{Id} - \eta\nabla f$ is a contraction for $f$ convex, $M$-smooth and $\eta \le 2/M$.
Lemmas 2.5 to 2.9: conversion to $(\varepsilon, \delta)$-DP, quasi-convexity, post-processing, composition,
and $D_\alpha(X_{1:k} \| Y_{1:k}) \le \sum_i \sup_x D_\alpha(X_i | x \| Y_i | x)$.
Definition 2.10: $S_\alpha(q, \sigma) = D_\alpha(N(0, \sigma^2) \| (1 - q) N(0, \sigma^2) + q N(1, \sigma^2))$.
Lemma 2.11: $S_\alpha(q, \sigma/R)$ is the largest divergence for shifts with any law on a ball of radius $R$.

All hold; at large $\alpha$ the divergence in the other order is far larger than $S_\alpha$.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_sampled = (Rational(1, 10), S.One, Integer(20))

CLAIMS = (
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_1",
        "Lemma 2.1: a step of size at most 2/L on a convex, L-smooth loss is a contraction",
        at("Lemma 2.1"),
        step(convex("f", L), S.One),
        assumptions=(eta * L <= 2,),
    ),
    Claim(
        "altschuler_talwar/section_2_2/definition_2_3",
        "Definition 2.3 at two Gaussians of one variance: alpha d^2/(2 v), as footnote 8 uses it",
        at("Definition 2.3"),
        Identity(renyi((d, v), (S.Zero, v), alpha), alpha * d**2 / (2 * v), "either order"),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_5",
        "Lemma 2.5: (alpha, epsilon)-RDP gives delta at epsilon + log(1/delta)/(alpha - 1); delta is exp(-chi)",
        at("Lemma 2.5"),
        Deduced(statements.conversion(), "conversion"),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_6",
        "Lemma 2.6: the divergence of two mixtures of order alpha >= 1 is at most the larger of the two",
        at("Lemma 2.6"),
        Deduced(statements.quasi_convexity(), "quasi_convexity/from 1"),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_7",
        "Lemma 2.7: no map, random or not, raises a Renyi divergence of order alpha >= 1",
        at("Lemma 2.7"),
        Deduced(statements.post_processing(alpha, alpha >= 1), "post_processing/from 1"),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_8",
        "Lemma 2.8: losses at one order add up over two algorithms, the second of which sees the first's output",
        at("Lemma 2.8"),
        Deduced(statements.two_mechanisms(), "composition/budgets"),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_9",
        "Lemma 2.9: D(X_1:k || Y_1:k) is at most the sum of the worst conditional divergences, alpha >= 1",
        at("Lemma 2.9", "A.1"),
        Deduced(statements.sequences(alpha >= 1), "sequences/from 1"),
    ),
    Claim(
        "altschuler_talwar/section_2_2/only_quasi_convex",
        "For no alpha > 1 is the Renyi divergence jointly convex",
        at("Section 2.2", "above Lemma 2.6"),
        # Equal mixtures of (1, 0) and (0, 1), and of (r, 1 - r) and (0, 1), r = 16^(-1/(alpha - 1)).
        Identity(
            log((p / 2) ** alpha * (r / 2) ** (1 - alpha)) - log(p**alpha * r ** (1 - alpha)),
            -log(2),
            "one term, p = 1",
        ),
        Inequality(
            x / 2, "<", x - y, (x >= 4 * y, y > 0), "x = log(1/r), y = log(2)/(alpha - 1): the mean is x/2"
        ),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_2_2/chain_rule",
        "The direct analog of the chain rule fails: a fair coin, and D_2 = 0 or log(u) given its side",
        at("Section 2.2", "above Lemma 2.8"),
        Inequality(
            u, "<", ((1 + u) / 2) ** 2, (u > 1,), "exp of twice the mean, log(u)/2, and of the divergence"
        ),
    ),
    Ours(
        "altschuler_talwar/definition_2_10/both_orders",
        "S is the divergence of a sampled update in one of two orders: 0.0465, and 7.58, at q = 1/10, s = 1, order 20",
        at("Definition 2.10"),
        Value(SampledDown(*_sampled), "0.046545", "S, below log(10/9) = 0.105"),
        Value(SampledUp(*_sampled), "7.5762", "the other order"),
    ),
    Claim(
        "altschuler_talwar/definition_2_10/lemma_2_11",
        "Lemma 2.11: over laws on a ball of radius R the largest is S(q, sigma/R), in every dimension",
        at("Lemma 2.11"),
        Deduced(statements.extremum(alpha >= 1), "extremum"),
    ),
)
