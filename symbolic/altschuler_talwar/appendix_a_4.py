"""Proof of the lower bound: Observations A.1 and A.2, and the probability at its end.

The constants are those of footnote 9; the walk has T bar steps of variance eta^2 sigma_DP^2, together at most D^2/1000.
Observation A.1 rests on Chernoff's bound and on Doob's inequality for exp of a Gaussian walk; each bound is written
for every number m or s on the right side of the quantity that it falls or grows with. The walk from -D/2 is not
projected where the sum of pushes and noise stays below D. The union bound needs no independence.
"""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.prelude import *

_probability: Expr = (1 + erf(sqrt(5))) / 2
_needed: Expr = exp(Rational(1, 10)) / 2 + Rational(1, 100)
_tenth = Rational(1, 10)


_spread = Rational(15, 100)
_mean = 3 * b * D / (4 * K * eta)  # number of pushes

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
            Probability(And(Abs(x - _mean) <= _spread * _mean, z < D)) >= Rational(9, 10),
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
        ).mutant(
            "0.99",
            conclusion=Probability(And(Abs(x - _mean) <= _spread * _mean, z < D)) >= Rational(99, 100),
        ),
        letters={
            x: "number of pushes",
            y: "largest sum of noise",
            z: "largest sum of pushes and noise, D at a projection",
        },
    ),
    Step(
        "altschuler_talwar/appendix_a_4/hitting",
        "The walk ever surpasses 0.1 D with probability at most exp(-5)",
        at("Observation A.1"),
        Identity(put(exp(-(x**2) / (2 * y)), {x: _tenth, y: Rational(1, 1000)}), exp(-5), "ever"),
        misprint=IntervalInequality(1 - exp(-5), "<=", exp(-5), {}, "never, as printed"),
        remark="""exp(-5) is said to bound the probability that the walk never surpasses 0.1 D. It bounds the
        probability of the display above it, that the maximum is at least 0.1 D. The word is ever; never has
        probability 1 - exp(-5) or more.""",
    ),
    Claim(
        "altschuler_talwar/appendix_a_4/observation_a_2",
        "Observation A.2: given E the walk ends above Z + D/10",
        at("Observation A.2"),
        Inequality(z + D / 10, "<=", -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "D/10"),
        IntervalInequality(Rational(6, 10), "<=", Rational(85, 100) * Rational(3, 4), {}, "0.6 D"),
        Units(z + D / 10, D, name="a length"),
        misprint=Inequality(
            z + 10 / D, "<=", -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "10/D, as printed"
        ),
        remark="""The observation has 10/D, which is no length and fails for small D. The proof has -D/2 + 0.6 D, and
        the next display uses Z + D/10. The reading D/10 holds.""",
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
        Value(_probability, "0.999993").mutant("one", printed="1.000000"),
        remark="""The proof puts the probability at 0.999993. It is 0.99922. The next display survives, since 0.899
        still exceeds exp(0.1)/2 + 0.01, which is about 0.563.""",
    ),
    Ours(
        "altschuler_talwar/appendix_a_4/probability_repaired",
        "The probability is 0.99922, and what the proof needs follows",
        at("A.4", "last display but one"),
        Value(_probability, "0.99922"),
        IntervalInequality(_needed, "<=", _probability - Rational(1, 10), {}, "what is needed"),
        repairs="altschuler_talwar/appendix_a_4/probability",
    ),
    Step(
        "altschuler_talwar/appendix_a_4/last_display",
        "P[w_T >= 0] is at least 0.99993 - 0.1, by the two displays before",
        at("A.4", "last display"),
        IntervalInequality(
            Rational(99993, 100_000) - _tenth, "<=", _probability - _tenth, {}, "by what is proved"
        ).mutant("0.9999", left=Rational(9999, 10_000) - _tenth),
        remark="""The last display has 0.99993 where the one before has 0.999993, and both exceed what is proved,
        0.99922. The conclusion needs 0.563 only. With 0.999 the display follows.""",
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
