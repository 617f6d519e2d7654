r"""Appendix A.4 of Altschuler & Talwar 2022: the proof of the lower bound, Theorem 4.1.

Observation A.1: $P[E] \ge 0.9$, with $E$ the event that the number of pushes is within 15 % of its mean
$3bD/(4L\eta)$ and the walk is not projected.
Observation A.2: given $E$, $w_T \ge Z + D/10$ (printed $10/D$). So
$P[w_T \ge 0] \ge P[N(0, 1) \ge -0.1/\sqrt{0.001}] - 0.1 \ge e^{0.1}/2 + 0.01$.

The constants are those of footnote 9. The printed 0.999993 and 0.99993 are wrong; 0.99922 and 0.999 are right
and suffice.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_pushes = 3 * b * D / (4 * K * eta)  # their mean number
_spread, _tenth = Rational(15, 100), Rational(1, 10)
_probability: Expr = (1 + erf(sqrt(5))) / 2  # P[N(0, 1) >= -0.1/sqrt(0.001)]
_needed: Expr = exp(_tenth) / 2 + Rational(1, 100)

_CHERNOFF = Cited(
    Probability(Abs(x - p * r) >= v * p * r) <= 2 * exp(-(v**2) * u / 3),
    Source(cited("Mitzenmacher & Upfal 2017"), "Corollary 4.6"),
    (Binomial(x, r, p), u <= p * r, v < 1),
)
_DOOB = Cited(
    Probability(y >= a) <= exp(-(a**2) / (2 * v)),
    Source(cited("Williams 1991"), "page 139", "Doob's inequality"),
    (Walk(y, r, u), r * u <= v),
)

CLAIMS = (
    Claim(
        "altschuler_talwar/appendix_a_4/observation_a_1",
        "Observation A.1: P[E] >= 0.9, E: pushes within 15% of their mean, and no projection",
        at("Observation A.1"),
        Consequence(
            Probability(And(Abs(x - _pushes) <= _spread * _pushes, z < D)) >= Rational(9, 10),
            (
                _CHERNOFF.at({r: T, p: b / n, u: Integer(750), v: _spread}),
                _DOOB.at({r: T, u: eta**2 * sigma_dp**2, v: D**2 / 1000, a: D / 10}),
            ),
            (
                Binomial(x, T, b / n),
                Walk(y, T, eta**2 * sigma_dp**2),
                z <= eta * K * x / b + y,
                Eq(T, 3 * D * n / (4 * K * eta)),
                1000 * eta * K <= D,
                1000 * T * eta**2 * sigma_dp**2 <= D**2,
            ),
            (Abs(x - b * T / n) >= _spread * b * T / n, y >= D / 10),
        ),
        letters={x: "number of pushes", y: "largest sum of noise", z: "largest sum of pushes and noise"},
    ),
    Step(
        "altschuler_talwar/appendix_a_4/hitting",
        "The walk ever surpasses 0.1 D with probability at most exp(-5)",
        at("Observation A.1"),
        Identity(put(exp(-(x**2) / (2 * y)), {x: _tenth, y: Rational(1, 1000)}), exp(-5), "ever"),
        misprint=IntervalInequality(1 - exp(-5), "<=", exp(-5), {}, "never, as printed"),
    ),
    Claim(
        "altschuler_talwar/appendix_a_4/observation_a_2",
        "Observation A.2: given E the walk ends above Z + D/10",
        at("Observation A.2"),
        Inequality(z + D / 10, "<=", -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "D/10"),
        Units(z + D / 10, D, name="a length"),
        misprint=Inequality(z + 10 / D, "<=", -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "10/D"),
    ),
    Step(
        "altschuler_talwar/appendix_a_4/events",
        "P[A] >= P[A and E] = P[A] - P[A and not E] >= P[A] - 0.1",
        at("A.4"),
        Inequality(x - _tenth, "<= and attained", x - y, (y <= 1 - z, z >= Rational(9, 10)), "x = P[A]"),
    ),
    Step(
        "altschuler_talwar/appendix_a_4/probability",
        "P[N(0, 1) >= -0.1 / sqrt(0.001)] is 0.999993",
        at("A.4", "last display but one"),
        Value(_probability, "0.999993"),
    ),
    Ours(
        "altschuler_talwar/appendix_a_4/probability_repaired",
        "The probability is 0.99922, and what the proof needs follows",
        at("A.4", "last display but one"),
        Value(_probability, "0.99922"),
        IntervalInequality(_needed, "<=", _probability - _tenth, {}, "what is needed"),
        repairs="altschuler_talwar/appendix_a_4/probability",
    ),
    Step(
        "altschuler_talwar/appendix_a_4/last_display",
        "P[w_T >= 0] is at least 0.99993 - 0.1, by the two displays before",
        at("A.4", "last display"),
        IntervalInequality(Rational(99993, 100_000) - _tenth, "<=", _probability - _tenth, {}, "printed"),
    ),
    Ours(
        "altschuler_talwar/appendix_a_4/last_display_repaired",
        "(A.2): 0.999 - 0.1 is proved, and above exp(0.1)/2 + 0.01",
        at("A.4", "(A.2)"),
        IntervalInequality(Rational(999, 1000) - _tenth, "<=", _probability - _tenth, {}, "proved"),
        IntervalInequality(_needed, "<", Rational(999, 1000) - _tenth, {}, "enough"),
        repairs="altschuler_talwar/appendix_a_4/last_display",
    ),
)
