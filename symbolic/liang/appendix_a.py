"""Appendix A: the standard facts, each in the smallest case that has its constant.

Statement    Lemmas A.1-A.6, A.9-A.11, A.14 and A.15.
Assumptions  Gaussians or two coins for the divergences, points of the line and quadratics for the analysis.
Derivation   z3 on the algebra; the divergence of order 2 of two coins is log(p^2/q + (1-p)^2/(1-q)).
Source       Liang et al., A.1-A.4; earlier version appendix A.
Remark       A fact with its constant in a smallest case is a check of the constant, not a proof of the lemma.
"""

from sympy import Eq, Expr, Integer, Rational, log, sqrt

from lastiterate.symbolic.claim import Claim, Holds, Identity, Inequality, Relation, Units
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.liang.lemma_3_2 import larger_direction
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import G, L, P, Q, R, a, alpha, c, d, g, h, m, p, q, r, s, u, v, x, xi, y, z, zeta

_coins = (p < 1, q < 1)
_loss = {r: "gradient length"}
_zero = Integer(0)
_above = (p + q <= 1, x < a, y >= a)
_all_at_a = (Eq(x, 0), Eq(y, a))
_mechanism = {q: (Rational(1, 20), Rational(1, 5)), v: (16, 16)}


def _excess(order: int) -> Expr:
    """The K of (33) at q = 1/5."""
    return log(1 + Rational(5, order - 1))


def _first_order(order: int) -> Expr:
    return _excess(order) * 8 - 2 * log(Integer(4))


def _second_order(order: int) -> Expr:
    top = _excess(order) ** 2 * 8 - log(Integer(5)) - 2 * log(Integer(4))
    return top / (_excess(order) + log(Rational(order, 5)) + Rational(1, 32))


