"""Proof of the lower bound: Observations A.1 and A.2, and the probability at its end.

Statement    The push is within 15% of its mean and no projection occurs at the top with probability at least 0.9;
             then the walk ends above Z + D/10; P[N(0, 1) >= -0.1 / sqrt(0.001)] is about 0.999993, and less 0.1 it is
             at least exp(0.1)/2 + 0.01.
Assumptions  The constants are those of footnote 9; the walk has T bar steps of variance eta^2 sigma_DP^2, together at
             most D^2/1000.
Derivation   Chernoff's bound at a mean of 750 or more; Doob's inequality for the maximum of a Gaussian walk; the last
             probability is (1 + erf(sqrt(5))) / 2.
Source       Altschuler & Talwar 2022, appendix A.4, lines 699 to 744.
"""

from sympy import Expr, Integer, Rational, erf, exp, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Inequality, Mutant, Relation, Role, Units, Value
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import D, K, b, eta, n, x, y, z

_probability: Expr = (1 + erf(sqrt(5))) / 2
_needed: Expr = exp(Rational(1, 10)) / 2 + Rational(1, 100)
_percent, _tenth = Rational(1, 100), Rational(1, 10)


def _chernoff(spread: Expr, mean: int) -> Holds:
    return Holds(2 * exp(-(spread**2) * mean / 3), Relation.AT_MOST, _percent, {}, "item (i) fails")


def _maximum(level: Expr) -> Holds:
    """The walk, of variance D^2/1000 in all, surpasses this share of D."""
    return Holds(exp(-(level**2) / (2 * Rational(1, 1000))), Relation.AT_MOST, _percent, {}, "item (ii) fails")


def _pushes(least: int) -> Inequality:
    """The mean number of pushes where D is at least this many times eta K."""
    mean = 3 * b * D / (4 * K * eta)
    return Inequality(Integer(750), Relation.TIGHT, mean, (least * eta * K <= D,), "at least 750")


