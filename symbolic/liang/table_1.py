r"""Table 1 of Liang et al. 2026: the rates of five theorems for the Renyi divergence at order $\alpha$, row by row.

$$\frac{\alpha C^2 T}{b^2 \sigma_{DP}^2}, \quad
\frac{\alpha C^2}{n^2 \sigma_{DP}^2} \min\Bigl\{T, \frac{D n}{\eta C}\Bigr\}, \quad
\frac{\alpha}{\eta^2 \sigma_{DP}^2} \Bigl(D \sqrt{1 + 2 \eta \mu (1 + \tfrac{\mu}{2 (L + \mu)})}
+ \frac{\eta C}{b}\Bigr)^2, \quad
\frac{\alpha C^2 T}{n b \sigma_{DP}^2}, \quad
\frac{\alpha C^2}{n b \sigma_{DP}^2} \min\Bigl\{T, \frac{(1 + \eta L)^2 n b D^2}{\eta^2 C^2}\Bigr\}$$

None of the five has a unit, and the rows are in the order given in the text. Figure 1 plots the second row
outside its conditions.
"""

from lastiterate.symbolic.liang.paper import *

_rate = alpha * K**2 / sigma_dp**2
_feldman, _unbounded = _rate * T / b**2, _rate * T / (n * b)
_growth = sqrt(1 + 2 * eta * m * (1 + m / (2 * (L + m))))
_kong_ribero = alpha / (eta**2 * sigma_dp**2) * (D * _growth + eta * K / b) ** 2
_rows = {
    "Feldman et al.": _feldman,
    "Altschuler & Talwar": _rate / n**2 * Min(T, D * n / (eta * K)),
    "Kong & Ribero": _kong_ribero,
    "ours, unbounded": _unbounded,
    "ours, bounded": _rate / (n * b) * Min(T, REACH),
}

# A step at Figure 1's setting, L = m = D = 1, C = b = 2, sigma_DP = 4, n = 8, alpha = 11/10, eta = 1/5: by (46) at
# beta = 1; sampled, at order 2, above order 1.1; and of the sampled step the sign alone, at order 1.1.
_printed = 2 * Rational(11, 10) * 4 / (8 * 2 * 16)
_sampled = log(1 + Rational(1, 16) * (exp(Rational(1, 16)) - 1))
_sign = Rational(3, 8) + cumulative(Rational(1, 4)) / 4
_seen = 10 * log((_sign ** Rational(11, 10) + (1 - _sign) ** Rational(11, 10)) * 2 ** Rational(1, 10))
_new = "strict improvement on all existing privacy bounds"

CLAIMS = (
    Claim(
        "liang/table_1/units",
        "Every rate of Table 1 is a number",
        at("Table 1"),
        *(Units(row, S.One, SMOOTH, name) for name, row in _rows.items()),
    ),
    Claim(
        "liang/table_1/earlier_units",
        "Earlier Table 1: the rate of Kong & Ribero is a number with eta^2 below it, as the later version has it",
        earlier("Table 1"),
        Units(_kong_ribero, S.One, SMOOTH, "with eta^2"),
        misprint=Units(_kong_ribero * eta**2, S.One, SMOOTH, "as printed"),
    ),
    Ours(
        "liang/table_1/dominance",
        "Row 4 is at most row 1 and at least the linear part of row 2, for b <= n",
        at("Section 1.1"),
        Inequality(_unbounded, "<= and attained", _feldman, name="equal for full batches"),
        Inequality(_rate * T / n**2, "<= and attained", _unbounded, name="linear parts of rows 2 and 4"),
        assumptions=(b <= n,),
    ),
    Ours(
        "liang/table_1/early_steps",
        "At Figure 1's setting composition of sampled Gaussian steps (Mironov et al.) is below (46) at first",
        at("Section 1.1", _new),
        IntervalInequality(_sampled, "<", _printed, {}, "order 2 of a step, above that of order 1.1"),
    ),
    Ours(
        "liang/table_1/late_steps",
        "From T = 1300 on (54), 1.684, is below the composition of sampled Gaussian steps, seen by the sign alone",
        at("Section 1.1", _new),
        IntervalInequality(Rational(1685, 1000), "<", 1300 * _seen, {}, "order 1.1 of two coins"),
    ),
    Step(
        "liang/table_1/figure_1_conditions",
        "Figure 1's setting meets the conditions of the rows it draws: b <= n/5 and sigma_DP > 8 sqrt(2) M/b",
        at("D.1", "Figure 1"),
        Inequality(Integer(2), "<=", Rational(8, 5), name="b = 2, n = 8"),
        IntervalInequality(8 * sqrt(2) * 2 / 2, "<", Integer(4), {}, "sigma_DP = 4, M = b = 2"),
    ),
    Ours(
        "liang/table_1/figure_1_conditions_met",
        "At n = 10, b = 2, sigma_DP = 12 both conditions are met",
        at("D.1", "Figure 1"),
        Inequality(b, "<= and attained", n / 5, (Eq(b, 2), Eq(n, 10)), "b <= n/5"),
        IntervalInequality(8 * sqrt(2) * 2 / 2, "<", Integer(12), {}, "sigma_DP = 12"),
        repairs="liang/table_1/figure_1_conditions",
    ),
)
