"""Theorem 3.4 of the earlier version, which keeps the term that the later one drops.

Statement    epsilon = 2 alpha K^2/(beta n b sigma_DP^2) + alpha (1 + eta L)^2 D^2/(2 eta^2 sigma_DP^2 (1 - beta)).
Assumptions  as Lemma 3.2; the iterates are projected to a domain of diameter D.
Derivation   As the later version, up to (54). At alpha = 2, n = 100, b = eta = sigma_DP = 1, K = 10, L = 0, T = 1 on
             the interval [-D/2, D/2], from 0: all gradients are K, that of the sample that is added is -K. The iterate
             ends at D/2 with chance tail(K + D/2), or with the sample in the batch tail(D/2 - K).
Source       Liang et al., earlier version, Theorem 3.4, (14).
"""

from sympy import Expr, Integer, Rational, log

from lastiterate.symbolic.claim import Claim, IntervalInequality, Ours
from lastiterate.symbolic.gaussian import tail
from lastiterate.symbolic.liang.paper import earlier
from lastiterate.symbolic.notation import D, beta

_K, _n = Integer(10), Integer(100)
_edge = Rational(1, 200)


def _coins(p: Expr, q: Expr) -> Expr:
    """D_2 of a coin of chance p from a coin of chance q."""
    return log(p**2 / q + (1 - p) ** 2 / (1 - q))


_without = tail(_K + _edge)
_with = (1 - 1 / _n) * _without + tail(_edge - _K) / _n
_larger = _coins(_with, _without)
_claimed = 4 * _K**2 / (beta * _n) + D**2 / (1 - beta)
_box = {beta: (Rational(1, 4), Rational(9, 10)), D: (2 * _edge, 2 * _edge)}

CLAIMS = (
    Claim(
        "liang/theorem_3_4/earlier",
        "Earlier version (14): A/beta + B/(1 - beta), for every beta in (0, 1), in both orders",
        earlier("Theorem 3.4", "(14)"),
        IntervalInequality(_larger, "<=", _claimed, _box, "alpha = 2, n = 100, K = 10, D = 0.01, T = 1")
        .mutant("without D", right=_claimed.subs(D, 0))
        .mutant("twice", right=2 * _claimed),
        IntervalInequality(
            _K**2 / 2 - log(2 * _n**2),
            "<=",
            _claimed,
            _box,
            "log(p^2/q) from p >= 1/(2 n) and Chernoff's q <= exp(-K^2/2)/2",
        ),
        remark="""Like Theorem 3.3 it bounds one order only, the larger data set in second place. At alpha = 2, n =
        100, K = 10, D = 0.01 and one step the other order is above 40 where (14) is at most 16.1. It is true for the
        order that is bounded, and then it keeps what the later (12) drops.""",
    ),
    Ours(
        "liang/theorem_3_4/earlier_order",
        "The same run in the order that (14) bounds is below it; the other order is above 40",
        earlier("Theorem 3.4", "(14)"),
        IntervalInequality(
            _coins(_without, _with), "<", _claimed, _box, "the larger data set in the second place"
        ).mutant("a thousandth of it", right=_claimed / 1000),
        IntervalInequality(Integer(40), "<", _larger, {}, "the larger data set in the first place").mutant(
            "above 45", left=Integer(45)
        ),
        repairs="liang/theorem_3_4/earlier",
    ),
)
