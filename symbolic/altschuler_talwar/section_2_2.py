"""Contractions and four properties of the Renyi divergence: Lemmas 2.1 and 2.5 to 2.9.

Statement    A gradient step of size at most 2/L is a contraction; RDP gives (epsilon, delta)-DP; the divergence is
             jointly quasi-convex, does not grow by post-processing, and adds up over a sequence (A.1).
Assumptions  L is the paper's smoothness M. p, q and x, y are the probabilities of one cell under two pairs of laws, u
             a mixing weight; order 2 where none is named, whose power sum is p^2/q. v is exp(epsilon) q, z is delta.
Derivation   P, Q, R are inner products of two points and of their gradients: co-coercivity is R <= L Q.
             Quasi-convexity is joint convexity of p^2/q, cell by cell; post-processing is merging two cells;
             composition takes the largest inner sum out (A.1).
Source       Altschuler & Talwar 2022, sections 2.1, 2.2 and appendix A.1.
"""

from sympy import Expr, Integer, Max, Min, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Step
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.notation import L, P, Q, R, alpha, d, eta, p, q, u, v, x, y, z


def _contraction(most: int) -> Inequality:
    return Inequality(P - 2 * eta * Q + eta**2 * R, "<=", P, (R <= L * Q, eta * L <= most), "square of the distance")


def _converted(order: int, rest: Expr) -> Inequality:
    """An event of probability p where the other law gives it q: p^order q^(1 - order) <= exp((order - 1) epsilon)."""
    return Inequality(p, "<=", v * rest + z, (p**order <= v ** (order - 1), z > 0, z < 1), f"order {order}")


def _mixed(order: int) -> Inequality:
    """One cell of the power sum under a mixture with weight u."""

    def cell(one: Expr, other: Expr) -> Expr:
        return one**order / other ** (order - 1)

    return Inequality(
        cell(u * p + (1 - u) * x, u * q + (1 - u) * y),
        "<=",
        u * cell(p, q) + (1 - u) * cell(x, y),
        (u < 1, x > 0, y > 0),
        f"joint convexity, order {order}",
    )


def _composed(outer: Expr) -> Inequality:
    """Two steps, the first with two outcomes; x and y are the power sums of the second, given the first."""
    head, tail = p**2 / q, (1 - p) ** 2 / (1 - q)
    return Inequality(head * x + tail * y, "<=", (head + tail) * outer, (p < 1, q < 1), "(A.1), third line")


CLAIMS = (
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_1",
        "Lemma 2.1: a step of size at most 2/L on a convex, L-smooth loss is a contraction",
        at("Lemma 2.1"),
        _contraction(2).mutant("3/L", _contraction(3)),
        assumptions=(L > 0,),
    ),
    Claim(
        "altschuler_talwar/section_2_2/definition_2_3",
        "Definition 2.3 at two Gaussians of one variance: alpha d^2/(2 v), as footnote 8 uses it",
        at("Definition 2.3"),
        Identity(renyi((d, v), (Integer(0), v), alpha), alpha * d**2 / (2 * v), "either order"),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_5",
        "Lemma 2.5: (alpha, epsilon)-RDP gives delta at epsilon + log(1/delta)/(alpha - 1)",
        at("Lemma 2.5"),
        _converted(2, 1 / z).mutant("no term in delta", _converted(2, Integer(1))),
        _converted(3, 1 / sqrt(z)).mutant("alpha for alpha - 1, order 2", _converted(2, 1 / sqrt(z))),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_6",
        "Lemma 2.6: the divergence of two mixtures is at most the larger of the two",
        at("Lemma 2.6"),
        _mixed(2).mutant(
            "p^2 for p^2/q", left=(p + x) ** 2 / (2 * (q + y)), right=(p**2 + x**2) / 2, given=(x > 0, y > 0)
        ),
        Inequality(u * x + (1 - u) * y, "<=", Max(x, y), (u < 1,), "a mean is at most the larger").mutant(
            "the smaller", right=Min(x, y)
        ),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_7",
        "Lemma 2.7: merging two outcomes does not raise the power sum",
        at("Lemma 2.7"),
        Inequality(
            (p + x) ** 2 / (q + y), "<=", p**2 / q + x**2 / y, (x > 0, y > 0), "two cells merged, order 2"
        ).mutant("it does not fall", left=p**2 / q + x**2 / y, right=(p + x) ** 2 / (q + y), given=(y > 0,)),
    ),
    Claim(
        "altschuler_talwar/section_2_2/lemma_2_8",
        "Lemma 2.8: losses at one order add up over two algorithms",
        at("Lemma 2.8"),
        _composed(Max(x, y)).mutant("the smaller inner sum", _composed(Min(x, y))),
        Identity(log(u * v) / (alpha - 1), log(u) / (alpha - 1) + log(v) / (alpha - 1), "power sums multiply"),
        assumptions=(alpha > 1,),
    ),
    Step(
        "altschuler_talwar/section_2_2/lemma_2_9",
        "Lemma 2.9 and A.1: the sum of the worst conditional divergences",
        at("A.1"),
        _composed(Max(x, y)).mutant("the mean of the inner sums", _composed((x + y) / 2)),
        Inequality(u * x, "<=", u * Max(x, y), name="one more step"),
    ),
)