CLAIMS = (
    Claim(
        key="liang/lemma_a_1",
        title="(21) on Gaussians: maps that contract by c <= 1 and differ by s, from x apart to c x + s",
        source=at(320, "Lemma A.1", "(21)"),
        assumptions=(c <= 1, z <= x, c * x >= z),
        checks=(Inequality((c * x + s - (z + s)) / c, Relation.TIGHT, x - z, name="means over standard deviations"),),
        mutants=(wrong("s not paid", Inequality((c * x + s - z) / c, Relation.AT_MOST, x - z)),),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_2",
        title="(22): Markov's inequality, a law on 0 and two points below and above a",
        source=at(330, "Lemma A.2", "(22)"),
        checks=(
            Inequality(q, Relation.TIGHT, (p * x + q * y) / a, _above, "mass q at y, p at x, the rest at 0", _all_at_a),
        ),
        mutants=(wrong("half", Inequality(q, Relation.AT_MOST, (p * x + q * y) / (2 * a), _above)),),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_4",
        title="(24), (25), (26): the three inequalities of two numbers",
        source=at(340, "Lemma A.4", "(24)"),
        checks=(
            Inequality((xi + zeta) ** 2, Relation.TIGHT, 2 * xi**2 + 2 * zeta**2, name="Lemma A.4"),
            Inequality(a, Relation.TIGHT, a**2 / (2 * u) + u / 2, name="Lemma A.5"),
            Inequality(sqrt(x + y), Relation.TIGHT, sqrt(x) + sqrt(y), name="Lemma A.6", attained=(Eq(y, 0),)),
        ),
        mutants=(
            wrong("3/2", Inequality((xi + zeta) ** 2, Relation.AT_MOST, Rational(3, 2) * (xi**2 + zeta**2))),
            wrong("u/4", Inequality(a, Relation.AT_MOST, a**2 / (2 * u) + u / 4)),
            wrong("other way", Inequality(sqrt(x) + sqrt(y), Relation.AT_MOST, sqrt(x + y))),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_9",
        title="(28): merging two outcomes of a die does not raise the divergence of order 2",
        source=at(370, "Lemma A.9", "(28)"),
        checks=(Inequality((x + y) ** 2 / (u + v), Relation.TIGHT, x**2 / u + y**2 / v, name="masses x, y from u, v"),),
        mutants=(wrong("half", Inequality((x + y) ** 2 / (u + v), Relation.AT_MOST, (x**2 / u + y**2 / v) / 2)),),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_10",
        title="(29): p^2/q is convex in q, so the affinity of order 2 is; its logarithm is liang/lemma_3_2/convexity",
        source=at(376, "Lemma A.10", "(29)"),
        assumptions=(*_coins, x <= 1),
        checks=(
            Inequality(
                p**2 / ((1 - x) * q + x * u), Relation.TIGHT, (1 - x) * p**2 / q + x * p**2 / u, name="one outcome"
            ),
        ),
        mutants=(
            wrong(
                "concave", Inequality((1 - x) * p**2 / q + x * p**2 / u, Relation.AT_MOST, p**2 / ((1 - x) * q + x * u))
            ),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_11",
        title="(30) on Gaussians: two steps add, alpha (x^2 + y^2)/(2 v)",
        source=at(384, "Lemma A.11", "(30)"),
        assumptions=(alpha > 1,),
        checks=(
            Identity(
                renyi((x, v), (_zero, v), alpha) + renyi((y, v), (_zero, v), alpha),
                alpha * (x**2 + y**2) / (2 * v),
                "equal variances",
            ),
        ),
        mutants=(
            wrong(
                "lengths add first",
                Identity(
                    renyi((x, v), (_zero, v), alpha) + renyi((y, v), (_zero, v), alpha), alpha * (x + y) ** 2 / (2 * v)
                ),
            ),
        ),
    ),
    Claim(
        key="liang/lemma_a_13",
        title="Lemma A.13 at orders 2 to 4 in the larger direction: at most 2 alpha q^2/sigma^2, sigma = 4",
        source=at(400, "Lemma A.13"),
        checks=tuple(
            Holds(larger_direction(order, q, v), Relation.AT_MOST, 2 * order * q**2 / v, _mechanism, f"order {order}")
            for order in (2, 3, 4)
        ),
        mutants=(
            wrong(
                "a quarter of it",
                Holds(larger_direction(2, q, v), Relation.AT_MOST, q**2 / v, _mechanism),
            ),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="liang/lemma_a_13/orders",
        title="(33) at q = 1/5, sigma = 4: order 4 is allowed, order 5 is not",
        source=at(402, "Lemma A.13", "(33)"),
        checks=(
            Holds(Integer(4), Relation.AT_MOST, _first_order(4), {}, "first condition, order 4"),
            Holds(Integer(4), Relation.AT_MOST, _second_order(4), {}, "second condition, order 4"),
            Holds(_first_order(5), Relation.BELOW, Integer(5), {}, "first condition, order 5"),
        ),
        mutants=(wrong("order 5 too", Holds(Integer(5), Relation.AT_MOST, _first_order(5), {})),),
    ),
    Claim(
        key="liang/lemma_a_14",
        title="Lemma A.14 on h x^2/2: smooth, the upper and the lower bound are all h <= L",
        source=at(410, "Lemma A.14"),
        assumptions=(h > 0, L > 0),
        checks=(
            Inequality(h * d**2 / 2, Relation.TIGHT, L * d**2 / 2, (h <= L,), "second item"),
            Inequality((h * d) ** 2 / (2 * L), Relation.TIGHT, h * d**2 / 2, (h <= L,), "third item"),
            Inequality(h, Relation.TIGHT, L, ((h * d) ** 2 / (2 * L) <= h * d**2 / 2, d > 0), "and back"),
            Units(L * d**2, r, {**SMOOTH, **_loss}, "second item is a loss"),
            Units(g**2 / L, r, {**SMOOTH, **_loss}, "third item is a loss"),
        ),
        mutants=(
            wrong("1/L", Inequality((h * d) ** 2 / L, Relation.AT_MOST, h * d**2 / 2, (h <= L,))),
            wrong("L g^2", Units(g**2 * L, r, {**SMOOTH, **_loss})),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_14/gradient",
        title="What C.1 uses of Lemma A.14: |grad l|^2 <= 2 L (l - l*), from the third item at the minimum",
        source=at(410, "Lemma A.14"),
        checks=(
            Inequality(g, Relation.TIGHT, sqrt(2 * L) * G, (g**2 / (2 * L) <= G**2, L > 0), "root of it"),
            Units(sqrt(L) * G, g, SMOOTH, "a gradient"),
        ),
        mutants=(
            wrong("sqrt(L)", Inequality(g, Relation.AT_MOST, sqrt(L) * G, (g**2 / (2 * L) <= G**2, L > 0))),
            wrong("L for its root", Units(L * G, g, SMOOTH)),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_15",
        title="Lemma A.15 on h x^2/2: the second item is h >= m, and f - m |x|^2/2 is convex just then",
        source=at(418, "Lemma A.15"),
        assumptions=(h > 0,),
        checks=(
            Inequality(m * d**2 / 2, Relation.TIGHT, h * d**2 / 2, (h >= m,), "second item"),
            Inequality(m, Relation.TIGHT, h, (m * d**2 <= h * d**2, d > 0), "and back"),
            Inequality(_zero, Relation.TIGHT, h - m, (h >= m,), "third item"),
        ),
        mutants=(wrong("m d^2", Inequality(m * d**2, Relation.AT_MOST, h * d**2 / 2, (h >= m,))),),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/lemma_a_15/gap",
        title="What C.1 uses of Lemma A.15: |theta - theta*|^2 <= (2/m)(l - l*) and l - l* <= |grad l|^2/(2 m)",
        source=at(418, "Lemma A.15"),
        checks=(
            Inequality(x, Relation.TIGHT, sqrt(2 / m) * G, (m * x**2 / 2 <= G**2,), "distance"),
            Inequality(Q - m * P / 2, Relation.TIGHT, R / (2 * m), (Q**2 <= P * R,), "gap: least over the other point"),
            Units(G / sqrt(m), x, SMOOTH, "a length"),
            Units(g / sqrt(m), G, SMOOTH, "(66): root of a loss"),
        ),
        mutants=(
            wrong("1/m", Inequality(x, Relation.AT_MOST, G / sqrt(m), (m * x**2 / 2 <= G**2,))),
            wrong("R/(4 m)", Inequality(Q - m * P / 2, Relation.AT_MOST, R / (4 * m), (Q**2 <= P * R,))),
            wrong("m for its root", Units(g / m, G, SMOOTH)),
        ),
        relation=Relation.TIGHT,
    ),
)
