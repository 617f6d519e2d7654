"""Appendix B: the shift sequences of B.2 and B.3, their sums, and the last lines against the statements.

v is the growth 1 + eta L of one step.
"""

from sympy import Eq, Function, Integer, Le, Rational

from lastiterate.symbolic.claim import Identity, Induction, Inequality, Ours, Recursion, Step, Unbounded, Units
from lastiterate.symbolic.inductive import begin
from lastiterate.symbolic.letters import a, u, v, z
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.notation import PREVIOUS, D, K, T, alpha, b, beta, eta, growth, n, sigma_dp, t
from lastiterate.symbolic.unevaluated import put

_shift = alpha * a**2 / (2 * eta**2 * sigma_dp**2 * (1 - beta))
_rate = alpha * K**2 * T / (n * b * sigma_dp**2)  # (11)
_price = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2)
_state, _sequence = Function("z", nonnegative=True), Function("a", nonnegative=True)

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
        Induction(
            t,
            Le(_state(t), 0),
            begin(_state),
            (Eq(_state(t + 1), v * _state(t) - _sequence(t)),),
            name="z_t = 0 for all t",
        ).mutant("from z_0 = 1/100", first=(Eq(_state(0), Rational(1, 100)),)),
        Inequality(
            a, "<= and attained", Integer(0), (v * z - a >= 0, z <= 0), "so a_t = 0", (Eq(a, 0), Eq(z, 0))
        ).mutant("from z_t <= 1/100", sign="<=", given=(v * z >= a, z <= Rational(1, 100)), attained=()),
    ),
    Step(
        "liang/appendix_b/one_step",
        "(44), (49): z_(t+1) + a_t = (1 + eta L) z_t; a shift is paid from noise (1 - beta) eta^2 sigma_DP^2",
        at("Theorem B.2", "(44)"),
        Identity(
            put(alpha * a**2 / (2 * u), {u: (1 - beta) * eta**2 * sigma_dp**2}),
            _shift,
            "Lemma 2.6 at this variance",
            given=(beta > 0, beta < 1),
        ),
        Units(_shift + _price, Integer(1), SMOOTH, "the two prices add"),
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
        Identity(
            T * b / n * put(alpha * a**2 / (2 * beta * sigma_dp**2), {a: 2 * K / b}), 2 / beta * _rate, "last line"
        ),
        Unbounded(2 / beta, Integer(1), {beta: 1 / growth}, name="no bound").mutant(
            "beta at least 1/2", path={beta: 1 / Integer(2) + 1 / growth}
        ),
        assumptions=(beta > 0, beta < 1),
    ),
)
