"""Appendix A, standard facts: on divergences for all laws; quadratics stand for the losses of A.14 and A.15."""

from lastiterate.symbolic.altschuler_talwar.section_2_4 import THEOREM_11
from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.deductions import CLOSE, CONTRACTION
from lastiterate.symbolic.derivations.statements import APART, OTHER_MAP
from lastiterate.symbolic.kernel.densities import ANY_ORDER
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import (
    CHORD,
    COCOERCIVE,
    DISTANCE,
    GAP,
    GRADIENT,
    LIPSCHITZ,
    PARABOLA,
    TANGENT,
    WITHOUT,
)

_plain = Normal(0, sigma**2)
_mixed = (1 - q) * _plain + q * Normal(1, sigma**2)
_large = log(1 + 1 / (q * (alpha - 1)))
_least = _large**2 * sigma**2 / 2 - log(5) - 2 * log(sigma)
_allowed = (
    q <= Rational(1, 5),
    sigma > 4,
    alpha > 1,
    alpha <= _large * sigma**2 / 2 - 2 * log(sigma),
    alpha <= _least / (_large + log(q * alpha) + 1 / (2 * sigma**2)),
)
_mechanism = {q: (Rational(1, 20), Rational(1, 5)), v: (16, 16)}


def _excess(order: int) -> Expr:
    """The K of (33) at q = 1/5."""
    return log(1 + Rational(5, order - 1))


def _first_order(order: int) -> Expr:
    return _excess(order) * 8 - 2 * log(Integer(4))


def _second_order(order: int) -> Expr:
    top = _excess(order) ** 2 * 8 - log(Integer(5)) - 2 * log(Integer(4))
    return top / (_excess(order) + log(Rational(order, 5)) + Rational(1, 32))


def _sampled(order: int) -> IntervalInequality:
    return IntervalInequality(
        SampledUp(q, sqrt(v), Integer(order)), "<=", 2 * order * q**2 / v, _mechanism, f"order {order}"
    )


CLAIMS = (
    Claim(
        "liang/lemma_a_1",
        "(21): two contractions at most s apart lengthen a shift z to z + s, for every pair of laws",
        at("Lemma A.1", "(21)"),
        Deduced(statements.reduction(z + APART, OTHER_MAP, alpha > 1, CONTRACTION, CLOSE), "reduction/contractions"),
    ),
    Claim(
        "liang/lemma_a_2",
        "(22): Markov's inequality, for every nonnegative random variable",
        at("Lemma A.2", "(22)"),
        Deduced(statements.markov_inequality(), "markov"),
    ),
    Claim(
        "liang/lemma_a_4",
        "(24), (25), (26): the three inequalities of two numbers",
        at("Lemma A.4", "(24)"),
        Inequality((xi + zeta) ** 2, "<= and attained", 2 * xi**2 + 2 * zeta**2, name="Lemma A.4"),
        Inequality(a, "<= and attained", a**2 / (2 * u) + u / 2, name="Lemma A.5"),
        Inequality(sqrt(x + y), "<= and attained", sqrt(x) + sqrt(y), name="Lemma A.6", attained=(Eq(y, 0),)),
    ),
    Claim(
        "liang/lemma_a_8",
        "Lemma A.8: W_infinity <= s, a coupling of points at most s apart, and a displacement by at most s",
        at("Lemma A.8"),
        Cited(
            Equivalent(Wasserstein(FIRST, SECOND) <= s, Coupled(FIRST, SECOND, s), Displaced(FIRST, SECOND, s)),
            Source(cited("Feldman et al. 2018"), "on W_infinity"),
        ),
        letters={FIRST: "a law", SECOND: "a law", s: "a distance"},
    ),
    Claim(
        "liang/lemma_a_9",
        "(28): post-processing, every map, random or not, every order alpha >= 0",
        at("Lemma A.9", "(28)"),
        Deduced(statements.post_processing(ANY_ORDER), "post_processing/from 0"),
    ),
    Claim(
        "liang/lemma_a_10",
        "(29): the divergence is convex in its second law, at every order alpha >= 0",
        at("Lemma A.10", "(29)"),
        Deduced(statements.second_law(), "second_law"),
    ),
    Claim(
        "liang/lemma_a_11",
        "(30): composition of two mechanisms, the second given what the first puts out",
        at("Lemma A.11", "(30)"),
        Deduced(statements.composition(alpha > 1), "composition"),
    ),
    Claim(
        "liang/lemma_a_13",
        "Lemma A.13: D^SGM(q, sigma) <= 2 alpha q^2/sigma^2 for q <= 1/5, sigma > 4 and orders with (33)",
        at("Lemma A.13"),
        Cited(RenyiDivergence(alpha, _plain, _mixed) <= 2 * alpha * q**2 / sigma**2, THEOREM_11, _allowed),
        _sampled(2),
        _sampled(3),
        _sampled(4),
    ),
    Ours(
        "liang/lemma_a_13/orders",
        "What (33) allows where q = 1/5 and sigma falls to 4: order 4, not order 5",
        at("Lemma A.13", "(33)"),
        IntervalInequality(Integer(4), "<=", _first_order(4), {}, "first condition, order 4"),
        IntervalInequality(Integer(4), "<=", _second_order(4), {}, "second condition, order 4"),
        IntervalInequality(_first_order(5), "<", Integer(5), {}, "first condition, order 5"),
    ),
    Claim(
        "liang/lemma_a_14",
        "Lemma A.14: L-smooth, below the parabola, and above the tangent by the gradients, each by the one before",
        at("Lemma A.14"),
        PARABOLA,
        COCOERCIVE,
        LIPSCHITZ,
        assumptions=(L > 0,),
    ),
    Claim(
        "liang/lemma_a_14/gradient",
        "What C.1 uses of Lemma A.14: |grad l|^2 <= 2 L (l - l*), from the third item at the minimum",
        at("Lemma A.14"),
        GRADIENT,
        Inequality(g, "<= and attained", sqrt(2 * L) * G, (g**2 / (2 * L) <= G**2, L > 0), "root of it"),
        Units(sqrt(L) * G, g, SMOOTH, "a gradient"),
    ),
    Claim(
        "liang/lemma_a_15",
        "Lemma A.15: strongly convex, above a parabola, and convex without m |x|^2/2",
        at("Lemma A.15"),
        CHORD,
        WITHOUT,
        TANGENT,
        assumptions=(c >= 0, c <= 1),
        letters={c: "weight of x in a point between x and y"},
    ),
    Claim(
        "liang/lemma_a_15/gap",
        "What C.1 uses of Lemma A.15: |theta - theta*|^2 <= (2/m)(l - l*) and l - l* <= |grad l|^2/(2 m)",
        at("Lemma A.15"),
        DISTANCE,
        GAP,
        Inequality(x, "<= and attained", sqrt(2 / m) * G, (m * x**2 / 2 <= G**2,), "root of the distance"),
        Units(G / sqrt(m), x, SMOOTH, "a length"),
        Units(g / sqrt(m), G, SMOOTH, "(66): root of a loss"),
        assumptions=(m > 0,),
    ),
)
