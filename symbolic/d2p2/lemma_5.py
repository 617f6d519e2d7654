"""The moment bound of the subsampled Gaussian: a factor q slips in.

Statement    D_alpha <= 7 q^2 alpha / nu^2 for q = B/n < 1/10 and alpha <= nu^2 log(1/q) / 2.
Assumptions  Lemma 3 of Abadi et al., as the paper quotes it: q^2 alpha / nu^2 + 3.5 q^2 alpha^2 / nu^4.
Derivation   The second term over the first is 3.5 alpha / nu^2 <= 1.75 log(1/q), without a factor q.
Source       D2P2-SGD, Lemma 5 and line 385.
Remark       So the quoted bound gives 7 only while 1.75 log(1/q) <= 6, q >= 0.0325; the step is a gap.
"""

from sympy import Add, Expr, Integer, Rational, exp, log

from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Mutant, Relation, Role, Value
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.notation import alpha, nu, q

_first = q**2 * alpha / nu**2
_quoted = _first + Rational(7, 2) * q**2 * alpha**2 / nu**4
_ratio = Rational(7, 4) * log(1 / q)
_factor: Expr = Add(1, _ratio)
_box = {q: (Rational(1, 10**4), Rational(1, 10))}
_near = {q: (Rational(33, 1000), Rational(1, 10))}

CLAIMS = (
    Claim(
        key="d2p2/lemma_5/factored",
        title="q^2 alpha/nu^2 + 3.5 q^2 alpha^2/nu^4 = q^2 alpha/nu^2 (1 + 3.5 q alpha/nu^2)",
        source=at(385, "A.3", "proof of Lemma 5"),
        checks=(Identity(_quoted, _first * (1 + Rational(7, 2) * q * alpha / nu**2), "as printed"),),
        mutants=(
            Mutant("q^2", Identity(_quoted, _first * (1 + Rational(7, 2) * q**2 * alpha / nu**2)), Engine.IDENTITY),
        ),
        role=Role.STEP,
        remark=(
            "The factored form carries a q in the second term that the sum does not have. Without it the ratio at the "
            "greatest order is 1.75 log(1/q), not 1.75 q log(1/q). At q = 1/1000 that is 12.1 where the proof has 0.42."
        ),
    ),
    Claim(
        key="d2p2/lemma_5/factored_rightly",
        title="q^2 alpha/nu^2 + 3.5 q^2 alpha^2/nu^4 = q^2 alpha/nu^2 (1 + 3.5 alpha/nu^2)",
        source=at(385, "A.3", "proof of Lemma 5"),
        checks=(
            Identity(_quoted, _first * (1 + Rational(7, 2) * alpha / nu**2), "no q"),
            Value(_ratio.subs(q, Rational(1, 1000)), "12.1", "the ratio at q = 1/1000"),
        ),
        mutants=(
            Mutant("3.5 alpha", Identity(_quoted, _first * (1 + Rational(7, 2) * alpha)), Engine.IDENTITY),
            Mutant("as the proof has it", Value(_ratio.subs(q, Rational(1, 1000)), "0.42"), Engine.ENCLOSURE),
        ),
        role=Role.OURS,
        repairs="d2p2/lemma_5/factored",
    ),
    Claim(
        key="d2p2/lemma_5/seven",
        title="So the factor at the greatest order, 1 + 1.75 log(1/q), is at most 7 for q < 1/10",
        source=at(391, "A.3", "proof of Lemma 5"),
        checks=(Holds(_factor, Relation.AT_MOST, Integer(7), _box, "q from 1/10000 to 1/10"),),
        mutants=(Mutant("at most 4", Holds(_factor, Relation.AT_MOST, Integer(4), _box), Engine.ENCLOSURE),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The proof gets 7 from 1.75 q log(1/q) <= 0.42. With the factor that the quoted lemma gives, 1.75 log(1/q) "
            "exceeds 6 for q < 0.0324. For q from 0.033 to 1/10 the constant 7 does follow."
        ),
    ),
    Claim(
        key="d2p2/lemma_5/seven_near",
        title="1 + 1.75 log(1/q) <= 7 for 0.033 <= q <= 1/10",
        source=at(391, "A.3", "proof of Lemma 5"),
        checks=(
            Holds(_factor, Relation.AT_MOST, Integer(7), _near, "q from 0.033 on"),
            Value(exp(-Rational(24, 7)), "0.0324", "where it is 7"),
        ),
        mutants=(Mutant("at most 6", Holds(_factor, Relation.AT_MOST, Integer(6), _near), Engine.ENCLOSURE),),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        repairs="d2p2/lemma_5/seven",
    ),
    Claim(
        key="d2p2/lemma_5/entropy",
        title="q log(1/q) <= 0.24 for q <= 1/10, so 1.75 times it is at most 0.42",
        source=at(389, "A.3", "proof of Lemma 5"),
        checks=(
            Holds(q * log(1 / q), Relation.AT_MOST, Rational(24, 100), _box, "0.24"),
            Value(Rational(175, 100) * Rational(24, 100), "0.42", "1.75 times 0.24"),
        ),
        mutants=(
            Mutant("0.2", Holds(q * log(1 / q), Relation.AT_MOST, Rational(2, 10), _box), Engine.ENCLOSURE),
            Mutant("0.52", Value(Rational(175, 100) * Rational(24, 100), "0.52"), Engine.ENCLOSURE),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
)
