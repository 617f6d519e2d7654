"""Appendix B: the shift sequences of B.2 and B.3, their sums, and the last lines against the statements.

v is the growth 1 + eta L of one step.
"""

from sympy import Eq, Integer, Min

from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, Ours, Recursion, Step, Units
from lastiterate.symbolic.letters import a, v, y, z
from lastiterate.symbolic.liang.paper import SMOOTH, at, earlier
from lastiterate.symbolic.notation import PREVIOUS, D, K, L, T, alpha, b, beta, eta, n, sigma_dp, t

_grow = 1 + eta * L
_shift = alpha * a**2 / (2 * eta**2 * sigma_dp**2 * (1 - beta))
_price = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2)
_some = (L > 0,)

CLAIMS = (
    Step(
        "liang/appendix_b/sequence",
        "B.3: with equal shifts a the sum formula of z_t solves z_(t+1) = (1 + eta L) z_t - a, z_tau = D",
        at("Theorem B.3"),
        Recursion(t, D, v * PREVIOUS - a, v**t * D - a * (v**t - 1) / (v - 1), name="v = 1 + eta L"),
        assumptions=(v > 1,),
    ),
    Ours(
        "liang/appendix_b/no_shift",
        "B.2: from z_0 = 0 the only sequence with z_t >= 0 and a_t >= 0 is a = 0, so Theorem 3.3 is composition",
        at("Theorem B.2"),
        Inequality(a, "<= and attained", Integer(0), (-a >= 0,), "z_1 = -a_0 >= 0", (Eq(a, 0),)).mutant(
            "a_0 <= z_0 + 1", sign="<=", given=(1 - a >= 0,), attained=()
        ),
    ),
    Step(
        "liang/appendix_b/one_step",
        "(44), (49): z_(t+1) + a_t = (1 + eta L) z_t; a shift is paid from noise (1 - beta) eta^2 sigma_DP^2",
        at("Theorem B.2", "(44)"),
        Identity((_grow * z - a) + a, _grow * z, "third step"),
        Identity(
            alpha * a**2 / (2 * ((1 - beta) * eta**2 * sigma_dp**2)),
            _shift,
            "Lemma 2.6 at this variance",
            given=(beta > 0, beta < 1),
        ).mutant("beta for 1 - beta", left=alpha * a**2 / (2 * (beta * eta**2 * sigma_dp**2))),
        Units(_shift + _price, Integer(1), SMOOTH, "the two prices add").mutant(
            "shift over gradient noise", left=_shift * eta**2 + _price
        ),
    ),
    Step(
        "liang/appendix_b/sums",
        "(45), (50): T - tau steps with equal shifts cost T - tau times one step",
        at("Theorem B.2", "(45)"),
        Recursion(t, Integer(0), PREVIOUS + _shift + _price, t * (_shift + _price), name="t counts the steps"),
        assumptions=(beta > 0, beta < 1),
    ),
    Step(
        "liang/appendix_b/last_line_3_3",
        "(46) is (11) up to the constant 2/beta, which has no bound as the share beta falls",
        at("Theorem B.2", "(46)"),
        Identity(_price * T, 2 / beta * (alpha * K**2 * T / (n * b * sigma_dp**2)), "statement and last line"),
        assumptions=(beta > 0, beta < 1),
    ),
    Step(
        "liang/appendix_b/last_line_3_4",
        "(55) has 2 eta^2 C^2 where the statement (47) has eta^2 C^2: within the constant 2 of each other",
        at("Theorem B.3", "(55)"),
        Asymptotic(Min(T, y), Min(T, y / 2), constant=Integer(2), name="(47) by (55)"),
        Asymptotic(Min(T, y / 2), Min(T, y), constant=Integer(1), name="(55) by (47)"),
        Inequality(Min(T, y), "<= and attained", 2 * Min(T, y / 2), name="twice"),
    ),
    Claim(
        "liang/appendix_b/earlier",
        "Earlier (14) is the last line (48) of its proof, term by term",
        earlier("Theorem 3.4", "(14)"),
        Identity(
            _price + _shift.subs(a, _grow * D),
            _price + alpha * _grow**2 * D**2 / (2 * eta**2 * sigma_dp**2 * (1 - beta)),
            "(48) is (14)",
        ),
        Units(_price + _shift.subs(a, _grow * D), Integer(1), SMOOTH, "a number").mutant(
            "D for D^2", left=_price + alpha * _grow**2 * D / (2 * eta**2 * sigma_dp**2)
        ),
        assumptions=(beta > 0, beta < 1, *_some),
    ),
    Ours(
        "liang/appendix_b/sampling_rate",
        "In a batch of b of the n + 1 samples of D' the added one is with probability at most q = b/n",
        at("B.1"),
        Inequality(b / (n + 1), "<", b / n, name="fixed-size batches").mutant("by a factor 2", left=2 * b / (n + 1)),
        assumptions=(b <= n,),
    ),
)
