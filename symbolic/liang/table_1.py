"""Table 1: the rates side by side, their units, their preconditions, and Figure 1's setting.

Rates are compared by z3, units by the units engine. The paper's C and M are both K here.
"""

from lastiterate.symbolic.liang.paper import SMOOTH, at, earlier
from lastiterate.symbolic.prelude import *

_price = alpha * K**2 / sigma_dp**2
_feldman = _price * T / b**2
_convex = _price / n**2 * Min(T, D * n / (eta * K))
_growth = sqrt(1 + 2 * eta * m * (1 + m / (2 * (L + m))))
_weakly = alpha / (eta**2 * sigma_dp**2) * (D * _growth + eta * K / b) ** 2
_unbounded = _price / (n * b) * T
_bounded = _price / (n * b) * Min(T, (1 + eta * L) ** 2 * n * b * D**2 / (eta**2 * K**2))
_figure: dict[Expr, Expr] = {
    L: Integer(1),
    K: Integer(2),
    sigma_dp: Integer(4),
    D: Integer(1),
    n: Integer(8),
    b: Integer(2),
    m: Integer(1),
    alpha: Rational(11, 10),
    eta: Rational(1, 5),
}
_one = Integer(1)

# (46) at beta = 1, and a step of the sampled Gaussian mechanism of noise b sigma_DP/C = 4: order 2 is above order 1.1.
_printed_step = 2 * Rational(11, 10) * 4 / (8 * 2 * 16)
_sampled_step = log(1 + Rational(1, 16) * (exp(Rational(1, 16)) - 1))
_half, _tenth = Rational(1, 2), Rational(1, 10)
_seen = Rational(3, 4) * _half + Rational(1, 4) * cumulative(Rational(1, 4))
_at_least = 10 * log((_seen ** (1 + _tenth) + (1 - _seen) ** (1 + _tenth)) / _half**_tenth)


CLAIMS = (
    Claim(
        "liang/table_1/units",
        "Every rate of Table 1 is a number",
        at("Table 1"),
        Units(_feldman, _one, SMOOTH, "Feldman et al."),
        Units(_convex, _one, SMOOTH, "Altschuler & Talwar"),
        Units(_weakly, _one, SMOOTH, "Kong & Ribero"),
        Units(_unbounded, _one, SMOOTH, "ours, unbounded"),
        Units(_bounded, _one, SMOOTH, "ours, bounded"),
    ),
    Claim(
        "liang/table_1/earlier_units",
        "Earlier Table 1: the rate of Kong & Ribero is a number with eta^2 below it, as the later version has it",
        earlier("Table 1"),
        Units(_weakly, _one, SMOOTH, "with eta^2"),
        misprint=Units(_weakly * eta**2, _one, SMOOTH, "as printed"),
        remark="""The earlier table divides a squared length by sigma_DP^2, the variance of noise on gradients. The
        later version has eta^2 sigma_DP^2 there. E.1 has the same slip, see liang/appendix_e/units.""",
    ),
    Ours(
        "liang/table_1/dominance",
        "Row 5 is at most row 1 and at least the linear part of row 2, for b <= n",
        at("Section 1.1"),
        Inequality(_unbounded, "<= and attained", _feldman, name="equal for full batches"),
        Inequality(_price * T / n**2, "<= and attained", _unbounded, name="linear parts of rows 2 and 5"),
        assumptions=(b <= n,),
    ),
    Ours(
        "liang/table_1/early_steps",
        "At Figure 1's setting composition of sampled Gaussian steps (Mironov et al.) is below (46) at first",
        at("Section 1.1", "strict improvement on all existing privacy bounds"),
        IntervalInequality(_sampled_step, "<", _printed_step, {}, "order 2 of a step, above that of order 1.1").mutant(
            "a tenth of the printed step", right=_printed_step / 10
        ),
    ),
    Ours(
        "liang/table_1/late_steps",
        "From T = 1300 on (54), 1.684, is below the composition of sampled Gaussian steps, seen by the sign alone",
        at("Section 1.1", "strict improvement on all existing privacy bounds"),
        IntervalInequality(Rational(1685, 1000), "<", 1300 * _at_least, {}, "order 1.1 of two coins"),
    ),
    Step(
        "liang/table_1/figure_1_conditions",
        "Figure 1's setting meets the conditions of the rows it draws: b <= n/5 and sigma_DP > 8 sqrt(2) M/b",
        at("D.1", "Figure 1"),
        Inequality(_figure[b], "<=", _figure[n] / 5, name="b = 2, n = 8").mutant("b <= n/10", right=_figure[n] / 10),
        IntervalInequality(
            8 * sqrt(2) * _figure[K] / _figure[b], "<", _figure[sigma_dp], {}, "sigma_DP = 4, M = 2"
        ).mutant("twice the threshold", left=16 * sqrt(2) * _figure[K] / _figure[b]),
        remark="""Figure 1 compares with the bound of Altschuler & Talwar at n = 8, b = 2, C = M = 2 and sigma_DP = 4,
        but Table 1 gives that bound for b <= n/5 = 1.6 and sigma_DP > 8 sqrt(2) M/b = 11.3 only. Both fail (one is
        decided by arithmetic, the other by balls), so the curve is not a bound there. At n = 10 and sigma_DP = 12 both
        are met.""",
    ),
    Ours(
        "liang/table_1/figure_1_conditions_met",
        "At n = 10, b = 2, sigma_DP = 12 both conditions are met",
        at("D.1", "Figure 1"),
        Inequality(b, "<= and attained", n / 5, (Eq(b, 2), Eq(n, 10)), "b <= n/5"),
        Value(8 * sqrt(2) * _figure[K] / _figure[b], "11.31", "the threshold"),
        IntervalInequality(8 * sqrt(2) * _figure[K] / _figure[b], "<", Integer(12), {}, "sigma_DP = 12"),
        repairs="liang/table_1/figure_1_conditions",
    ),
)
