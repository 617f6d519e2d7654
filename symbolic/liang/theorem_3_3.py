"""Theorem 3.3, the privacy of DPSGD without projection, in both versions.

Statement    epsilon = O(alpha K^2 T / (n b sigma_DP^2)); the earlier version has 2/beta for the constant.
Assumptions  as Lemma 3.2.
Derivation   Lemma 3.2 at every step with no shifts, a_t = 0.
Source       Liang et al., Theorem 3.3 and B.2; earlier version Theorem 3.3.
Remark       ``z`` stands for log n where alpha = 4 log n. One term of the binomial sum is a lower bound of the
             larger direction, (alpha (alpha - 1)/2 - alpha log n)/(alpha - 1).
"""

from sympy import Expr, Integer, Rational, log

from lastiterate.symbolic.claim import (
    Asymptotic,
    Claim,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Recursion,
    Relation,
    Role,
)
from lastiterate.symbolic.liang.lemma_3_2 import event, larger_direction
from lastiterate.symbolic.liang.paper import at, earlier
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import PREVIOUS, K, T, alpha, b, beta, growth, n, r, sigma_dp, z

_step = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2)
_order = 4 * z
_last_term = (_order * (_order - 1) / 2 - _order * z) / (_order - 1)
_rate = _order / n


def _within(constant: Expr, name: str = "alpha = 4 log n, b = K = sigma_DP = T = 1") -> Inequality:
    return Inequality(_last_term, Relation.AT_MOST, constant * _rate, (z >= 1,), name)


CLAIMS = (
    Claim(
        key="liang/theorem_3_3",
        title="(11), (41): epsilon = O(alpha K^2 T/(n b sigma_DP^2)): one constant r for every n and alpha",
        source=at(199, "Theorem 3.3", "(11)"),
        checks=(
            _within(r),
            Asymptotic(_last_term, _rate, path={n: growth, z: log(growth)}, given=(z >= 1,), name="n large"),
        ),
        mutants=(wrong("n^2 for n", Inequality(_last_term, Relation.AT_MOST, r * _rate / n, (z >= 1,))),),
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "The rate is claimed for both orders of the data sets up to one constant. At alpha = 4 log n and one step "
            "on one sample of n the order with the added sample in the numerator is at least n/16 times the rate; z3 "
            "and the limit along this path agree. What is true is the rate for the other order, or for the alpha of "
            "Lemma A.13."
        ),
    ),
    Claim(
        key="liang/theorem_3_3/ratio",
        title="At alpha = 4 log n the truth over the rate alpha/n is at least n/16, without limit",
        source=at(199, "Theorem 3.3", "(11)"),
        checks=(
            Inequality(n * _rate / 16, Relation.AT_MOST, _last_term, (z >= 1,), "log n >= 1"),
            Inequality(r * _rate, Relation.BELOW, n * _rate / 16, (n > 16 * r, z >= 1), "no r serves"),
        ),
        mutants=(
            wrong("n/4", Inequality(n * _rate / 4, Relation.AT_MOST, _last_term, (z >= 1,))),
            wrong("every n", Inequality(n * _rate / 16, Relation.AT_MOST, _last_term, (4 * z > 1,))),
        ),
        role=Role.OURS,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="liang/theorem_3_3/forward",
        title="(46): no shifts, T steps at the price of (10): the forward order costs 2 alpha K^2 "
        "T/(beta n b sigma_DP^2)",
        source=at(490, "Theorem B.2", "(46)"),
        checks=(Recursion(T, Integer(0), PREVIOUS + _step, _step * T, name="composition from t = 0"),),
        assumptions=(beta > 0, beta < 1),
        mutants=(
            wrong("T + 1", Identity(_step * T, _step * (T + 1))),
            Mutant("T - 1", Recursion(T, Integer(0), PREVIOUS + _step, _step * (T - 1)), Engine.IDENTITY),
        ),
        role=Role.OURS,
        repairs="liang/theorem_3_3",
    ),
    Claim(
        key="liang/theorem_3_3/earlier",
        title="Earlier version (12): epsilon = 2 alpha K^2 T/(beta n b sigma_DP^2), for every beta in (0, 1)",
        source=earlier(191, "Theorem 3.3", "(12)"),
        checks=(
            Holds(
                larger_direction(20, Rational(1, 10)),
                Relation.AT_MOST,
                4 / beta,
                {beta: (Rational(1, 2), Rational(99, 100))},
                "n = 10, b = K = sigma_DP = T = 1, alpha = 20",
            ),
            Holds(event, Relation.AT_MOST, 4 / beta, {beta: (Rational(3, 4), Rational(99, 100))}, "theta_1 > 20 alone"),
        ),
        mutants=(
            Mutant(
                "half",
                Holds(
                    larger_direction(20, Rational(1, 10)),
                    Relation.AT_MOST,
                    2 / beta,
                    {beta: (Rational(1, 2), Rational(99, 100))},
                ),
                Engine.ENCLOSURE,
            ),
        ),
        relation=Relation.AT_MOST,
        remark=(
            "The earlier version claims 2 alpha K^2 T/(beta n b sigma_DP^2) for any fixed beta below 1. With one step, "
            "n = 10 and alpha = 20 the truth is 7.576 for the order with the added sample in the numerator, and the "
            "claim falls to 4 as beta grows to 1; the event theta_1 > 20 alone shows 7.42. It is true for the other "
            "order, and then at beta = 1."
        ),
    ),
    Claim(
        key="liang/theorem_3_3/earlier_share",
        title="Without shifts nothing is gained by keeping beta below 1: the price falls in beta, to its limit at 1",
        source=earlier(191, "Theorem 3.3", "(12)"),
        checks=(
            Inequality(
                _step.subs(beta, Integer(1)),
                Relation.BELOW,
                _step,
                (beta > 0, beta < 1),
                "beta = 1 is below every other",
            ),
        ),
        mutants=(
            wrong(
                "beta = 1/2 is",
                Inequality(_step.subs(beta, Rational(1, 2)), Relation.AT_MOST, _step, (beta > 0, beta < 1)),
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
        repairs="liang/theorem_3_3/earlier",
    ),
)
