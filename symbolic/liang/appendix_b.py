r"""Appendix B of Liang et al. 2026: the shift sequences of Theorems 3.3 and 3.4, and their total costs.

$$z_{t+1} + a_t = (1 + \eta L) z_t, \qquad
D_\alpha^{(z_{t+1})} \le D_\alpha^{(z_t)} + \frac{2 \alpha C^2}{\beta n b \sigma_{DP}^2}
+ \frac{\alpha a_t^2}{2 (1 - \beta) \eta^2 \sigma_{DP}^2} \tag{44, 49}$$

The sums hold for shifts of any length. From $z_0 = 0$ no shift is possible, so Theorem 3.3 is composition.
"""

from lastiterate.symbolic.liang.paper import *

_weight = alpha / (2 * eta**2 * sigma_dp**2 * (1 - beta))
_state, _shift = Function("z", nonnegative=True), Function("a", nonnegative=True)
_any_state, _any_shift, _taken = (Function(name, real=True) for name in ("z", "a", "R"))
_loss, _squares = Function("D", nonnegative=True), Function("C", nonnegative=True)
_share = (beta > 0, beta < 1)

CLAIMS = (
    Step(
        "liang/appendix_b/one_step",
        "(44), (49): z_(t+1) + a_t = (1 + eta L) z_t; a shift is paid from noise (1 - beta) eta^2 sigma_DP^2",
        at("Theorem B.2", "(44)"),
        Identity(
            put(alpha * a**2 / (2 * u), {u: (1 - beta) * eta**2 * sigma_dp**2}),
            _weight * a**2,
            "Lemma 2.6",
            _share,
        ),
    ),
    Step(
        "liang/appendix_b/sums",
        "(45), (50): where each step adds at most its two costs, from 0 on, t steps with any shifts a_i cost at most "
        "t times the cost of the data and the sum of the costs of the a_i",
        at("Theorem B.2", "(45)"),
        Induction(
            t,
            Le(_loss(t), t * STEP / beta + _weight * _squares(t)),
            begin(_loss, _squares),
            (
                Le(_loss(t + 1), _loss(t) + STEP / beta + _weight * _any_shift(t) ** 2),
                gains(_squares, _any_shift(t) ** 2),
            ),
            name="any shifts, each with its cost",
        ),
        assumptions=_share,
    ),
    Ours(
        "liang/appendix_b/no_shift",
        "B.2: from z_0 = 0 the only sequence with z_t >= 0 and a_t >= 0 is a = 0, so Theorem 3.3 is composition",
        at("Theorem B.2"),
        Induction(
            t, Le(_state(t), 0), begin(_state), (Eq(_state(t + 1), v * _state(t) - _shift(t)),), name="z_t = 0"
        ).mutant("from z_0 = 1/100", first=(Eq(_state(0), Rational(1, 100)),)),
        Inequality(a, "<= and attained", S.Zero, (v * z - a >= 0, z <= 0), "so a_t = 0", (Eq(a, 0), Eq(z, 0))),
        letters={v: "1 + eta L"},
    ),
    Step(
        "liang/appendix_b/last_line_3_3",
        "(46) is (11) up to the constant 2/beta, which has no bound as the share beta falls",
        at("Theorem B.2", "(46)"),
        Identity(
            T * b / n * put(alpha * a**2 / (2 * beta * sigma_dp**2), {a: 2 * K / b}), STEP / beta * T, "(46)"
        ),
        Unbounded(2 / beta, S.One, {beta: 1 / growth}, name="no bound").mutant(
            "beta at least 1/2", path={beta: Rational(1, 2) + 1 / growth}
        ),
        assumptions=_share,
    ),
    Step(
        "liang/appendix_b/sequence",
        "B.3: z_(t+1) = (1 + eta L) z_t - a_t from z_0 = D is the sum formula, v^t D less the sum of v^(t-i-1) a_i, "
        "for any a_i; of one first shift v D it is 0 from then on",
        at("Theorem B.3"),
        Induction(
            t,
            Eq(_any_state(t), v**t * D - v**t * _taken(t)),
            (Eq(_any_state(0), D), Eq(_taken(0), 0)),
            (
                Eq(_any_state(t + 1), v * _any_state(t) - _any_shift(t)),
                gains(_taken, v ** -(t + 1) * _any_shift(t)),
            ),
            name="any shifts; R sums v^-(i+1) a_i",
        ),
        Identity(put(v * z - a, {z: D, a: v * D}), S.Zero, "after the first shift, v D"),
        Induction(
            t, Eq(_state(t), 0), begin(_state), (Eq(_state(t + 1), v * _state(t)),), name="then without a shift"
        ),
        letters={v: "1 + eta L"},
    ),
)