CLAIMS = (
    Claim(
        key="altschuler_talwar/appendix_a_4/observation_a_1",
        title="Observation A.1: P[E] >= 0.9",
        source=at(708, "Observation A.1"),
        checks=(
            Identity(b * (3 * D * n / (4 * K * eta)) / n, 3 * b * D / (4 * K * eta), "mean number of pushes"),
            _pushes(1000),
            _chernoff(Rational(15, 100), 750),
            Holds(Rational(115, 100) * Rational(3, 4), Relation.AT_MOST, Rational(9, 10), {}, "push at most 0.9 D"),
            _maximum(_tenth),
            Holds(Rational(9, 10), Relation.AT_MOST, (1 - _percent) ** 2, {}, "both"),
        ),
        mutants=(
            wrong("Delta = 0.12", _chernoff(Rational(12, 100), 750)),
            wrong("mean 600", _chernoff(Rational(15, 100), 600)),
            wrong("0.09 D", _maximum(Rational(9, 100))),
            wrong(
                "D >= 900 eta K",
                Inequality(Integer(750), Relation.AT_MOST, 3 * b * D / (4 * K * eta), (900 * eta * K <= D,)),
            ),
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/hitting",
        title="The walk ever surpasses 0.1 D with probability at most exp(-5)",
        source=at(718, "Observation A.1"),
        checks=(Holds(exp(-(_tenth**2) / Rational(2, 1000)), Relation.AT_MOST, exp(-5), {}, "ever"),),
        misprint=Holds(1 - exp(-5), Relation.AT_MOST, exp(-5), {}, "never, as printed"),
        mutants=(wrong("exp(-6)", Holds(exp(-(_tenth**2) / Rational(2, 1000)), Relation.AT_MOST, exp(-6), {})),),
        role=Role.STEP,
        remark=(
            "exp(-5) is said to bound the probability that the walk never surpasses 0.1 D. It bounds the probability "
            "of the display above it, that the maximum is at least 0.1 D. The word is ever; never has probability 1 - "
            "exp(-5) or more."
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/observation_a_2",
        title="Observation A.2: given E the walk ends above Z + D/10",
        source=at(728, "Observation A.2"),
        checks=(
            Inequality(z + D / 10, Relation.AT_MOST, -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "D/10"),
            Holds(Rational(6, 10), Relation.AT_MOST, Rational(85, 100) * Rational(3, 4), {}, "0.6 D"),
            Units(z + D / 10, D, name="a length"),
        ),
        misprint=Inequality(
            z + 10 / D, Relation.AT_MOST, -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,), "10/D, as printed"
        ),
        mutants=(
            wrong("10/D added to a length", Units(z + 10 / D, D)),
            wrong(
                "D/5",
                Inequality(z + D / 5, Relation.AT_MOST, -D / 2 + y + z, (y >= Rational(85, 100) * 3 * D / 4,)),
            ),
        ),
        remark=(
            "The observation has 10/D, which is no length and fails for small D. The proof has -D/2 + 0.6 D, and the "
            "next display uses Z + D/10. The reading D/10 holds."
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/events",
        title="P[A] >= P[A and E] = P[A] - P[A and not E] >= P[A] - 0.1",
        source=at(734, "A.4"),
        checks=(
            Inequality(
                x - _tenth, Relation.AT_MOST, x - y, (y <= 1 - z, z >= Rational(9, 10)), "x = P[A], y = P[A, not E]"
            ),
        ),
        mutants=(
            wrong("less 0.05", Inequality(x - _tenth / 2, Relation.AT_MOST, x - y, (y <= 1 - z, z >= Rational(9, 10)))),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/probability",
        title="P[N(0, 1) >= -0.1 / sqrt(0.001)] is 0.999993",
        source=at(738, "A.4", "last display but one"),
        checks=(Value(_probability, "0.999993"),),
        mutants=(Mutant("one", Value(_probability, "1.000000"), Engine.ENCLOSURE),),
        role=Role.STEP,
        remark=(
            "The proof puts the probability at 0.999993. It is 0.99922. The next display survives, since 0.899 still "
            "exceeds exp(0.1)/2 + 0.01, which is about 0.563."
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/probability_repaired",
        title="The probability is 0.99922, and what the proof needs follows",
        source=at(738, "A.4", "last display but one"),
        checks=(
            Value(_probability, "0.99922"),
            Holds(_needed, Relation.AT_MOST, _probability - Rational(1, 10), {}, "what is needed"),
        ),
        mutants=(
            Mutant(
                "half is lost",
                Holds(_needed, Relation.AT_MOST, _probability - Rational(1, 2), {}),
                Engine.ENCLOSURE,
            ),
        ),
        role=Role.OURS,
        repairs="altschuler_talwar/appendix_a_4/probability",
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/last_display",
        title="P[w_T >= 0] is at least 0.99993 - 0.1, by the two displays before",
        source=at(742, "A.4", "last display"),
        checks=(
            Holds(Rational(99993, 100_000) - _tenth, Relation.AT_MOST, _probability - _tenth, {}, "by what is proved"),
        ),
        mutants=(wrong("0.9999", Holds(Rational(9999, 10_000) - _tenth, Relation.AT_MOST, _probability - _tenth, {})),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The last display has 0.99993 where the one before has 0.999993, and both exceed what is proved, 0.99922. "
            "The conclusion needs 0.563 only. With 0.999 the display follows."
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_a_4/last_display_repaired",
        title="(A.2): 0.999 - 0.1 is proved, and above exp(0.1)/2 + 0.01",
        source=at(701, "A.4", "(A.2)"),
        checks=(
            Holds(Rational(999, 1000) - _tenth, Relation.AT_MOST, _probability - _tenth, {}, "proved"),
            Holds(_needed, Relation.BELOW, Rational(999, 1000) - _tenth, {}, "enough"),
        ),
        mutants=(wrong("half of it", Holds(_needed, Relation.BELOW, Rational(999, 2000) - _tenth, {})),),
        role=Role.OURS,
        repairs="altschuler_talwar/appendix_a_4/last_display",
    ),
)
