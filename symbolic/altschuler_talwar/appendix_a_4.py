"""Proof of the lower bound: the probability at its end.

Statement    P[N(0, 1) >= -0.1 / sqrt(0.001)] is about 0.999993, and less 0.1 it is at least exp(0.1)/2 + 0.01.
Assumptions  None; the constants are those of footnote 9.
Derivation   The probability is (1 + erf(sqrt(5))) / 2.
Source       Altschuler & Talwar 2022, appendix A.4, lines 738 and after.
"""

from sympy import Expr, Rational, erf, exp, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Mutant, Relation, Role, Value

_probability: Expr = (1 + erf(sqrt(5))) / 2
_needed: Expr = exp(Rational(1, 10)) / 2 + Rational(1, 100)

CLAIMS = (
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
)
