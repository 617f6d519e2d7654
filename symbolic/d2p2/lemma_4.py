"""From Renyi divergence to (epsilon, delta): sufficient, but not necessary.

The Gaussian mechanism of mu = 1, D_alpha = alpha / 2, refutes "only if" at epsilon = 1. (6) and (10) write alpha - 1
where the moment under Q has alpha; (8) has it right.
"""

from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.refutations import NECESSARY
from lastiterate.symbolic.prelude import *

_one, _half = Integer(1), Rational(1, 2)
_true = delta_of_gdp(_one, _one)
_least = exp(-((_one - _half) ** 2) / 2)
_p, _q = (_one, _one), (Integer(0), _one)


def _under_q(power: Expr) -> Expr:
    """Exponent of the density of Q times exp(power L), L = log P/Q, unit Gaussians one apart."""
    loss = density_exponent(xi, *_p) - density_exponent(xi, *_q)
    return density_exponent(xi, *_q) + power * loss


CLAIMS = (
    Claim(
        "d2p2/lemma_4",
        "(epsilon, delta)-DP only if delta >= exp((alpha - 1)(D_alpha - epsilon)) for some alpha > 1",
        at("Lemma 4"),
        IntervalInequality(_least, "<=", _true, {}, "Gaussian mechanism, mu = epsilon = 1, the best alpha").mutant(
            "twice the right side", left=2 * _least
        ),
        Inequality(u, "<=", Integer(0), name="a mechanism with delta = 0; u is the exponential"),
        statement=closed(
            Exists((alpha,), (alpha > 1,), (alpha - 1) * (RenyiDivergence(alpha, FIRST, SECOND) - epsilon) <= -chi),
            HockeyStick(exp(epsilon), FIRST, SECOND) <= exp(-chi),
        ),
        refutation=NECESSARY,
        remark="""Lemma 4 says that its condition is necessary. The Gaussian mechanism with mu = 1 is (1, 0.127)-DP,
        and no order gives less than exp(-1/8) = 0.882 there. And whatever is (epsilon, 0)-DP meets no such condition,
        since the exponential is positive. Only the other direction holds.""",
    ),
    Ours(
        "d2p2/lemma_4/best_order",
        "For mu = 1 the exponent (alpha - 1)(alpha/2 - epsilon) is at least -(epsilon - 1/2)^2 / 2",
        at("Lemma 4"),
        Inequality(
            -((epsilon - _half) ** 2) / 2,
            "<= and attained",
            (alpha - 1) * (alpha / 2 - epsilon),
            name="over all orders",
        ).mutant("without the half", left=-((epsilon - _half) ** 2) / 4, sign="<="),
        Value(_true, "0.1269", "the true delta at epsilon = 1"),
        Value(_least, "0.8825", "the least of Lemma 4"),
    ),
    Ours(
        "d2p2/lemma_4/sufficient",
        "The other direction: delta = exp((alpha - 1)(D_alpha - epsilon)) is enough (Gaussian, mu = 1)",
        at("Lemma 4"),
        IntervalInequality(
            delta_of_gdp(epsilon, _one),
            "<=",
            exp(-((epsilon - _half) ** 2) / 2),
            {epsilon: (Rational(3, 5), 4)},
            "at the best order",
        ),
        assumptions=(epsilon > _half,),
        repairs="d2p2/lemma_4",
    ),
    Step(
        "d2p2/lemma_4/moment",
        "(8): the moment under Q is that of alpha L, exp((alpha - 1) D_alpha) = E_Q exp(alpha L)",
        at("A.3", "(6), (8), (10)"),
        Identity(_under_q(alpha), moment_exponent(xi, _p, _q, alpha), "(8)"),
        misprint=Identity(_under_q(alpha - 1), moment_exponent(xi, _p, _q, alpha), name="(6) and (10), as printed"),
        remark="""(6) and (10) write the moment under Q with the power alpha - 1. Under Q the power is alpha, and alpha
        - 1 belongs to the expectation under P. (8) has both right.""",
    ),
    Step(
        "d2p2/lemma_4/markov",
        "(9): Markov's inequality keeps the factor exp(-(alpha - 1) epsilon)",
        at("A.3", "(9)"),
        Identity(exp((alpha - 1) * xi) / exp((alpha - 1) * epsilon), exp((alpha - 1) * (xi - epsilon)), "D_alpha = xi"),
        misprint=Identity(
            exp((alpha - 1) * xi) / exp((alpha - 1) * epsilon), exp((alpha - 1) * xi), name="(9), as printed"
        ),
        remark="""(9) ends with exp((alpha - 1) D_alpha) <= delta, the division by exp((alpha - 1) epsilon) dropped.
        The condition of the lemma gives the bound with the factor, which is what (7) and (8) lead to.""",
    ),
)
