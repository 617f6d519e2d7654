"""Batches from a permutation: a known order, and the mean over orders.

Statement    A.1: epsilon(alpha, B) = alpha/(2 sigma^2) min over tau, beta, a of sum over encounters of s^2/beta + sum
             over steps of a^2/(1 - beta), beta = 0 where the sample is not met, s = 2 eta K/b.
             A.3: epsilon(alpha) <= 1/(alpha - 1) log E_B exp((alpha - 1) epsilon(alpha, B)).
Assumptions  gradients (L, lambda)-Hoelder, clipped at K; b divides n; a fresh permutation in every epoch.
Derivation   For a known order the shifts s + a at encounters and a elsewhere hide the same distances, and their
             squares are the least of the split costs over beta: direct shifts (`theorem_3_1_direct`) give A.1. The
             power p^alpha q^(1 - alpha) of two densities is convex in the pair, so the mean over orders, drawn
             without regard to the data, stays below the mean of the powers.
Source       Chien & Li 2025, A.2, Theorem A.1 and Corollary A.3.
Remark       x, y are masses of an event under one order of the batches, z, r under another; p weighs the orders.
"""

from sympy import Expr, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation
from lastiterate.symbolic.notation import a, beta, p, r, s, u, v, x, y, z

_share = (beta > 0, beta < 1)
_split = s**2 / beta + a**2 / (1 - beta)
_direct = (s + a) ** 2


def _mean(left: Expr, name: str) -> Inequality:
    """At order 2: the power of the mixture of both orders against the mean of the powers; 1/u and 1/v for y and r."""
    mixed = left**2
    return Inequality(
        mixed,
        Relation.AT_MOST,
        (p * x**2 * u + (1 - p) * z**2 * v) * (p * y + (1 - p) * r),
        given=(p < 1, u * y <= 1, u * y >= 1, v * r <= 1, v * r >= 1),
        name=name,
    )


CLAIMS = (
    Claim(
        key="chien_li/theorem_a_1",
        title="(25): a known order of the batches costs s^2/beta + a^2/(1 - beta) at encounters, a^2 elsewhere",
        source=at(306, "Theorem A.1", "(25)"),
        checks=(
            Inequality(_direct, Relation.TIGHT, _split, _share, "an encounter: direct shifts cost no more"),
            Identity(_split.subs(beta, s / (s + a)), _direct, "and no less, at beta = s/(s + a)"),
            Inequality(a**2, Relation.AT_MOST, a**2 / (1 - beta), _share, "elsewhere: beta = 0 is best"),
        ),
        mutants=(
            Mutant("half", Inequality(2 * _direct, Relation.AT_MOST, _split, _share), Engine.INEQUALITY),
            Mutant("even shares are best", Identity(_split.subs(beta, Rational(1, 2)), _direct), Engine.IDENTITY),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/corollary_a_3",
        title="(62): the mean over orders of exp((alpha - 1) epsilon) bounds the shuffled run; convexity at order 2",
        source=at(460, "Corollary A.3", "(62)"),
        checks=(_mean(p * x + (1 - p) * z, "two orders, one event"),),
        mutants=(
            Mutant("twice the power", _mean(2 * (p * x + (1 - p) * z), "twice"), Engine.INEQUALITY),
            Mutant("the sum for the mean", _mean(x + z, "sum"), Engine.INEQUALITY),
        ),
        relation=Relation.AT_MOST,
    ),
)
