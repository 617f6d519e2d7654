"""Appendix B: the shift sequences of B.2 and B.3, their sums, and the last lines against the statements.

v is the growth 1 + eta L of one step.
"""

from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *

_weight = alpha / (2 * eta**2 * sigma_dp**2 * (1 - beta))
_shift = _weight * a**2
_rate = alpha * K**2 * T / (n * b * sigma_dp**2)  # (11)
_price = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2)
_state, _sequence = Function("z", nonnegative=True), Function("a", nonnegative=True)
_any_state, _shifts, _covered = (Function(name, real=True) for name in ("z", "a", "R"))
_loss, _squares = Function("D", nonnegative=True), Function("C", nonnegative=True)


def _leads(taken: Expr) -> Induction:
    """State that shifts a_t lead to, if this is taken off; R sums v^-(i+1) a_i, so v^t R sums v^(t-i-1) a_i."""
    return Induction(
        t,
        Eq(_any_state(t), v**t * D - v**t * _covered(t)),
        (Eq(_any_state(0), D), Eq(_covered(0), 0)),
        (Eq(_any_state(t + 1), v * _any_state(t) - taken), gains(_covered, v ** -(t + 1) * _shifts(t))),
        name="where any shifts lead",
    )


def _costs(weight: Expr) -> Induction:
    """Cost of t steps: this times the sum of the a_i^2 for the shifts."""
    return Induction(
        t,
        Le(_loss(t), t * _price + weight * _squares(t)),
        begin(_loss, _squares),
        (Le(_loss(t + 1), _loss(t) + _price + _weight * _shifts(t) ** 2), gains(_squares, _shifts(t) ** 2)),
        name="any shifts, each with its price",
    )


CLAIMS = (
    Step(
        "liang/appendix_b/sequence",
        "B.3: z_(t+1) = (1 + eta L) z_t - a_t from z_0 = D is the sum formula, v^t D less the sum of v^(t-i-1) a_i, "
        "for any a_i; of one first shift v D it is 0 from then on",
        at("Theorem B.3"),
        _leads(_shifts(t)).mutant("shifts three percent larger", _leads(_shifts(t) * Rational(103, 100))),
        Identity(put(v * z - a, {z: D, a: v * D}), Integer(0), "after the first shift, v D"),
        Induction(
            t,
            Eq(_state(t), 0),
            begin(_state),
            (Eq(_state(t + 1), v * _state(t)),),
            name="then without a shift",
        ).mutant("from D/100", first=(Eq(_state(0), D / 100),)),
        letters={v: "1 + eta L"},
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
        "(45), (50): where each step adds at most its two prices, from 0 on, t steps with any shifts a_i cost at most "
        "t times the price of the data and the sum of the prices of the a_i",
        at("Theorem B.2", "(45)"),
        _costs(_weight).mutant("97 percent of the shifts", _costs(_weight * Rational(97, 100))),
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
