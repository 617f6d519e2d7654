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
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Relation, Role
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import L, P, Q, R, alpha, d, eta, p, q, u, v, x, y, z

_gives = Relation.AT_MOST


def _contraction(most: int) -> Inequality:
    return Inequality(P - 2 * eta * Q + eta**2 * R, _gives, P, (R <= L * Q, eta * L <= most), "square of the distance")


def _converted(order: int, rest: Expr) -> Inequality:
    """An event of probability p where the other law gives it q: p^order q^(1 - order) <= exp((order - 1) epsilon)."""
    return Inequality(p, _gives, v * rest + z, (p**order <= v ** (order - 1), z > 0, z < 1), f"order {order}")


def _mixed(order: int) -> Inequality:
    """One cell of the power sum under a mixture with weight u."""

    def cell(one: Expr, other: Expr) -> Expr:
        return one**order / other ** (order - 1)

    return Inequality(
        cell(u * p + (1 - u) * x, u * q + (1 - u) * y),
        _gives,
        u * cell(p, q) + (1 - u) * cell(x, y),
        (u < 1, x > 0, y > 0),
        f"joint convexity, order {order}",
    )


def _composed(outer: Expr) -> Inequality:
    """Two steps, the first with two outcomes; x and y are the power sums of the second, given the first."""
    head, tail = p**2 / q, (1 - p) ** 2 / (1 - q)
    return Inequality(head * x + tail * y, _gives, (head + tail) * outer, (p < 1, q < 1), "(A.1), third line")


CLAIMS = (
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_1",
        title="Lemma 2.1: a step of size at most 2/L on a convex, L-smooth loss is a contraction",
        source=at(209, "Lemma 2.1"),
        assumptions=(L > 0,),
        checks=(_contraction(2),),
        mutants=(wrong("3/L", _contraction(3)),),
        relation=_gives,
    ),
    Claim(
        key="altschuler_talwar/section_2_2/definition_2_3",
        title="Definition 2.3 at two Gaussians of one variance: alpha d^2/(2 v), as footnote 8 uses it",
        source=at(225, "Definition 2.3"),
        assumptions=(alpha > 1,),
        checks=(Identity(renyi((d, v), (Integer(0), v), alpha), alpha * d**2 / (2 * v), "either order"),),
        mutants=(wrong("d for d^2", Identity(renyi((d, v), (Integer(0), v), alpha), alpha * d / (2 * v))),),
    ),
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_5",
        title="Lemma 2.5: (alpha, epsilon)-RDP gives delta at epsilon + log(1/delta)/(alpha - 1)",
        source=at(235, "Lemma 2.5"),
        checks=(_converted(2, 1 / z), _converted(3, 1 / sqrt(z))),
        mutants=(
            wrong("alpha for alpha - 1, order 2", _converted(2, 1 / sqrt(z))),
            wrong("no term in delta", _converted(2, Integer(1))),
        ),
        relation=_gives,
    ),
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_6",
        title="Lemma 2.6: the divergence of two mixtures is at most the larger of the two",
        source=at(239, "Lemma 2.6"),
        checks=(
            _mixed(2),
            Inequality(u * x + (1 - u) * y, _gives, Max(x, y), (u < 1,), "a mean is at most the larger"),
        ),
        mutants=(
            wrong("the smaller", Inequality(u * x + (1 - u) * y, _gives, Min(x, y), (u < 1,))),
            wrong(
                "p^2 for p^2/q",
                Inequality((p + x) ** 2 / (2 * (q + y)), _gives, (p**2 + x**2) / 2, (x > 0, y > 0)),
            ),
        ),
        relation=_gives,
    ),
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_7",
        title="Lemma 2.7: merging two outcomes does not raise the power sum",
        source=at(245, "Lemma 2.7"),
        checks=(
            Inequality(
                (p + x) ** 2 / (q + y), _gives, p**2 / q + x**2 / y, (x > 0, y > 0), "two cells merged, order 2"
            ),
        ),
        mutants=(wrong("it does not fall", Inequality(p**2 / q + x**2 / y, _gives, (p + x) ** 2 / (q + y), (y > 0,))),),
        relation=_gives,
    ),
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_8",
        title="Lemma 2.8: losses at one order add up over two algorithms",
        source=at(251, "Lemma 2.8"),
        assumptions=(alpha > 1,),
        checks=(
            _composed(Max(x, y)),
            Identity(log(u * v) / (alpha - 1), log(u) / (alpha - 1) + log(v) / (alpha - 1), "power sums multiply"),
        ),
        mutants=(
            wrong("the smaller inner sum", _composed(Min(x, y))),
            wrong("one loss", Identity(log(u * v) / (alpha - 1), log(u) / (alpha - 1))),
        ),
        relation=_gives,
    ),
    Claim(
        key="altschuler_talwar/section_2_2/lemma_2_9",
        title="Lemma 2.9 and A.1: the sum of the worst conditional divergences",
        source=at(653, "A.1"),
        checks=(
            _composed(Max(x, y)),
            Inequality(u * x, _gives, u * Max(x, y), name="one more step"),
        ),
        mutants=(wrong("the mean of the inner sums", _composed((x + y) / 2)),),
        role=Role.STEP,
        relation=_gives,
    ),
)
